"""What a caller may not see and what is not there are answered alike, byte for byte but for what the caller sent."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.keystone import FOREIGN, OWNED, ask
from ironic.tests.functional.wire.service import Response, Service

MISSING = "11111111-0000-4000-8000-00000000dead"
THINGS = "22222222-0000-4000-8000-000000000001"
CHASSIS = "22222222-0000-4000-8000-000000000002"


@pytest.fixture
def service(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[Service]:
    """Have a service with a foreign node that has one of everything."""
    running = keystone.service(tmp_path, identity, conf)
    store = running.store
    foreign, owned = store.nodes.get(FOREIGN), store.nodes.get(OWNED)
    group = store.portgroups.create({"node_id": foreign.id, "uuid": THINGS, "name": "foreign-group"})
    store.ports.create(
        {"node_id": foreign.id, "uuid": THINGS, "address": "52:54:00:00:00:01", "portgroup_id": group.id}
    )
    store.volume_connectors.create({"node_id": foreign.id, "uuid": THINGS, "type": "iqn", "connector_id": "x"})
    target = {"volume_type": "iscsi", "volume_id": "v", "boot_index": 0}
    store.volume_targets.create({"node_id": foreign.id, "uuid": THINGS, **target})
    store.allocations.create(
        {"uuid": THINGS, "name": "theirs", "owner": "strangers", "resource_class": "x", "state": "error"}
    )
    steps = [{"interface": "bios", "step": "x", "order": 1}]
    store.runbooks.create_with({"uuid": THINGS, "name": "CUSTOM_A", "owner": "strangers"}, steps)
    store.chassis.create({"uuid": CHASSIS})
    store.ports.create({"node_id": owned.id, "uuid": THINGS[:-1] + "9", "address": "52:54:00:00:00:09"})
    owned.power_state = "power off"
    connector = {"node_id": owned.id, "uuid": THINGS[:-1] + "9", "type": "iqn", "connector_id": "y"}
    store.volume_connectors.create(connector)
    owned.save()
    yield running
    running.close()


def alike(there: Response, missing: Response, *names: tuple[str, str]) -> None:
    """Assert that two answers differ in nothing but in what the caller named."""
    body = missing.body.decode()
    for gone, present in names:
        body = body.replace(gone, present)
    assert (there.status, there.body.decode()) == (missing.status, body)


IDENTS = [(MISSING, FOREIGN), ("missing", "foreign")]
OWN_PORT, OWN_CONNECTOR = f"/v1/ports/{THINGS[:-1]}9", f"/v1/volume/connectors/{THINGS[:-1]}9"


def asked_for() -> Iterator[tuple[str, str, Any, str, str]]:
    """Yield requests with the place of a name in them, and what is missing and what is foreign."""
    for missing, foreign in IDENTS:
        yield "POST", "/v1/ports", {"node_ident": "{}", "address": "52:54:00:00:00:03"}, missing, foreign
        yield "GET", "/v1/ports?node={}", None, missing, foreign
        yield "GET", "/v1/portgroups?node={}", None, missing, foreign
        yield "GET", "/v1/volume/connectors?node={}", None, missing, foreign
        yield "GET", "/v1/allocations?node={}", None, missing, foreign
        yield "GET", "/v1/nodes/validate?node={}", None, missing, foreign
        yield "GET", "/v1/nodes/{}", None, missing, foreign
        yield "GET", "/v1/nodes/{}/bios", None, missing, foreign
        yield "GET", "/v1/nodes?parent_node={}", None, missing, foreign
        yield "PATCH", "/v1/nodes/{}", [{"op": "add", "path": "/extra/a", "value": 1}], missing, foreign
        yield "PUT", "/v1/nodes/{}/states/provision", {"target": "manage"}, missing, foreign
        yield "POST", "/v1/allocations", {"resource_class": "x", "candidate_nodes": ["{}"]}, missing, foreign
        yield "POST", "/v1/allocations", {"node": "{}"}, missing, foreign
        yield "POST", "/v1/nodes", {"driver": "fake-hardware", "parent_node": "{}"}, missing, foreign
    for kind in ("ports", "portgroups", "volume/connectors", "volume/targets"):
        yield "GET", f"/v1/{kind}?marker={{}}", None, MISSING, THINGS
        yield "GET", f"/v1/{kind}/{{}}", None, MISSING, THINGS
    for kind in ("allocations", "runbooks"):
        yield "GET", f"/v1/{kind}?marker={{}}", None, MISSING, THINGS
        yield "GET", f"/v1/{kind}/{{}}", None, MISSING, THINGS
    more = {"volume_type": "iscsi", "volume_id": "v", "boot_index": 0}
    yield "POST", "/v1/ports", {"node_uuid": "{}", "address": "52:54:00:00:00:03"}, MISSING, FOREIGN
    yield "POST", "/v1/portgroups", {"node_uuid": "{}"}, MISSING, FOREIGN
    yield "POST", "/v1/volume/connectors", {"node_uuid": "{}", "type": "iqn", "connector_id": "z"}, MISSING, FOREIGN
    yield "POST", "/v1/volume/targets", {"node_uuid": "{}", **more}, MISSING, FOREIGN
    yield "PATCH", OWN_PORT, [{"op": "replace", "path": "/node_uuid", "value": "{}"}], MISSING, FOREIGN
    yield "PATCH", OWN_PORT, [{"op": "replace", "path": "/portgroup_uuid", "value": "{}"}], MISSING, THINGS
    yield "PATCH", OWN_CONNECTOR, [{"op": "replace", "path": "/node_uuid", "value": "{}"}], MISSING, FOREIGN
    group = {"node_uuid": OWNED, "address": "52:54:00:00:00:03", "portgroup_uuid": "{}"}
    yield "POST", "/v1/ports", group, MISSING, THINGS
    yield "GET", "/v1/nodes?marker={}", None, MISSING, FOREIGN
    yield "GET", "/v1/nodes?sort_key=name&marker={}", None, MISSING, FOREIGN
    yield "GET", "/v1/ports?portgroup={}", None, MISSING, THINGS
    yield "GET", "/v1/portgroups/{}/ports", None, MISSING, THINGS
    yield "GET", "/v1/nodes?chassis_uuid={}", None, MISSING, CHASSIS
    yield "GET", "/v1/chassis/{}/nodes", None, MISSING, CHASSIS
    yield "PUT", f"/v1/nodes/{OWNED}/states/provision", {"target": "clean", "runbook": "{}"}, MISSING, THINGS
    yield "PUT", f"/v1/nodes/{OWNED}/states/provision", {"target": "clean", "runbook": "{}"}, "CUSTOM_Z", "CUSTOM_A"


def filled(value: Any, name: str) -> Any:
    if isinstance(value, str):
        return value.replace("{}", name)
    if isinstance(value, dict):
        return {key: filled(inner, name) for key, inner in value.items()}
    return [filled(inner, name) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("token", ["owner-admin", "lessee-admin", "owner-member"])
@pytest.mark.parametrize(("method", "path", "body", "missing", "foreign"), list(asked_for()))
def test_a_project_can_not_tell_foreign_from_missing(
    service: Service, token: str, method: str, path: str, body: Any, missing: str, foreign: str
) -> None:
    there, gone = (ask(service, token, method, filled(path, name), filled(body, name)) for name in (foreign, missing))
    alike(there, gone, (missing, foreign))
    assert there.status < 500
    assert "refused" not in there.body.decode()


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/ports", {"node_uuid": MISSING, "address": "52:54:00:00:00:03"}, 400),
        ("/v1/portgroups", {"node_uuid": MISSING}, 400),
        ("/v1/volume/connectors", {"node_uuid": MISSING, "type": "iqn", "connector_id": "z"}, 400),
        ("/v1/nodes", {"driver": "fake-hardware", "parent_node": MISSING}, 400),
    ],
)
def test_an_administrator_hears_what_is_wrong(service: Service, path: str, body: Any, status: int) -> None:
    answer = ask(service, "system-admin", "POST", path, body)
    assert answer.status == status and "no" in answer.body.decode()


def test_a_page_goes_on_behind_what_is_seen(service: Service) -> None:
    for number in range(3):
        service.store.nodes.create(
            {"driver": "fake-hardware", "provision_state": "enroll", "owner": "owners", "name": f"n{number}"}
        )
    seen: list[str] = []
    path = "/v1/nodes?limit=1&sort_key=name&fields=name,uuid"
    while path:
        answer = ask(service, "owner-member", "GET", path).json
        seen += [node["name"] for node in answer["nodes"]]
        path = answer.get("next", "").partition("/v1")[2] and "/v1" + answer["next"].partition("/v1")[2]
    assert seen == ["n0", "n1", "n2", "owned"]


def test_a_heartbeat_does_not_tell_which_names_there_are(tmp_path: Path) -> None:
    running = services.start(tmp_path)
    running.store.nodes.create({"driver": "fake-hardware", "provision_state": "clean wait", "name": "rack1"})
    body = {"callback_url": "https://192.0.2.7:9999", "agent_version": "13.0.0"}
    for token in ({}, {"agent_token": "x"}, {"agent_token": ""}):
        for more in ({}, {"callback_url": "gopher://x"}, {"agent_status": "odd"}):
            for suffix in ("", ".json"):
                there, gone = (
                    running.call("POST", f"/v1/heartbeat/{name}{suffix}", body=body | token | more)
                    for name in ("rack1", "rack2")
                )
                assert (there.status, there.body) == (gone.status, gone.body)
    running.close()


@pytest.mark.parametrize(
    ("token", "expected"), [("system-admin", True), ("owner-admin", False), ("lessee-admin", False)]
)
def test_an_error_does_not_name_the_conductor_that_holds_a_node(service: Service, token: str, expected: bool) -> None:
    node = service.store.nodes.get(OWNED)
    node.reservation = "conductor-7.example.org"
    node.save()
    answer = ask(service, token, "PATCH", f"/v1/nodes/{OWNED}", [{"op": "add", "path": "/extra/a", "value": 1}])
    assert answer.status == 409
    assert ("conductor-7" in answer.body.decode()) is expected


@pytest.mark.parametrize(("method", "path", "body", "missing", "foreign"), list(asked_for()))
def test_the_time_of_an_answer_does_not_tell_either(
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    path: str,
    body: Any,
    missing: str,
    foreign: str,
) -> None:
    """What takes time are statements and evaluations of rules, so they are counted."""
    decided = keystone.evaluated(monkeypatch)
    work = []
    for name in (foreign, missing):
        decided.clear()
        with counting_statements(service.store) as statements:
            ask(service, "owner-admin", method, filled(path, name), filled(body, name))
        # One row is looked up by either key at the same cost.
        work.append(
            (sorted(decided), [re.sub(r"WHERE (\w+)\.\w+ = \?", r"WHERE \1", text) for text in statements.texts])
        )
    assert work[0] == work[1]


@pytest.mark.parametrize(
    ("address", "named"), [("52:54:00:00:00:01", None), ("52:54:00:00:00:09", OWNED)], ids=["foreign", "own"]
)
def test_a_known_mac_address_names_its_node_to_those_who_may_see_it(
    service: Service, address: str, named: str | None
) -> None:
    refused = ask(service, "owner-admin", "POST", "/v1/ports", {"node_ident": OWNED, "address": address})
    assert refused.status == 409
    text = refused.body.decode()
    assert f"Another port has the MAC address {address}." in text
    assert ("It belongs to node" in text, FOREIGN in text) == (named is not None, False)
    assert named is None or f"It belongs to node {named}." in text
