"""The SDK's methods around what belongs to nodes and what is stored once for many: stored as sent, shown as stored."""

import pytest
from openstack import exceptions

from ironic.tests.scenario.clients.exercises import exercises
from ironic.tests.scenario.clients.lab import Lab
from ironic.tests.scenario.clients.sdk import QUIET, Recorder

pytestmark = QUIET

STEP = {"interface": "bios", "step": "factory_reset", "args": {}}
ACTIONS = [{"op": "set-attribute", "args": {"path": "/extra/rack", "value": "r1"}}]


def replace(path: str, value: object) -> list[dict[str, object]]:
    return [{"op": "add", "path": path, "value": value}]


@pytest.fixture
def node(lab: Lab) -> str:
    """Enroll a machine of known power."""
    uuid = lab.enroll("machine", "manageable")
    lab.power(uuid, "power off")
    return uuid


@exercises(
    "create_chassis", "chassis", "get_chassis", "find_chassis", "update_chassis", "patch_chassis", "delete_chassis"
)
def test_chassis(lab: Lab, sdk: Recorder) -> None:
    made = sdk.create_chassis(description="row 5", extra={"a": 1})
    assert lab.shown(f"chassis/{made.id}")["description"] == "row 5"
    assert [(one.id, one.description) for one in sdk.chassis(details=True)] == [(made.id, "row 5")]
    assert sdk.get_chassis(made.id, fields=["uuid", "extra"]).extra == {"a": 1}
    assert sdk.find_chassis(made.id).id == made.id
    assert sdk.find_chassis("11111111-2222-4333-8444-555555555555") is None
    assert sdk.update_chassis(made, description="row 6").description == "row 6"
    assert sdk.patch_chassis(made, replace("/extra/b", 2)).extra == {"a": 1, "b": 2}
    sdk.delete_chassis(made)
    with pytest.raises(exceptions.NotFoundException):
        sdk.delete_chassis(made.id, ignore_missing=False)


@exercises("create_port", "ports", "get_port", "find_port", "update_port", "patch_port", "delete_port")
def test_ports(lab: Lab, sdk: Recorder, node: str) -> None:
    made = sdk.create_port(address="52:54:00:00:aa:01", node_id=node, is_pxe_enabled=False, physical_network="p1")
    port = lab.shown(f"ports/{made.id}")
    assert (port["node_uuid"], port["pxe_enabled"], port["physical_network"]) == (node, False, "p1")
    assert [one.id for one in sdk.ports(node=node, details=True)] == [made.id]
    assert [one.id for one in sdk.ports(address="52:54:00:00:aa:02")] == []
    assert sdk.get_port(made.id, fields=["address"]).address == "52:54:00:00:aa:01"
    assert sdk.find_port(made.id).id == made.id
    assert sdk.update_port(made, is_pxe_enabled=True).is_pxe_enabled is True
    assert sdk.patch_port(made, replace("/extra/a", 1)).extra == {"a": 1}
    sdk.delete_port(made)
    assert lab.shown("ports")["ports"] == []


@exercises(
    "create_port_group", "port_groups", "get_port_group", "find_port_group", "update_port_group", "patch_port_group",
    "delete_port_group",
)  # fmt: skip
def test_port_groups(lab: Lab, sdk: Recorder, node: str) -> None:
    made = sdk.create_port_group(node_id=node, name="bond", mode="802.3ad", properties={"miimon": 100})
    assert lab.shown("portgroups/bond")["properties"] == {"miimon": 100}
    assert [one.name for one in sdk.port_groups(node=node, details=True)] == ["bond"]
    assert sdk.get_port_group("bond", fields=["mode"]).mode == "802.3ad"
    assert sdk.find_port_group("bond").id == made.id
    assert sdk.update_port_group(made, name="team").name == "team"
    assert sdk.patch_port_group(made, replace("/extra/a", 1)).extra == {"a": 1}
    sdk.delete_port_group(made)
    assert lab.shown("portgroups")["portgroups"] == []


