"""The SDK's methods around nodes: their records, their machines, their life."""

import json
from pathlib import Path

import pytest
import requests
from openstack import exceptions

from ironic.tests.scenario.clients.exercises import exercises
from ironic.tests.scenario.clients.lab import Lab, eventually
from ironic.tests.scenario.clients.sdk import QUIET, Recorder
from ironic.tests.web_server import web_server

pytestmark = QUIET

REPORT = json.loads((Path(__file__).parents[2] / "data" / "agent-inspection.json").read_text())
# Another machine's BMC is none of ours.
REPORT["inventory"]["bmc_address"] = None
RESET = {"interface": "bios", "step": "factory_reset"}


@pytest.fixture
def node(lab: Lab) -> str:
    """Enroll a machine."""
    return lab.enroll("machine", "manageable")


@exercises(
    "create_node", "nodes", "get_node", "find_node", "update_node", "patch_node", "delete_node", "validate_node",
    "wait_for_node_reservation",
)  # fmt: skip
def test_records(lab: Lab, sdk: Recorder) -> None:
    made = sdk.create_node(driver="fake-hardware", name="first", driver_info={"password": "s3cret"})
    assert (made.provision_state, made.driver_info) == ("enroll", {"password": "******"})
    assert [one.name for one in sdk.nodes()] == ["first"]
    assert [one.driver for one in sdk.nodes(details=True, driver="fake-hardware", is_maintenance=False)] == [
        "fake-hardware"
    ]
    assert list(sdk.nodes(provision_state="active", fields=["uuid"])) == []
    assert sdk.get_node("first", fields=["name"]).name == "first"
    assert sdk.find_node("first").id == made.id
    assert sdk.find_node("nobody") is None
    assert sdk.update_node(made, name="second", extra={"a": 1}).extra == {"a": 1}
    patched = sdk.patch_node(made, [{"op": "add", "path": "/properties/cpus", "value": 8}])
    assert (patched.name, patched.properties) == ("second", {"cpus": 8})
    swapped = sdk.patch_node(
        made, [{"op": "replace", "path": "/driver", "value": "lab"}], reset_interfaces=True, retry_on_conflict=False
    )
    assert swapped.vendor_interface == "lab"
    assert sdk.validate_node(made)["power"].result is True
    assert sdk.wait_for_node_reservation(made, timeout=30).reservation is None
    sdk.delete_node(made)
    with pytest.raises(exceptions.NotFoundException):
        sdk.get_node("second")


@exercises("nodes")
def test_long_lists_come_as_a_whole(lab: Lab, sdk: Recorder) -> None:
    expected = {f"machine-{number}" for number in range(25)}
    for name in expected:
        lab.enroll(name)
    assert {one.name for one in sdk.nodes()} == expected
    assert {one.name for one in sdk.nodes(limit=7, fields=["name", "uuid"])} == expected
    assert {one.name for one in sdk.nodes(details=True, provision_state="enroll")} == expected


@exercises("add_node_trait", "set_node_traits", "remove_node_trait")
def test_traits(lab: Lab, sdk: Recorder, node: str) -> None:
    sdk.set_node_traits("machine", ["CUSTOM_A", "CUSTOM_B"])
    sdk.add_node_trait("machine", "CUSTOM_C")
    assert sdk.remove_node_trait("machine", "CUSTOM_A") is True
    # It looks for a 400 where the API has a 404.
    with pytest.raises(exceptions.NotFoundException, match=f"Node {node} has no trait CUSTOM_A"):
        sdk.remove_node_trait("machine", "CUSTOM_A")
    assert lab.shown(f"nodes/{node}/traits")["traits"] == ["CUSTOM_B", "CUSTOM_C"]


@exercises("set_node_maintenance", "unset_node_maintenance")
def test_maintenance(lab: Lab, sdk: Recorder, node: str) -> None:
    assert sdk.set_node_maintenance("machine", reason="a new fan").maintenance_reason == "a new fan"
    assert lab.shown(f"nodes/{node}")["maintenance"] is True
    assert sdk.unset_node_maintenance("machine").is_maintenance is False


