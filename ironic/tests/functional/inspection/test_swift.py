"""Inventories in Swift, over real HTTP."""

import contextlib
import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ironic.api.settings import ApiSettings
from ironic.conductor import record_changes
from ironic.core.errors import HardwareInspectionFailure
from ironic.core.errors.call_errors import ObjectStoreError
from ironic.core.flows import states
from ironic.db import Store
from ironic.inspection import inventory_storage
from ironic.inspection.hooks.base import load_hooks
from ironic.inspection.inventory_storage import texts_of
from ironic.inspection.pipeline import Pipeline
from ironic.tests.conftest import Setter
from ironic.tests.functional.wire import service as services
from ironic.tests.swift_store import ACCOUNT, SwiftStore
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC, Work, inventory, new_node, work_on

HOOKS = ["validate-interfaces", "ports", "architecture"]


def path(task: Work, part: str) -> str:
    return f"{ACCOUNT}/found%20things/inspector_data-{task.node.uuid}-{part}"


@pytest.mark.demand("S113")
def test_it_keeps_one_inventory_per_node(store: Store, task: Work, swift: SwiftStore) -> None:
    for macs in ([MAC], [MAC, OTHER_MAC]):
        Pipeline(load_hooks(HOOKS)).run(task, inventory(*macs), {"error": None})
    assert sorted(swift.objects) == [path(task, "inventory"), path(task, "plugin")]
    assert json.loads(swift.objects[path(task, "inventory")]) == inventory(MAC, OTHER_MAC)
    assert json.loads(swift.objects[path(task, "plugin")])["macs"] == [MAC, OTHER_MAC]
    assert store.inventories.texts(task.node.id) is None
    texts = inventory_storage.backend_from_conf().texts(store, task.node.id, task.node.uuid)
    assert texts is not None
    assert json.loads(texts.inventory) == inventory(MAC, OTHER_MAC)


def test_it_makes_the_container_once(task: Work, swift: SwiftStore) -> None:
    inventory_storage.backend_from_conf().keep(task, texts_of({}, {}, 1))  # type: ignore[arg-type]  # all it looks at
    assert [method for method, _ in swift.requests] == ["PUT", "PUT", "PUT", "PUT"]
    assert swift.containers == {"found%20things"}


@pytest.mark.demand("S113")
@pytest.mark.parametrize(("days", "seconds"), [(0, None), (30, "2592000")])
def test_it_lets_the_store_forget_what_is_old(
    conf: Setter, task: Work, swift: SwiftStore, days: int, seconds: str | None
) -> None:
    conf(inventory__retention_days=days)
    inventory_storage.backend_from_conf().keep(task, texts_of({}, {}, 1))  # type: ignore[arg-type]  # all it looks at
    assert [swift.expiry[path(task, part)] for part in ("inventory", "plugin")] == [seconds, seconds]


@pytest.mark.demand("S97")
def test_it_compares_disks_with_the_stored_inventory(task: Work, swift: SwiftStore) -> None:
    disks = [{"name": "/dev/sda", "serial": "a"}, {"name": "/dev/sdb", "serial": "b"}]
    for count in (1, 2):
        Pipeline(load_hooks([*HOOKS, "raid-device"])).run(task, inventory(MAC, disks=disks[:count]), {})
    assert task.node.properties["root_device"] == {"serial": "b"}


def test_it_stores_nothing_of_an_inspection_whose_inventory_can_not_be_kept(
    store: Store, task: Work, swift: SwiftStore
) -> None:
    swift.trouble = 507
    with pytest.raises(HardwareInspectionFailure, match="inventory can't be stored: .* answers with status 507"):
        Pipeline(load_hooks(HOOKS)).run(task, inventory(MAC), {})
    assert store.nodes.get(task.node.uuid).properties == {}
    assert store.ports.find(node_id=task.node.id) == []