@exercises(
    "create_volume_connector", "volume_connectors", "get_volume_connector", "find_volume_connector",
    "update_volume_connector", "patch_volume_connector", "delete_volume_connector",
)  # fmt: skip
def test_volume_connectors(lab: Lab, sdk: Recorder, node: str) -> None:
    made = sdk.create_volume_connector(node_id=node, type="iqn", connector_id="iqn.x")
    assert lab.shown(f"volume/connectors/{made.id}")["connector_id"] == "iqn.x"
    assert [one.type for one in sdk.volume_connectors(details=True, node=node)] == ["iqn"]
    assert sdk.get_volume_connector(made.id, fields=["type"]).type == "iqn"
    assert sdk.find_volume_connector(made.id).id == made.id
    assert sdk.update_volume_connector(made, connector_id="iqn.y").connector_id == "iqn.y"
    assert sdk.patch_volume_connector(made, replace("/extra/a", 1)).extra == {"a": 1}
    sdk.delete_volume_connector(made)
    assert lab.shown("volume/connectors")["connectors"] == []


@exercises(
    "create_volume_target", "volume_targets", "get_volume_target", "find_volume_target", "update_volume_target",
    "patch_volume_target", "delete_volume_target",
)  # fmt: skip
def test_volume_targets(lab: Lab, sdk: Recorder, node: str) -> None:
    made = sdk.create_volume_target(node_id=node, volume_type="iscsi", boot_index=0, volume_id="v1")
    assert lab.shown(f"volume/targets/{made.id}")["volume_id"] == "v1"
    assert [one.boot_index for one in sdk.volume_targets(details=True, node=node)] == [0]
    assert sdk.get_volume_target(made.id, fields=["volume_id"]).volume_id == "v1"
    assert sdk.find_volume_target(made.id).id == made.id
    assert sdk.update_volume_target(made, boot_index=1).boot_index == 1
    assert sdk.patch_volume_target(made, replace("/properties/lun", 7)).properties == {"lun": 7}
    sdk.delete_volume_target(made)
    assert lab.shown("volume/targets")["targets"] == []


@exercises(
    "create_deploy_template", "deploy_templates", "get_deploy_template", "find_deploy_template",
    "update_deploy_template", "patch_deploy_template", "delete_deploy_template",
)  # fmt: skip
def test_deploy_templates(lab: Lab, sdk: Recorder) -> None:
    steps = [STEP | {"priority": 150}]
    made = sdk.create_deploy_template(name="CUSTOM_FAST", steps=steps)
    assert lab.shown("deploy_templates/CUSTOM_FAST")["steps"] == steps
    assert [one.steps for one in sdk.deploy_templates(details=True)] == [steps]
    assert sdk.get_deploy_template("CUSTOM_FAST", fields=["name"]).name == "CUSTOM_FAST"
    assert sdk.find_deploy_template("CUSTOM_FAST").id == made.id
    assert sdk.update_deploy_template(made, name="CUSTOM_SAFE").name == "CUSTOM_SAFE"
    assert sdk.patch_deploy_template(made, replace("/extra/a", 1)).extra == {"a": 1}
    sdk.delete_deploy_template(made)
    assert lab.shown("deploy_templates")["deploy_templates"] == []


@exercises(
    "create_runbook", "runbooks", "get_runbook", "update_runbook", "patch_runbook", "delete_runbook",
    "add_runbook_trait", "set_runbook_traits", "remove_runbook_trait",
)  # fmt: skip
def test_runbooks(lab: Lab, sdk: Recorder) -> None:
    steps = [STEP | {"order": 1}]
    made = sdk.create_runbook(name="CUSTOM_TIDY", steps=steps, public=False)
    assert lab.shown("runbooks/CUSTOM_TIDY")["steps"] == steps
    assert [one.steps for one in sdk.runbooks(details=True)] == [steps]
    assert sdk.get_runbook(made.id, fields=["name"]).name == "CUSTOM_TIDY"
    assert sdk.update_runbook(made, name="CUSTOM_CLEAN").name == "CUSTOM_CLEAN"
    assert sdk.patch_runbook(made, replace("/extra/a", 1)).extra == {"a": 1}
    sdk.add_runbook_trait(made, "CUSTOM_ONE")
    sdk.set_runbook_traits(made, ["CUSTOM_TWO", "CUSTOM_THREE"])
    sdk.remove_runbook_trait(made, "CUSTOM_TWO")
    assert lab.shown("runbooks/CUSTOM_CLEAN/traits")["traits"] == ["CUSTOM_THREE"]
    sdk.delete_runbook(made)
    assert lab.shown("runbooks")["runbooks"] == []


