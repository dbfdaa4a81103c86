"""Which node may be the parent of another."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.db import Store
from ironic.services import node_parents
from ironic.tests.databases import sqlite_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = sqlite_store(tmp_path)
    yield made
    made.close()


def chain(store: Store, length: int) -> list[str]:
    """Store nodes, each the parent of the next; return their UUIDs."""
    uuids: list[str] = []
    for _ in range(length):
        values = {"driver": "d", "provision_state": "enroll", "parent_node": uuids[-1] if uuids else None}
        uuids.append(store.nodes.create(values).uuid)
    return uuids


def check_parent(store: Store, node: str, parent: str) -> None:
    store.run(lambda _: node_parents.check_parent(store, node, parent))


def test_a_node_stands_not_above_itself(store: Store) -> None:
    top, middle, low = chain(store, 3)
    for above in (top, middle, low):
        with pytest.raises(InvalidParameterValue):
            check_parent(store, top, above)
    check_parent(store, low, top)
    check_parent(store, "new", low)


def test_an_old_circle_ends_the_search(store: Store) -> None:
    top, low = chain(store, 2)
    store.nodes.update(top, {"parent_node": low})
    with pytest.raises(InvalidParameterValue, match="More than 16"):
        check_parent(store, "new", low)


def test_a_parent_that_is_missing_is_refused(store: Store) -> None:
    with pytest.raises(InvalidParameterValue, match="names no node"):
        check_parent(store, "new", "7d1c7d8c-0d5e-4d86-9a2c-5ac1f4f6e001")


def test_a_parent_that_was_deleted_is_no_circle(store: Store) -> None:
    (orphan,) = chain(store, 1)
    store.nodes.update(orphan, {"parent_node": "7d1c7d8c-0d5e-4d86-9a2c-5ac1f4f6e001"})
    check_parent(store, "new", orphan)
