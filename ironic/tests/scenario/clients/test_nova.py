"""What Nova's driver for bare metal asks, in its order and with its arguments, through the SDK as it does.

A compute service owns the nodes of its conductor group and shards: it lists them, claims one for an instance, puts the
instance's particulars into it, attaches its network ports and volumes, deploys, and takes everything back in the end.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from openstack import exceptions

from ironic.tests.functional.consoles.test_ipmi_console import serial_port, typed
from ironic.tests.ipmi_bmc import ipmi_sim
from ironic.tests.live_service import free_port
from ironic.tests.scenario.clients.lab import Lab
from ironic.tests.scenario.clients.sdk import QUIET, Recorder

pytestmark = QUIET

INSTANCE = "11111111-2222-4333-8444-555555555555"
OTHER = "66666666-2222-4333-8444-555555555555"
VIF = "aaaaaaaa-2222-4333-8444-555555555555"
FIELDS = [
    "uuid", "power_state", "target_power_state", "provision_state", "target_provision_state", "last_error",
    "maintenance", "properties", "instance_uuid", "traits", "resource_class",
]  # fmt: skip
FULL_FIELDS = [*FIELDS, "instance_info", "driver", "network_interface", "extra", "reservation", "owner", "lessee"]


@pytest.fixture
def node(lab: Lab) -> str:
    """Offer a machine as an operator prepares it for Nova."""
    uuid = lab.enroll(
        "metal-1", "available", "lab",
        resource_class="baremetal.large", shard="left", properties={"cpus": 8, "memory_mb": 65536, "local_gb": 400},
    )  # fmt: skip
    lab.power(uuid, "power off")
    assert lab.call("PUT", f"nodes/{uuid}/traits", {"traits": ["CUSTOM_FAST"]}).status_code == 204
    lab.call("POST", "ports", {"address": "52:54:00:00:aa:01", "node_uuid": uuid, "physical_network": "physnet1"})
    return uuid


def add(path: str, value: object) -> dict[str, object]:
    return {"op": "add", "path": path, "value": value}


def claim(sdk: Recorder, node: str, instance: str) -> None:
    """Claim a node for an instance; who comes second is refused at once."""
    sdk.update_node(node, retry_on_conflict=False, instance_id=instance)


def spawn(lab: Lab, sdk: Recorder, node: str) -> None:
    """Do all that comes before an instance runs."""
    claim(sdk, node, INSTANCE)
    patch = [
        add("/instance_info/image_source", "http://127.0.0.1/image"),
        add("/instance_info/root_gb", "400"),
        add("/instance_info/swap_mb", "0"),
        add("/instance_info/display_name", "web"),
        add("/instance_info/vcpus", "8"),
        add("/instance_info/nova_host_id", "compute-1"),
        add("/instance_info/memory_mb", "65536"),
        add("/instance_info/local_gb", "400"),
        add("/instance_info/traits", ["CUSTOM_FAST"]),
        add("/instance_info/capabilities", '{"boot_mode": "uefi"}'),
    ]
    sdk.patch_node(node, patch)
    sdk.create_volume_target(
        node_id=node, volume_type="iscsi", properties={"target_iqn": "iqn.x"}, boot_index=0, volume_id=OTHER
    )
    found = sdk.validate_node(node, required=None)
    assert all(found[name].result for name in ("deploy", "power", "storage"))
    sdk.attach_vif_to_node(node, VIF, retry_on_conflict=False)
    with pytest.raises(exceptions.ConflictException):
        sdk.attach_vif_to_node(node, VIF, retry_on_conflict=False)
    sdk.set_node_provision_state(node, "active", config_drive={"meta_data": {"uuid": INSTANCE}})
    lab.wait_for(node, provision_state="active")


def test_it_sees_what_it_may_manage(lab: Lab, sdk: Recorder, node: str) -> None:
    lab.enroll("metal-2", shard="right", resource_class="baremetal.large")
    (mine,) = sdk.nodes(fields=FIELDS, shard="left", conductor_group="")
    assert (mine.id, mine.resource_class, mine.traits, mine.provision_state) == (
        node, "baremetal.large", ["CUSTOM_FAST"], "available",
    )  # fmt: skip
    assert mine.properties["memory_mb"] == 65536
    assert {one.name for one in sdk.nodes(details=True)} == {"metal-1", "metal-2"}
    assert list(sdk.nodes(associated=True, fields=["instance_uuid"], shard="left")) == []
    assert list(sdk.nodes(fields=FIELDS, conductor_group="elsewhere")) == []
    assert sdk.get_node(node, fields=FULL_FIELDS).network_interface == "lab"
    assert [port.physical_network for port in sdk.ports(node=node, details=True)] == ["physnet1"]
    assert list(sdk.port_groups(node=node, details=True)) == []


def test_only_one_instance_gets_a_node(lab: Lab, sdk: Recorder, node: str) -> None:
    claim(sdk, node, INSTANCE)
    with pytest.raises(exceptions.ConflictException):
        claim(sdk, node, OTHER)
    other = lab.enroll("metal-2")
    with pytest.raises(exceptions.ConflictException):
        claim(sdk, other, INSTANCE)
    (mine,) = sdk.nodes(instance_id=INSTANCE, fields=FIELDS)
    assert mine.id == node
    # What an allocation has claimed is no longer to be had either.
    third = lab.enroll("metal-3", "available", resource_class="baremetal.small")
    lab.power(third, "power off")
    sdk.wait_for_allocation(sdk.create_allocation(resource_class="baremetal.small", uuid=OTHER), timeout=30)
    assert sdk.get_node(third).instance_id == OTHER
    with pytest.raises(exceptions.ConflictException):
        claim(sdk, third, "77777777-2222-4333-8444-555555555555")


def test_an_instance_comes_runs_and_goes(lab: Lab, sdk: Recorder, node: str) -> None:
    spawn(lab, sdk, node)
    (running,) = sdk.nodes(instance_id=INSTANCE, fields=FIELDS)
    assert (running.provision_state, running.instance_id) == ("active", INSTANCE)
    assert [one.instance_id for one in sdk.nodes(associated=True, fields=["instance_uuid"])] == [INSTANCE]

    for target, reached in (("power on", "power on"), ("rebooting", "power on"), ("soft power off", "power off")):
        sdk.set_node_power_state(node, target)
        lab.wait_for(node, power_state=reached, target_power_state=None)
    sdk.set_node_provision_state(node, "rescue", rescue_password="s3cret")
    lab.wait_for(node, provision_state="rescue")
    sdk.set_node_provision_state(node, "unrescue")
    lab.wait_for(node, provision_state="active")
    sdk.patch_node(node, [add("/instance_info/image_source", "http://127.0.0.1/other"), add("/extra/a", 1)])
    sdk.set_node_provision_state(node, "rebuild", config_drive={"meta_data": {"uuid": INSTANCE}})
    lab.wait_for(node, provision_state="active", target_provision_state=None)

    destroy(lab, sdk, node)
    (free,) = sdk.nodes(fields=[*FIELDS, "instance_info"], shard="left")
    assert (free.provision_state, free.instance_id, free.instance_info) == ("available", None, {})
    assert list(sdk.volume_targets(details=True, node=node)) == []


def destroy(lab: Lab, sdk: Recorder, node: str) -> None:
    """Give the machine back and remove every trace of the instance."""
    sdk.set_node_provision_state(node, "deleted")
    lab.wait_for(node, provision_state="available")
    for target in sdk.volume_targets(details=True, node=node):
        sdk.delete_volume_target(target.id, ignore_missing=True)
    assert sdk.list_node_vifs(node) == [VIF]
    sdk.detach_vif_from_node(node, VIF)
    assert sdk.detach_vif_from_node(node, VIF) is False
    # An instance that never got so far has left nothing that could be removed.
    if sdk.get_node(node).instance_id:
        sdk.patch_node(node, [{"op": "remove", "path": path} for path in ("/instance_info", "/instance_uuid")])


def test_a_spawn_that_fails_is_undone(lab: Lab, sdk: Recorder, node: str) -> None:
    claim(sdk, node, INSTANCE)
    sdk.patch_node(node, [add("/instance_info/image_source", "http://127.0.0.1/image")])
    sdk.patch_node(node, [{"op": "remove", "path": "/instance_info"}, {"op": "remove", "path": "/instance_uuid"}])
    free = sdk.get_node(node, fields=FULL_FIELDS)
    assert (free.instance_id, free.instance_info, free.provision_state) == (None, {}, "available")
    claim(sdk, node, OTHER)


def test_it_asks_for_connectors_and_consoles(lab: Lab, sdk: Recorder, node: str) -> None:
    for kind, ident in (("ip", "192.0.2.1"), ("iqn", "iqn.y"), ("mac", "52:54:00:00:aa:01")):
        sdk.create_volume_connector(node_id=node, type=kind, connector_id=ident)
    connectors: dict[str, Any] = {one.type: one.connector_id for one in sdk.volume_connectors(details=True, node=node)}
    assert connectors == {"ip": "192.0.2.1", "iqn": "iqn.y", "mac": "52:54:00:00:aa:01"}
    assert sdk.get_node_console(node)["console_enabled"] is False
    sdk.enable_node_console(node)
    lab.wait_until(f"nodes/{node}/states/console", lambda found: found["console_enabled"])
    sdk.disable_node_console(node)
    lab.wait_for(node, console_enabled=False)
    sdk.inject_nmi_to_node(node)
    assert sdk.get_node(node).extra["nmi"] is True


def test_it_gets_the_address_of_a_serial_console(lab: Lab, sdk: Recorder, node: str, tmp_path: Path) -> None:
    with serial_port() as serial, ipmi_sim(tmp_path / "bmc", sol_port=serial) as bmc:
        info = bmc.driver_info(ipmi_terminal_port=free_port())
        patch = [add("/driver_info", info), add("/console_interface", "ipmitool-socat")]
        assert lab.call("PATCH", f"nodes/{node}", patch).status_code == 200
        # Nova opens a console that is closed, looks until it is open, and takes its URL apart for its proxy.
        assert sdk.get_node_console(node)["console_enabled"] is False
        sdk.enable_node_console(node)
        lab.wait_until(f"nodes/{node}/states/console", lambda found: found["console_enabled"])
        console = sdk.get_node_console(node)["console_info"]
        assert console["type"] == "socat"
        url = urlsplit(console["url"])
        assert (url.scheme, url.hostname, url.port) == ("tcp", "127.0.0.1", info["ipmi_terminal_port"])
        typed(console["url"], b"login: me\n")
        sdk.disable_node_console(node)
        lab.wait_for(node, console_enabled=False)


def test_an_instance_that_is_gone_is_not_found(lab: Lab, sdk: Recorder, node: str) -> None:
    assert list(sdk.nodes(instance_id=INSTANCE, fields=FIELDS)) == []
    with pytest.raises(exceptions.NotFoundException):
        sdk.get_node(INSTANCE)
