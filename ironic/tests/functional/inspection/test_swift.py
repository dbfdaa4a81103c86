"""Inventories in Swift, over real HTTP."""

import json

import pytest

from ironic.core.errors import HardwareInspectionFailure
from ironic.db import Store
from ironic.inspection import storage
from ironic.inspection.hooks.loading import load
from ironic.inspection.pipeline import Pipeline
from ironic.integrations.object_store import ObjectStoreError
from ironic.tests.conftest import Setter
from ironic.tests.swift_store import ACCOUNT, SwiftStore
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC, Work, inventory

HOOKS = ["validate-interfaces", "ports", "architecture"]


def path(task: Work, part: str) -> str:
    return f"{ACCOUNT}/found%20things/inspector_data-{task.node.uuid}-{part}"


@pytest.mark.demand("S113")
def test_it_keeps_one_inventory_per_node(store: Store, task: Work, swift: SwiftStore) -> None:
    for macs in ([MAC], [MAC, OTHER_MAC]):
        Pipeline(load(HOOKS)).run(task, inventory(*macs), {"error": None})
    assert sorted(swift.objects) == [path(task, "inventory"), path(task, "plugin")]
    assert json.loads(swift.objects[path(task, "inventory")]) == inventory(MAC, OTHER_MAC)
    assert json.loads(swift.objects[path(task, "plugin")])["macs"] == [MAC, OTHER_MAC]
    assert store.inventories.texts(task.node.id) is None
    texts = storage.from_conf().texts(store, task.node.id, task.node.uuid)
    assert texts is not None
    assert json.loads(texts.inventory) == inventory(MAC, OTHER_MAC)


def test_it_makes_the_container_once(task: Work, swift: SwiftStore) -> None:
    storage.from_conf().keep(task, storage.choice.texts_of({}, {}, 1))  # type: ignore[arg-type]  # all it looks at
    assert [method for method, _ in swift.requests] == ["PUT", "PUT", "PUT", "PUT"]
    assert swift.containers == {"found%20things"}


@pytest.mark.demand("S97")
def test_it_compares_disks_with_the_stored_inventory(task: Work, swift: SwiftStore) -> None:
    disks = [{"name": "/dev/sda", "serial": "a"}, {"name": "/dev/sdb", "serial": "b"}]
    for count in (1, 2):
        Pipeline(load([*HOOKS, "raid-device"])).run(task, inventory(MAC, disks=disks[:count]), {})
    assert task.node.properties["root_device"] == {"serial": "b"}


def test_it_stores_nothing_of_an_inspection_whose_inventory_can_not_be_kept(
    store: Store, task: Work, swift: SwiftStore
) -> None:
    swift.trouble = 507
    with pytest.raises(HardwareInspectionFailure, match="inventory can't be stored: .* answers with status 507"):
        Pipeline(load(HOOKS)).run(task, inventory(MAC), {})
    assert store.nodes.get(task.node.uuid).properties == {}
    assert store.ports.find(node_id=task.node.id) == []


def test_it_forgets_what_was_found(task: Work, store: Store, swift: SwiftStore) -> None:
    backend = storage.from_conf()
    backend.keep(task, storage.choice.texts_of({}, {}, 1))  # type: ignore[arg-type]  # all it looks at
    for _ in range(2):
        backend.forget(task.node.uuid)
    assert swift.objects == {}
    assert backend.texts(store, task.node.id, task.node.uuid) is None


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_it_says_what_the_store_could_not_do(task: Work, store: Store, swift: SwiftStore, status: int) -> None:
    swift.trouble = status
    backend = storage.from_conf()
    with pytest.raises(ObjectStoreError, match=f"can't read inspector_data-{task.node.uuid}-inventory: .*{status}"):
        backend.texts(store, task.node.id, task.node.uuid)
    with pytest.raises(ObjectStoreError, match="can't delete"):
        backend.forget(task.node.uuid)


def test_it_says_that_the_store_is_not_there(conf: Setter, task: Work, store: Store, swift: SwiftStore) -> None:
    conf(swift__endpoint_override="http://127.0.0.1:9/v1/x", swift__connect_retries=0)
    with pytest.raises(ObjectStoreError, match="can't read"):
        storage.from_conf().texts(store, task.node.id, task.node.uuid)