@exercises(
    "create_inspection_rule", "inspection_rules", "get_inspection_rule", "update_inspection_rule",
    "patch_inspection_rule", "delete_inspection_rule",
)  # fmt: skip
def test_inspection_rules(lab: Lab, sdk: Recorder) -> None:
    made = sdk.create_inspection_rule(actions=ACTIONS, description="first")
    assert lab.shown(f"inspection_rules/{made.id}")["actions"] == ACTIONS
    assert [one.actions for one in sdk.inspection_rules(detail=True)] == [ACTIONS]
    assert sdk.get_inspection_rule(made.id, fields=["description"]).description == "first"
    assert sdk.update_inspection_rule(made, description="second").description == "second"
    assert sdk.patch_inspection_rule(made, replace("/priority", 6)).priority == 6
    sdk.delete_inspection_rule(made)
    assert lab.shown("inspection_rules")["inspection_rules"] == []


@exercises(
    "create_allocation", "wait_for_allocation", "allocations", "get_allocation", "update_allocation",
    "patch_allocation", "delete_allocation",
)  # fmt: skip
def test_allocations(lab: Lab, sdk: Recorder) -> None:
    node = lab.enroll("offered", "available", resource_class="large")
    lab.power(node, "power off")
    made = sdk.create_allocation(resource_class="large", name="order-1")
    assert sdk.wait_for_allocation(made, timeout=30).node_id == node
    assert [one.name for one in sdk.allocations(node=node)] == ["order-1"]
    assert [one.name for one in sdk.allocations(state="error")] == []
    assert sdk.get_allocation("order-1", fields=["state"]).state == "active"
    assert sdk.update_allocation(made, name="order-2").name == "order-2"
    assert sdk.patch_allocation(made, replace("/extra/a", 1)).extra == {"a": 1}
    assert sdk.get_node(node).allocation_id == made.id
    sdk.delete_allocation(made)
    assert lab.shown("allocations")["allocations"] == []
    failing = sdk.create_allocation(resource_class="huge", name="order-3")
    with pytest.raises(exceptions.ResourceFailure, match="huge"):
        sdk.wait_for_allocation(failing, timeout=30)
    assert sdk.wait_for_allocation(failing, timeout=30, ignore_error=True).state == "error"


@exercises("conductors", "get_conductor")
def test_conductors(sdk: Recorder) -> None:
    assert [(one.hostname, one.alive) for one in sdk.conductors(details=True)] == [("localhost", True)]
    assert sdk.get_conductor("localhost", fields=["drivers"]).drivers == ["fake-hardware", "lab", "redfish"]


@exercises("drivers", "get_driver", "list_driver_vendor_passthru", "call_driver_vendor_passthru")
def test_drivers(sdk: Recorder) -> None:
    assert [(one.name, one.default_vendor_interface) for one in sdk.drivers(details=True)] == [
        ("fake-hardware", "fake"),
        ("lab", "lab"),
        ("redfish", "no-vendor"),
    ]
    assert sdk.get_driver("lab").hosts == ["localhost"]
    assert sdk.list_driver_vendor_passthru("lab").keys() == {"announce", "hot_line"}
    assert sdk.call_driver_vendor_passthru("lab", "GET", "hot_line").json() == {"number": "+1 555 0100"}
