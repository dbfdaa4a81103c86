"""What follows from a new value of a node, by PATCH of an administrator and by a rule of either dialect: one table."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.flows import states
from ironic.tests.functional.inspection.whole import Whole, whole
from ironic.tests.unit.inspection.lab import inventory

MAC = "52:54:00:00:77:01"
INSTANCE, OTHER_INSTANCE = (f"5a1c2d3e-0000-4000-8000-00000000000{number}" for number in (1, 2))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    with whole(tmp_path_factory.mktemp("consequences"), conductor__heartbeat_timeout=3600) as made:
        yield made


def patch(running: Whole, uuid: str, path: str, value: Any) -> None:
    answer = running.api.call("PATCH", f"/v1/nodes/{uuid}", body=[{"op": "add", "path": path, "value": value}])
    assert answer.status == 200, answer.body


def rule(running: Whole, _uuid: str, path: str, value: Any) -> None:
    body = {"actions": [{"op": "set-attribute", "args": [path, value]}]}
    assert running.api.call("POST", "/v1/inspection_rules", body=body).status == 201
    running.post({"inventory": inventory(MAC)})
    running.api.call("DELETE", "/v1/inspection_rules")


def old_rule(running: Whole, _uuid: str, path: str, value: Any) -> None:
    """Have a rule of the standalone inspector's dialect write."""
    body = {"actions": [{"action": "set-attribute", "path": path, "value": value}], "conditions": []}
    answer = running.inspector.call("POST", "/v1/rules", body=body)
    assert answer.status == 201, answer.body
    running.post({"inventory": inventory(MAC)})
    running.inspector.call("DELETE", "/v1/rules")


Write = Callable[[Whole, str, str, Any], None]
WRITERS: list[Write] = [patch, rule, old_rule]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ({}, "/instance_info/display_name", "web", {"instance_name": "web"}),
        ({}, "/instance_info", {"display_name": "web"}, {"instance_name": "web"}),
        ({"instance_name": "old"}, "/instance_info/display_name", "web", {"instance_name": "old"}),
        ({}, "/instance_info/display_name", "", {"instance_name": None}),
        ({"maintenance": True, "maintenance_reason": "x"}, "/maintenance", False, {"maintenance_reason": None}),
        ({"retired": True, "retired_reason": "x"}, "/retired", False, {"retired_reason": None}),
        ({"owner": "a"}, "/owner", "b", {"owner": "b"}),
        ({"owner": "a", "lessee": "c"}, "/owner", None, {"owner": None, "lessee": "c"}),
    ],
)
def test_values_change_along(
    running: Whole, write: Write, before: dict[str, Any], path: str, value: Any, after: dict[str, Any]
) -> None:
    uuid = running.node(state=states.MANAGEABLE) if write is patch else running.node(MAC)
    running.store.nodes.update(running.bench.row(uuid).id, before)
    write(running, uuid, path, value)
    row = running.bench.row(uuid)
    assert {name: getattr(row, name) for name in after} == after
    running.store.nodes.delete(uuid)


@pytest.mark.parametrize("write", WRITERS)
def test_a_node_without_its_instance_has_no_allocation(running: Whole, write: Write) -> None:
    uuid = running.node(state=states.MANAGEABLE) if write is patch else running.node(MAC)
    node = running.bench.row(uuid)
    made = running.store.allocations.create({"state": "active", "node_id": node.id, "resource_class": "large"})
    values = {"instance_uuid": made.uuid, "allocation_id": made.id, "instance_info": {"traits": ["CUSTOM_A"]}}
    running.store.nodes.update(node.id, values)
    write(running, uuid, "/instance_uuid", None)
    row = running.bench.row(uuid)
    assert (row.instance_uuid, row.allocation_id, row.instance_info) == (None, None, {})
    assert running.api.call("GET", f"/v1/allocations/{made.uuid}").status == 404
    running.store.nodes.delete(uuid)