@exercises("attach_vif_to_node", "list_node_vifs", "detach_vif_from_node")
def test_vifs(lab: Lab, sdk: Recorder) -> None:
    node = lab.enroll("machine", "manageable", "lab")
    vif = "aaaaaaaa-2222-4333-8444-555555555555"
    port = lab.call("POST", "ports", {"address": "52:54:00:00:ee:01", "node_uuid": node}).json()["uuid"]
    sdk.attach_vif_to_node("machine", vif, port=port)
    assert sdk.list_node_vifs("machine") == [vif]
    assert lab.shown(f"nodes/{node}")["extra"]["vifs"][vif]["port_uuid"] == port
    with pytest.raises(exceptions.ConflictException):
        sdk.attach_vif_to_node("machine", vif, retry_on_conflict=False)
    assert sdk.detach_vif_from_node("machine", vif) is True
    assert sdk.detach_vif_from_node("machine", vif) is False


@exercises("set_node_power_state", "wait_for_node_power_state")
def test_power(lab: Lab, sdk: Recorder) -> None:
    lab.redfish_node("machine")
    sdk.set_node_power_state("machine", "power on", wait=True, timeout=30)
    assert lab.machine()["PowerState"] == "On"
    sdk.set_node_power_state("machine", "soft power off")
    sdk.wait_for_node_power_state("machine", "power off", timeout=30)
    assert lab.machine()["PowerState"] == "Off"


@exercises(
    "set_node_boot_device", "get_node_boot_device", "get_node_supported_boot_devices", "set_node_boot_mode",
    "set_node_secure_boot",
)  # fmt: skip
def test_boot(lab: Lab, sdk: Recorder) -> None:
    node = lab.redfish_node("machine")
    sdk.set_node_boot_device("machine", "pxe", persistent=True)
    assert sdk.get_node_boot_device("machine") == {"boot_device": "pxe", "persistent": True}
    assert "cdrom" in sdk.get_node_supported_boot_devices("machine")["supported_boot_devices"]
    sdk.set_node_boot_mode("machine", "bios")
    lab.wait_for(node, boot_mode="bios")
    sdk.set_node_boot_mode("machine", "uefi")
    lab.wait_for(node, boot_mode="uefi")
    assert lab.machine()["Boot"]["BootSourceOverrideMode"] == "UEFI"
    sdk.set_node_secure_boot("machine", True)
    lab.wait_for(node, secure_boot=True)
    assert lab.machine("SecureBoot")["SecureBootEnable"] is True
    sdk.set_node_secure_boot("machine", False)
    lab.wait_for(node, secure_boot=False)


@exercises("enable_node_console", "get_node_console", "disable_node_console")
def test_console(lab: Lab, sdk: Recorder, node: str) -> None:
    sdk.enable_node_console("machine")
    lab.wait_for(node, console_enabled=True)
    assert sdk.get_node_console("machine") == lab.shown("nodes/machine/states/console")
    sdk.disable_node_console("machine")
    lab.wait_for(node, console_enabled=False)


@exercises(
    "inject_nmi_to_node", "attach_vmedia_to_node", "detach_vmedia_from_node", "list_node_vendor_passthru",
    "call_node_vendor_passthru",
)  # fmt: skip
def test_signals_media_and_methods(lab: Lab, sdk: Recorder) -> None:
    node = lab.enroll("machine", "manageable", "lab")
    sdk.inject_nmi_to_node("machine")
    assert lab.shown(f"nodes/{node}")["extra"] == {"nmi": True}
    sdk.attach_vmedia_to_node("machine", "cdrom", "http://127.0.0.1/boot.iso", image_download_source="http")
    (drive,) = lab.wait_until(f"nodes/{node}/vmedia", lambda drives: drives)
    assert drive["image"] == "http://127.0.0.1/boot.iso"
    sdk.detach_vmedia_from_node("machine", device_types=["cdrom"])
    lab.wait_until(f"nodes/{node}/vmedia", lambda drives: not drives)
    assert "third_method_sync" in sdk.list_node_vendor_passthru("machine")
    assert sdk.call_node_vendor_passthru("machine", "POST", "third_method_sync", {"bar": "meow"}).json() is True


def image_of(lab: Lab, node: str, kind: str) -> str:
    """Return the URL of the image that a BMC was given; the drives of fake machines can't be listed."""
    if kind == "fake":
        found = lab.wait_until(f"nodes/{node}", lambda one: one["driver_internal_info"].get("fake_virtual_media"))
        return str(found["driver_internal_info"]["fake_virtual_media"]["cdrom"])
    drives = lab.wait_until(f"nodes/{node}/vmedia", lambda drives: any(one["inserted"] for one in drives))
    return next(str(one["image"]) for one in drives if one["inserted"])


