"""Commands that reach through to a machine: power, boot, console, signals, methods of drivers, inventories."""

import json
from pathlib import Path

import pytest

from ironic.tests.scenario.clients.exercises import exercises
from ironic.tests.scenario.clients.lab import Lab, eventually
from ironic.tests.scenario.clients.shell import Shell
from ironic.tests.scenario.command_line import CommandFailed

REPORT = json.loads((Path(__file__).parents[2] / "data" / "agent-inspection.json").read_text())
# Another machine's BMC is none of ours.
REPORT["inventory"]["bmc_address"] = None


@pytest.fixture
def fake(lab: Lab) -> str:
    """Enroll a fake machine."""
    return lab.enroll("machine", "manageable")


@pytest.fixture
def real(lab: Lab) -> str:
    """Enroll the machine with a BMC."""
    return lab.redfish_node("machine")


@exercises("node power on", "node power off", "node reboot")
def test_power(lab: Lab, baremetal: Shell, real: str) -> None:
    baremetal("node", "power", "on", "machine", "--power-timeout", "30")
    lab.wait_for(real, power_state="power on")
    assert lab.machine()["PowerState"] == "On"
    baremetal("node", "reboot", "machine")
    lab.wait_for(real, power_state="power on", target_power_state=None)
    baremetal("node", "reboot", "machine", "--soft", "--power-timeout", "30")
    lab.wait_for(real, power_state="power on", target_power_state=None)
    baremetal("node", "power", "off", "machine", "--soft")
    lab.wait_for(real, power_state="power off")
    assert lab.machine()["PowerState"] == "Off"
    with pytest.raises(CommandFailed, match="timeout"):
        baremetal("node", "power", "off", "machine", "--power-timeout", "0")


@exercises("node boot device set", "node boot device show")
def test_boot_device(lab: Lab, baremetal: Shell, real: str) -> None:
    baremetal("node", "boot", "device", "set", "machine", "cdrom", "--persistent")
    assert lab.machine()["Boot"]["BootSourceOverrideTarget"] == "Cd"
    assert baremetal.json("node", "boot", "device", "show", "machine") == {"boot_device": "cdrom", "persistent": True}
    supported = baremetal.json("node", "boot", "device", "show", "machine", "--supported")["supported_boot_devices"]
    assert {"pxe", "disk", "cdrom"} <= set(supported.split(", "))
    with pytest.raises(CommandFailed, match="wanboot"):
        baremetal("node", "boot", "device", "set", "machine", "wanboot")


@exercises("node boot mode set", "node secure boot on", "node secure boot off")
def test_boot_mode_and_secure_boot(lab: Lab, baremetal: Shell, real: str) -> None:
    for mode, told in (("bios", "Legacy"), ("uefi", "UEFI")):
        baremetal("node", "boot", "mode", "set", "machine", mode)
        lab.wait_for(real, boot_mode=mode)
        assert lab.machine()["Boot"]["BootSourceOverrideMode"] == told
    for word, is_on in (("on", True), ("off", False)):
        baremetal("node", "secure", "boot", word, "machine")
        lab.wait_for(real, secure_boot=is_on)
        assert lab.machine("SecureBoot")["SecureBootEnable"] is is_on


@exercises("node inject nmi")
def test_an_interrupt(lab: Lab, baremetal: Shell, fake: str) -> None:
    node = lab.enroll("with", "manageable", "lab")
    baremetal("node", "inject", "nmi", "with")
    assert lab.shown(f"nodes/{node}")["extra"] == {"nmi": True}
    with pytest.raises(CommandFailed, match="does not support inject_nmi"):
        baremetal("node", "inject", "nmi", "machine")


@exercises("node console enable", "node console show", "node console disable")
def test_console(lab: Lab, baremetal: Shell, fake: str) -> None:
    baremetal("node", "console", "enable", "machine")
    lab.wait_for(fake, console_enabled=True)
    shown = baremetal.json("node", "console", "show", "machine")
    assert shown["console_enabled"] is True
    assert shown["console_info"] == lab.shown(f"nodes/{fake}/states/console")["console_info"]
    baremetal("node", "console", "disable", "machine")
    lab.wait_for(fake, console_enabled=False)


@exercises("node passthru list", "node passthru call")
def test_vendor_methods(lab: Lab, baremetal: Shell, fake: str) -> None:
    listed = {row["name"]: row for row in baremetal.rows("node", "passthru", "list", "machine")}
    assert listed["third_method_sync"]["supported_http_methods"] == "POST"
    baremetal("node", "passthru", "call", "machine", "log_passthrough", "--arg", "canary=1", "--http-method", "POST")
    eventually(lambda: "canary" in lab.service.log)
    with pytest.raises(CommandFailed, match="bar"):
        baremetal("node", "passthru", "call", "machine", "second_method")


@pytest.mark.demand("S109")
@exercises("node inspect", "node inventory save", "node abort")
def test_inspection(lab: Lab, baremetal: Shell, tmp_path: Path) -> None:
    node = lab.enroll("machine", "manageable", inspect_interface="agent")
    with pytest.raises(CommandFailed, match="no stored inventory"):
        baremetal("node", "inventory", "save", "machine")
    baremetal("node", "inspect", "machine")
    lab.wait_for(node, provision_state="inspect wait")
    baremetal("node", "abort", "machine")
    lab.wait_for(node, provision_state="inspect failed")
    baremetal("node", "inspect", "machine")
    lab.wait_for(node, provision_state="inspect wait")
    assert lab.call("POST", f"continue_inspection?node_uuid={node}", REPORT).status_code == 200
    lab.wait_for(node, provision_state="manageable")
    baremetal("node", "inventory", "save", "machine", "--file", str(tmp_path / "found.json"))
    assert json.loads((tmp_path / "found.json").read_text())["inventory"] == REPORT["inventory"]
    assert json.loads(baremetal("node", "inventory", "save", "machine"))["inventory"] == REPORT["inventory"]
