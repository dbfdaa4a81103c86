"""What requests about volumes, deploy templates, runbooks and allocations cost the database."""

from typing import Any

import pytest

from ironic.core.errors.call_errors import ConductorUnreachable
from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire.service import HOST, Service
from ironic.tests.unit.api.resources.rows import add_node

STEPS = [{"interface": "bios", "step": "x", "args": {"a": 1}, "priority": 1, "order": 1}]
TEMPLATE_STEP = {"interface": "bios", "step": "x", "args": {"a": 1}, "priority": 1}
NODE = "11111111-0000-4000-8000-000000000001"
THING = "22222222-0000-4000-8000-000000000001"


@pytest.fixture
def filled(service: Service) -> Service:
    store = service.store
    node = add_node(service, uuid=NODE, power_state="power off")
    for number in range(12):
        uuid = {"uuid": THING} if number == 0 else {}
        store.volume_connectors.create({"node_id": node.id, "type": "ip", "connector_id": str(number)} | uuid)
        target = {"node_id": node.id, "volume_type": "iscsi", "volume_id": "v", "boot_index": number}
        store.volume_targets.create(target | {"properties": {"a": 1}} | uuid)
        store.deploy_templates.create_with({"name": f"CUSTOM_{number}"} | uuid, STEPS)
        book = store.runbooks.create_with({"name": f"CUSTOM_{number}"} | uuid, STEPS)
        store.runbooks.traits.add(book.id, "CUSTOM_A")
        store.allocations.create({"state": "error", "name": f"a{number}"} | uuid)
    return service


EXTRA = [{"op": "add", "path": "/extra/a", "value": 1}]
STEP = [{"op": "replace", "path": "/steps/0/step", "value": "y"}]


@pytest.mark.parametrize(
    ("method", "path", "body", "selects", "writes", "commits"),
    [
        ("GET", "volume", None, 0, 0, 0),
        ("GET", "volume/connectors", None, 1, 0, 0),
        ("GET", "volume/targets?detail=true", None, 1, 0, 0),
        ("GET", f"volume/targets?node={NODE}", None, 2, 0, 0),
        ("GET", f"nodes/{NODE}/volume/connectors?limit=3", None, 2, 0, 0),
        ("GET", f"volume/targets/{THING}", None, 1, 0, 0),
        ("POST", "volume/connectors", {"node_uuid": NODE, "type": "ip", "connector_id": "x"}, 1, 1, 1),
        ("PATCH", f"volume/connectors/{THING}", EXTRA, 4, 1, 1),
        ("DELETE", f"volume/connectors/{THING}", None, 3, 1, 1),
        ("GET", "deploy_templates", None, 1, 0, 0),
        ("GET", "deploy_templates?detail=true", None, 2, 0, 0),
        ("GET", "deploy_templates?limit=3&fields=name,steps", None, 2, 0, 0),
        ("GET", "deploy_templates/CUSTOM_3", None, 2, 0, 0),
        ("POST", "deploy_templates", {"name": "CUSTOM_X", "steps": [TEMPLATE_STEP]}, 1, 2, 1),
        ("PATCH", "deploy_templates/CUSTOM_3", EXTRA, 2, 1, 1),
        ("PATCH", "deploy_templates/CUSTOM_3", STEP, 3, 3, 1),
        ("DELETE", "deploy_templates/CUSTOM_3", None, 0, 1, 1),
        ("GET", "runbooks", None, 1, 0, 0),
        ("GET", "runbooks?detail=true", None, 3, 0, 0),
        ("GET", "runbooks/CUSTOM_3", None, 3, 0, 0),
        ("PUT", "runbooks/CUSTOM_3/traits", {"traits": ["CUSTOM_B", "CUSTOM_C"]}, 1, 2, 1),
        ("GET", "allocations", None, 1, 0, 0),
        ("GET", f"allocations?node={NODE}&limit=3", None, 2, 0, 0),
        ("GET", "allocations/a3", None, 1, 0, 0),
        ("POST", "allocations", {"resource_class": "x"}, 0, 1, 1),
        ("POST", "allocations", {"resource_class": "x", "candidate_nodes": [NODE] * 5}, 1, 1, 1),
        ("PATCH", "allocations/a3", EXTRA, 2, 1, 1),
        ("DELETE", "allocations/a3", None, 2, 1, 1),
    ],
)
def test_a_request_keeps_to_its_budget(
    filled: Service, method: str, path: str, body: Any, selects: int, writes: int, commits: int
) -> None:
    filled.hash_ring.served()
    with counting_statements(filled.store) as seen:
        filled.call(method, f"/v1/{path}", body=body)
    assert (seen.selects, seen.writes, seen.commits) == (selects, writes, commits), seen.texts


def test_without_a_conductor_an_allocation_is_refused_and_not_stored(service: Service) -> None:
    service.store.conductors.unregister(HOST)
    response = service.call("POST", "/v1/allocations", body={"resource_class": "x"})
    assert (response.status, service.store.allocations.count()) == (503, 0)


def test_an_allocation_whose_conductor_began_before_it_failed_to_answer_stays(service: Service) -> None:
    uuid = "22222222-0000-4000-8000-000000000002"

    def begin_and_fall_silent(name: str, arguments: dict[str, Any]) -> None:
        found = service.store.allocations.get(uuid)
        assert service.store.allocations.claim(found.id, HOST, after=None)
        raise ConductorUnreachable(host=HOST, call=name, seconds=1)

    service.conductor.note = begin_and_fall_silent
    response = service.call("POST", "/v1/allocations", body={"resource_class": "x", "uuid": uuid})
    assert (response.status, response.json["state"]) == (201, "allocating")