@pytest.mark.parametrize("kind", ["fake", "redfish"])
@exercises("attach_vmedia_to_node", "detach_vmedia_from_node")
def test_the_service_itself_serves_an_image_that_it_copied(lab: Lab, sdk: Recorder, tmp_path: Path, kind: str) -> None:
    (tmp_path / "boot.iso").write_bytes(bytes(range(256)) * 1000)
    node = lab.redfish_node("machine") if kind == "redfish" else lab.enroll("machine", "manageable")
    with web_server(tmp_path) as web:
        sdk.attach_vmedia_to_node("machine", "cdrom", f"{web.url}/boot.iso")
        image = image_of(lab, node, kind)
    part = requests.get(image, headers={"Range": "bytes=256-511"}, timeout=60)
    assert (part.status_code, part.content) == (206, bytes(range(256)))
    sdk.detach_vmedia_from_node("machine")
    lab.wait_for(node, provision_state="manageable")
    eventually(lambda: requests.get(image, timeout=60).status_code == 404)


@pytest.mark.demand("S110")
@exercises("get_node_inventory", "list_node_firmware", "set_node_provision_state")
def test_what_was_found_out(lab: Lab, sdk: Recorder) -> None:
    node = lab.enroll("machine", "manageable", inspect_interface="agent")
    with pytest.raises(exceptions.NotFoundException):
        sdk.get_node_inventory("machine")
    sdk.set_node_provision_state("machine", "inspect")
    lab.wait_for(node, provision_state="inspect wait")
    assert lab.call("POST", f"continue_inspection?node_uuid={node}", REPORT).status_code == 200
    lab.wait_for(node, provision_state="manageable")
    assert sdk.get_node_inventory("machine")["inventory"] == REPORT["inventory"]
    update = {"component": "bmc", "url": "http://127.0.0.1/bmc-1.2"}
    step = {"interface": "firmware", "step": "update", "args": {"settings": [update]}}
    lab.provision("machine", "clean", "manageable", clean_steps=[step])
    assert [one["current_version"] for one in sdk.list_node_firmware("machine")["firmware"]] == ["bmc-1.2"]


@exercises("set_node_provision_state", "wait_for_nodes_provision_state")
def test_a_life(lab: Lab, sdk: Recorder) -> None:
    one, two = lab.enroll("one"), lab.enroll("two")
    sdk.set_node_provision_state("one", "manage")
    sdk.set_node_provision_state("two", "manage")
    assert len(sdk.wait_for_nodes_provision_state([one, two], "manageable", timeout=30)) == 2
    sdk.set_node_provision_state("one", "clean", clean_steps=[RESET])
    lab.wait_for(one, provision_state="manageable")
    sdk.set_node_provision_state("one", "provide")
    lab.wait_for(one, provision_state="available")
    steps = [RESET | {"priority": 150, "args": {}}]
    sdk.set_node_provision_state("one", "active", config_drive={"user_data": "#cloud-config"}, deploy_steps=steps)
    deployed = lab.wait_for(one, provision_state="active")
    assert deployed["instance_info"]["configdrive"] == "******"
    sdk.set_node_provision_state("one", "rescue", rescue_password="s3cret")
    lab.wait_for(one, provision_state="rescue")
    sdk.set_node_provision_state("one", "unrescue")
    lab.wait_for(one, provision_state="active")
    sdk.set_node_provision_state("one", "rebuild")
    lab.wait_for(one, provision_state="active", target_provision_state=None)
    sdk.set_node_provision_state("one", "deleted", wait=True, timeout=60)
    assert sdk.get_node("one").provision_state == "available"
    result = sdk.wait_for_nodes_provision_state([one, two], "available", timeout=1, fail=False)
    assert ([found.name for found in result.success], [found.name for found in result.timeout]) == (["one"], ["two"])
    with pytest.raises(exceptions.BadRequestException):
        sdk.set_node_provision_state("two", "active")


@exercises("wait_for_status", "wait_for_delete")
def test_waiting_of_the_general_sort(lab: Lab, sdk: Recorder, node: str) -> None:
    found = sdk.get_node("machine")
    sdk.set_node_provision_state("machine", "provide")
    waited = sdk.wait_for_status(found, "available", interval=0.1, wait=30, attribute="provision_state")
    assert waited.provision_state == "available"
    sdk.delete_node(found)
    sdk.wait_for_delete(found, interval=0.1, wait=30)
