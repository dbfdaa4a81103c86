"""The SDK's cloud layer for machines; and no method of the SDK for bare metal goes untried."""

import sys

import pytest
from openstack import exceptions

from ironic.tests.scenario.clients import test_sdk_nodes, test_sdk_records
from ironic.tests.scenario.clients.exercises import exercises, table
from ironic.tests.scenario.clients.lab import Lab
from ironic.tests.scenario.clients.sdk import QUIET, Recorder, cloud_methods, proxy_methods

pytestmark = QUIET

MACS = ["52:54:00:00:aa:01", "52:54:00:00:aa:02"]

# These ask the network service for a port before they ask for anything here.
NEED_A_NETWORK_SERVICE = {"attach_port_to_machine", "detach_port_from_machine"}


def test_every_method_is_tried() -> None:
    assert table([test_sdk_nodes, test_sdk_records]).keys() == proxy_methods()


def test_every_method_of_the_cloud_layer_is_tried() -> None:
    assert table([sys.modules[__name__]]).keys() == cloud_methods() - NEED_A_NETWORK_SERVICE


@exercises(
    "register_machine", "list_machines", "get_machine", "get_machine_by_mac", "list_nics", "list_nics_for_machine",
    "get_nic_by_mac", "unregister_machine",
)  # fmt: skip
def test_machines_are_registered_and_unregistered(lab: Lab, machines: Recorder) -> None:
    made = machines.register_machine(MACS, wait=True, timeout=60, driver="fake-hardware", name="machine")
    assert made.provision_state == "available"
    assert {port["address"] for port in lab.shown("nodes/machine/ports")["ports"]} == set(MACS)
    assert [one.name for one in machines.list_machines()] == ["machine"]
    assert machines.get_machine("machine").id == made.id
    assert machines.get_machine_by_mac(MACS[0]).id == made.id
    assert [nic.address for nic in machines.list_nics()] == MACS
    assert [nic.address for nic in machines.list_nics_for_machine(made.id)] == MACS
    assert machines.get_nic_by_mac(MACS[1]).address == MACS[1]
    assert machines.get_nic_by_mac("52:54:00:00:aa:03") is None
    machines.unregister_machine([{"address": mac} for mac in MACS], made.id)
    assert lab.shown("nodes")["nodes"] == lab.shown("ports")["ports"] == []


@exercises("register_machine")
def test_a_machine_that_can_not_be_registered_leaves_nothing(lab: Lab, machines: Recorder) -> None:
    with pytest.raises(exceptions.BadRequestException):
        machines.register_machine(["no address"], driver="fake-hardware", name="machine", provision_state="enroll")
    assert lab.shown("nodes")["nodes"] == lab.shown("ports")["ports"] == []
    machines.register_machine([], driver="fake-hardware", name="machine", provision_state="manageable")
    assert lab.shown("nodes/machine")["provision_state"] == "manageable"


@exercises(
    "inspect_machine", "patch_machine", "update_machine", "set_machine_maintenance_state",
    "remove_machine_from_maintenance", "set_machine_power_on", "set_machine_power_off", "set_machine_power_reboot",
    "wait_for_baremetal_node_lock", "list_ports_attached_to_machine",
)  # fmt: skip
def test_machines_are_looked_after(lab: Lab, machines: Recorder) -> None:
    node = lab.enroll("machine", "available")
    # It takes the machine out of the offer and puts it back.
    assert machines.inspect_machine("machine", wait=True, timeout=60).provision_state == "available"
    assert lab.shown(f"nodes/{node}")["inspection_finished_at"] is not None
    machines.patch_machine("machine", [{"op": "add", "path": "/extra/a", "value": 1}])
    changed = machines.update_machine("machine", description="changed")
    assert (changed["changes"], changed["node"].description) == (["/description"], "changed")
    assert lab.shown(f"nodes/{node}")["extra"] == {"a": 1}
    machines.set_machine_maintenance_state("machine", True, reason="a new fan")
    assert lab.shown(f"nodes/{node}")["maintenance_reason"] == "a new fan"
    machines.remove_machine_from_maintenance("machine")
    assert lab.shown(f"nodes/{node}")["maintenance"] is False
    machines.set_machine_power_on("machine")
    lab.wait_for(node, power_state="power on")
    machines.set_machine_power_reboot("machine")
    machines.wait_for_baremetal_node_lock("machine", timeout=30)
    machines.set_machine_power_off("machine")
    lab.wait_for(node, power_state="power off")
    assert machines.list_ports_attached_to_machine("machine") == []


@exercises(
    "validate_machine", "validate_node", "activate_node", "deactivate_node", "node_set_provision_state",
    "set_node_instance_info", "purge_node_instance_info",
)  # fmt: skip
def test_machines_are_put_to_use(lab: Lab, machines: Recorder) -> None:
    node = lab.enroll("machine", "manageable")
    machines.validate_machine("machine", for_deploy=True)
    machines.validate_node("machine")
    machines.node_set_provision_state("machine", "provide")
    lab.wait_for(node, provision_state="available")
    machines.set_node_instance_info("machine", [{"op": "add", "path": "/instance_info/a", "value": 1}])
    machines.activate_node("machine", configdrive={"user_data": "#cloud-config"})
    info = lab.wait_for(node, provision_state="active")["instance_info"]
    assert (info["a"], info["configdrive"]) == (1, "******")
    machines.deactivate_node("machine")
    lab.wait_for(node, provision_state="available")
    machines.purge_node_instance_info("machine")
    assert lab.shown(f"nodes/{node}")["instance_info"] == {}
    with pytest.raises(exceptions.ValidationException, match="redfish_address"):
        unsound = lab.enroll("unsound", power_interface="redfish")
        machines.validate_machine(unsound, for_deploy=False)


@pytest.mark.parametrize("method", sorted(NEED_A_NETWORK_SERVICE))
def test_network_ports_need_a_network_service(lab: Lab, machines: Recorder, method: str) -> None:
    lab.enroll("machine")
    with pytest.raises(exceptions.SDKException):
        getattr(machines, method)("machine", "port-1")
