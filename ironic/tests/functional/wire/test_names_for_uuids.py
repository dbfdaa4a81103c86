"""A name where a UUID has to be: the answer has the UUID, if the caller may see what it names."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import FOREIGN, OWNED, ask
from ironic.tests.functional.wire.service import Service

PORT = "22222222-0000-4000-8000-000000000001"
GROUP = "22222222-0000-4000-8000-000000000002"
MAC = "52:54:00:00:00:01"
BODIES: list[tuple[str, dict[str, Any]]] = [
    ("/v1/ports", {"address": MAC}),
    ("/v1/portgroups", {}),
    ("/v1/volume/connectors", {"type": "iqn", "connector_id": "x"}),
    ("/v1/volume/targets", {"volume_type": "iscsi", "boot_index": 0, "volume_id": "v"}),
]


@pytest.fixture
def service(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[Service]:
    running = keystone.service(tmp_path, identity, conf)
    store = running.store
    store.portgroups.create({"node_id": store.nodes.get(FOREIGN).id, "uuid": GROUP, "name": "bond"})
    store.ports.create({"node_id": store.nodes.get(OWNED).id, "uuid": PORT, "address": MAC})
    yield running
    running.close()


@pytest.mark.parametrize(("path", "body"), BODIES)
def test_a_new_row_gets_the_uuid_of_the_node_that_was_named(service: Service, path: str, body: dict[str, Any]) -> None:
    for person, name, known in (
        ("system-admin", "foreign", FOREIGN),
        ("owner-admin", "owned", OWNED),
        ("owner-admin", "foreign", None),
        ("system-admin", "missing", None),
    ):
        answer = ask(service, person, "POST", path, body | {"node_uuid": name})
        assert answer.status == 400, answer.body
        text = "node_uuid must be a UUID"
        end = f"; '{name}' is the name of node {known}." if known else "."
        assert f"{text}{end}".encode() in answer.body, (person, name, answer.body)


def test_so_do_patches_and_names_of_port_groups(service: Service) -> None:
    patch = [{"op": "replace", "path": "/node_uuid", "value": "foreign"}]
    answer = ask(service, "system-admin", "PATCH", f"/v1/ports/{PORT}", patch)
    assert (answer.status, f"is the name of node {FOREIGN}".encode() in answer.body) == (400, True)
    body = {"address": "52:54:00:00:00:02", "node_uuid": OWNED, "portgroup_uuid": "bond"}
    for person, seen in (("system-admin", True), ("owner-admin", False)):
        answer = ask(service, person, "POST", "/v1/ports", body)
        assert (answer.status, f"is the name of port group {GROUP}".encode() in answer.body) == (400, seen)


@pytest.mark.parametrize("name", ["foreign", "missing"])
def test_a_name_in_an_old_version_is_answered_with_the_version_that_has_names(service: Service, name: str) -> None:
    answer = service.call("GET", f"/v1/nodes/{name}", version="1.1", headers={"X-Auth-Token": "system-admin"})
    assert answer.status == 404
    text = f"There is no node {name}. Names need API version 1.5 or later; this request asked for 1.1."
    assert text.encode() in answer.body