@pytest.mark.parametrize("write", [rule, old_rule])
@pytest.mark.parametrize(
    ("before", "path", "value", "error"),
    [
        ({"instance_uuid": OTHER_INSTANCE}, "/instance_uuid", INSTANCE, f"has the instance {OTHER_INSTANCE}"),
        ({}, "/name", "detail", "reserved word"),
        ({"console_enabled": True}, "/console_interface", "fake", "stop its console first"),
        ({"name": "self"}, "/parent_node", "self", "its own parent_node"),
        ({}, "/instance_info/deploy_interface", "none-such", "none-such"),
        ({}, "/instance_info", {"power_interface": 5}, "must be the name of an interface"),
    ],
)
def test_a_rule_writes_nothing_that_a_patch_may_not(
    running: Whole, write: Write, before: dict[str, Any], path: str, value: Any, error: str
) -> None:
    uuid = running.node(MAC, console_interface="no-console")
    running.store.nodes.update(running.bench.row(uuid).id, before)
    write(running, uuid, path, value)
    row = running.bench.row(uuid)
    assert row.provision_state == states.INSPECTFAIL and error in str(row.last_error)
    assert {name: getattr(row, name) for name in before} == before
    running.store.nodes.delete(uuid)
    patched = running.node(state=states.MANAGEABLE, console_interface="no-console", **before)
    body = [{"op": "add", "path": path, "value": value}]
    assert running.api.call("PATCH", f"/v1/nodes/{patched}", body=body).status in (400, 409)
    running.store.nodes.delete(patched)


def test_a_rule_changes_no_address_that_an_instance_uses(running: Whole) -> None:
    uuid, new = running.node(MAC, instance_uuid=INSTANCE), "52:54:00:00:77:02"
    body = {"actions": [{"op": "set-port-attribute", "args": [MAC, "/address", new]}]}
    assert running.api.call("POST", "/v1/inspection_rules", body=body).status == 201
    running.post({"inventory": inventory(MAC)})
    assert "an instance uses the address" in str(running.error(uuid))
    running.store.nodes.update(running.bench.row(uuid).id, {"instance_uuid": None, "provision_state": "inspect wait"})
    running.post({"inventory": inventory(MAC)})
    (port,) = running.store.ports.find(node_id=running.bench.row(uuid).id)
    assert (running.error(uuid), port.address) == (None, new)
    running.api.call("DELETE", "/v1/inspection_rules")
    running.store.nodes.delete(uuid)


@pytest.mark.parametrize("write", [rule, old_rule])
def test_a_rule_for_a_discovered_machine_writes_as_well(tmp_path: Path, write: Write) -> None:
    with whole(tmp_path, auto_discovery__enabled=True, auto_discovery__driver="fake-hardware") as running:
        write(running, "", "/instance_info", {"display_name": "web"})
        (node,) = running.store.nodes.find()
        assert (node.auto_discovered, node.instance_name, node.last_error) == (True, "web", None)


def test_taking_a_value_back_has_its_consequences_too(running: Whole) -> None:
    """A rule of the older dialect whose conditions do not hold any more takes back what it has set."""
    uuid = running.node(MAC)
    node = running.bench.row(uuid)
    made = running.store.allocations.create({"state": "active", "node_id": node.id, "resource_class": "large"})
    body = {
        "actions": [{"action": "set-attribute", "path": "/instance_uuid", "value": made.uuid}],
        "conditions": [{"op": "eq", "field": "data://extra_word", "value": "yes"}],
    }
    assert running.inspector.call("POST", "/v1/rules", body=body).status == 201
    running.post({"inventory": inventory(MAC), "extra_word": "yes"})
    assert running.bench.row(uuid).instance_uuid == made.uuid
    running.store.nodes.update(node.id, {"allocation_id": made.id, "provision_state": states.INSPECTWAIT})
    running.post({"inventory": inventory(MAC), "extra_word": "no"})
    row = running.bench.row(uuid)
    assert (row.instance_uuid, row.allocation_id, row.provision_state) == (None, None, states.MANAGEABLE)
    assert running.api.call("GET", f"/v1/allocations/{made.uuid}").status == 404
    running.inspector.call("DELETE", "/v1/rules")
    running.store.nodes.delete(uuid)


@pytest.mark.parametrize(("path", "key"), [("a~1b", "a/b"), ("c~0d", "c~d"), ("dot.key", "dot.key"), ("~01", "~1")])
def test_a_patch_names_any_key_from_a_version_on(running: Whole, path: str, key: str) -> None:
    uuid = running.node(state=states.MANAGEABLE)
    body = [{"op": "add", "path": f"/extra/{path}", "value": 1}]
    assert running.api.call("PATCH", f"/v1/nodes/{uuid}", body=body, version="1.97").status == 400
    answer = running.api.call("PATCH", f"/v1/nodes/{uuid}", body=body, version="1.98")
    assert (answer.status, running.bench.row(uuid).extra) == (200, {key: 1})
    running.store.nodes.delete(uuid)
