"""Where inventories are kept, and how much of them."""

import pytest

from ironic.core.errors import HardwareInspectionFailure
from ironic.db import Store
from ironic.inspection.hooks.base import load_hooks
from ironic.inspection.inventory_storage import texts_of
from ironic.inspection.pipeline import Pipeline
from ironic.tests.conftest import Setter
from ironic.tests.unit.inspection.lab import MAC, Work, inventory, stored_found


@pytest.mark.demand("S113")
@pytest.mark.parametrize(("backend", "kept"), [("database", True), ("none", False)])
def test_it_keeps_inventories_where_the_operator_wants(
    conf: Setter, store: Store, task: Work, backend: str, kept: bool
) -> None:
    conf(inventory__data_backend=backend)
    Pipeline(load_hooks(["validate-interfaces", "ports"])).run(task, inventory(MAC), {})
    assert (stored_found(store, task.node) is not None) is kept


@pytest.mark.demand("S113")
def test_it_fails_when_there_is_more_to_keep_than_allowed(conf: Setter, store: Store, task: Work) -> None:
    conf(inventory__size_limit=2)
    with pytest.raises(HardwareInspectionFailure, match=r"take \d KiB, more than the 2 KiB that \[inventory\]size"):
        Pipeline(load_hooks(["validate-interfaces", "ports"])).run(task, inventory(MAC), {"dmi": "x" * 4096})
    assert stored_found(store, task.node) is None
    assert store.ports.find(node_id=task.node.id) == []


def test_it_says_what_can_not_be_kept_at_all() -> None:
    with pytest.raises(HardwareInspectionFailure, match="The plug-in data can't be stored as JSON"):
        texts_of({}, {"large": 2**80}, 1)