def test_it_forgets_what_was_found(task: Work, store: Store, swift: SwiftStore) -> None:
    backend = inventory_storage.backend_from_conf()
    backend.keep(task, texts_of({}, {}, 1))  # type: ignore[arg-type]  # all it looks at
    for _ in range(2):
        backend.forget(task.node.uuid)
    assert swift.objects == {}
    assert backend.texts(store, task.node.id, task.node.uuid) is None


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_it_says_what_the_store_could_not_do(task: Work, store: Store, swift: SwiftStore, status: int) -> None:
    swift.trouble = status
    backend = inventory_storage.backend_from_conf()
    with pytest.raises(ObjectStoreError, match=f"can't read inspector_data-{task.node.uuid}-inventory: .*{status}"):
        backend.texts(store, task.node.id, task.node.uuid)
    with pytest.raises(ObjectStoreError, match="can't delete"):
        backend.forget(task.node.uuid)


def test_it_says_that_the_store_is_not_there(conf: Setter, task: Work, store: Store, swift: SwiftStore) -> None:
    conf(swift__endpoint_override="http://127.0.0.1:9/v1/x", swift__connect_retries=0)
    with pytest.raises(ObjectStoreError, match="can't read"):
        inventory_storage.backend_from_conf().texts(store, task.node.id, task.node.uuid)


def body_too_large(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4000000000\r\n\r\n")


def body_without_end(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b"x" * 65536)


def interim_answers_without_end(connection: socket.socket) -> None:
    while True:
        connection.sendall(b"HTTP/1.1 100 Continue\r\nX-A: b\r\n\r\n" * 1000)


@pytest.mark.parametrize("answer", [body_too_large, body_without_end, interim_answers_without_end])
def test_it_reads_no_more_than_an_inventory_may_have(
    conf: Setter, task: Work, store: Store, swift: SwiftStore, answer: Callable[[socket.socket], None]
) -> None:
    conf(inventory__size_limit=64)
    with socket.create_server(("127.0.0.1", 0)) as server:
        conf(swift__endpoint_override=f"http://127.0.0.1:{server.getsockname()[1]}/v1/x")

        def serve() -> None:
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError):
                connection.recv(65536)
                answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(ObjectStoreError, match="larger than [0-9]+ bytes, the limit"):
            inventory_storage.backend_from_conf().texts(store, task.node.id, task.node.uuid)
        thread.join()


class Deletion(Work):
    """A task as the deletion of a node sees it."""

    @property
    def node_id(self) -> int:
        return self.node.id

    def write(self, work: Callable[[], None]) -> None:
        self.store.run(lambda _: work())


@pytest.fixture
def deleted(store: Store) -> Any:
    return Deletion(store, new_node(store, provision_state=states.ENROLL))


@pytest.mark.demand("S67")
def test_a_node_takes_its_inventory_along(store: Store, deleted: Any, swift: SwiftStore) -> None:
    inventory_storage.backend_from_conf().keep(deleted, texts_of({}, {}, 1))
    record_changes.destroy_node(deleted)
    assert swift.objects == {}
    assert not store.nodes.find()


@pytest.mark.parametrize("maintenance", [False, True])
def test_only_maintenance_lets_a_node_go_whose_inventory_stays_behind(
    store: Store, deleted: Any, swift: SwiftStore, maintenance: bool
) -> None:
    swift.trouble = 503
    deleted.node.maintenance = maintenance
    if not maintenance:
        with pytest.raises(ObjectStoreError):
            record_changes.destroy_node(deleted)
        assert store.nodes.find()
        return
    record_changes.destroy_node(deleted)
    assert not store.nodes.find()


@pytest.mark.demand("S71")
def test_the_api_shows_what_is_in_the_object_store(tmp_path: Path, swift: SwiftStore) -> None:
    (tmp_path / "api").mkdir()
    service = services.start(tmp_path / "api", ApiSettings(inventories=inventory_storage.backend_from_conf()))
    try:
        node = service.store.nodes.create({"driver": "fake-hardware"})
        path = f"/v1/nodes/{node.uuid}/inventory"
        assert service.call("GET", path).status == 404
        texts = texts_of({"cpu": 1}, {"x": "ä"}, 1)
        inventory_storage.backend_from_conf().keep(work_on(service.store, node), texts)  # type: ignore[arg-type]  # a part
        assert service.call("GET", path).json == {"inventory": {"cpu": 1}, "plugin_data": {"x": "ä"}}
        swift.trouble = 503
        assert service.call("GET", path).status == 500
    finally:
        service.close()
