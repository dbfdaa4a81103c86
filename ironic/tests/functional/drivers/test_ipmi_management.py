"""Management and vendor methods of IPMI machines: the real ipmitool with ipmi_sim and with the BMC of pyghmi."""

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.errors.hardware_errors import FailedToGetSensorData, FailedToParseSensorData, IPMIFailure
from ironic.core.flows import states
from ironic.drivers.contract.task import Notes
from ironic.drivers.modules.ipmi.conversation import read
from ironic.drivers.modules.ipmi.management import IPMIManagement
from ironic.drivers.modules.ipmi.power import IPMIPower
from ironic.drivers.modules.ipmi.speed_select import IntelIPMIManagement
from ironic.drivers.modules.ipmi.vendor import IPMIVendorPassthru
from ironic.tests.ipmi_bmc import HOST, IpmiBmc, free_udp_port, ipmi_sim, pyghmi_bmc
from ironic.tests.site import eventually
from ironic.tests.unit.drivers.machine import Work, work_on

DEVICES = ["pxe", "disk", "cdrom", "bios", "safe"]
NO_TIMEOUT = "netfn=0x0 cmd=0x8 data=0308"


@pytest.fixture(autouse=True)
def no_pauses(conf: Callable[..., Any]) -> None:
    conf(ipmi__min_command_interval=0, ipmi__command_retry_timeout=30)


@pytest.fixture(scope="module")
def flags(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IpmiBmc]:
    """Run a BMC that keeps the boot flags byte for byte."""
    with pyghmi_bmc(tmp_path_factory.mktemp("pyghmi") / "bmc") as running:
        yield running


def task_on(bmc: IpmiBmc, mode: str = "uefi", **info: Any) -> Work:
    properties = {"capabilities": f"boot_mode:{mode}"}
    return work_on(driver="ipmi", driver_info=bmc.driver_info(**info), properties=properties)


def requests(bmc: IpmiBmc, begin: str, since: int) -> list[str]:
    return [call for call in bmc.calls[since:] if call.startswith(begin)]


# Boot device


@pytest.mark.parametrize(
    ("mode", "device", "persistent", "kept"),
    [
        ("uefi", "pxe", True, "e004000000"),
        ("uefi", "pxe", False, "a004000000"),
        ("uefi", "disk", True, "e008000000"),
        ("uefi", "cdrom", False, "a014000000"),
        ("uefi", "bios", False, "a018000000"),
        ("uefi", "safe", False, "a00c000000"),
        ("bios", "pxe", True, "c004000000"),
        ("bios", "pxe", False, "8004000000"),
        ("bios", "disk", False, "8008000000"),
        ("bios", "cdrom", True, "c014000000"),
        ("bios", "bios", False, "8018000000"),
        ("bios", "safe", False, "800c000000"),
    ],
)
def test_a_boot_device_is_set_and_read(flags: IpmiBmc, mode: str, device: str, persistent: bool, kept: str) -> None:
    task, management = task_on(flags, mode), IPMIManagement()
    management.set_boot_device(task, device, persistent=persistent)
    assert flags.boot_flags == kept
    assert management.get_boot_device(task) == {"boot_device": device, "persistent": persistent}


def test_all_devices_are_listed(flags: IpmiBmc) -> None:
    assert sorted(IPMIManagement().get_supported_boot_devices(task_on(flags))) == sorted(DEVICES)


def test_an_unknown_device_is_refused(flags: IpmiBmc) -> None:
    with pytest.raises(InvalidParameterValue, match="it supports pxe, disk, safe, cdrom, bios"):
        IPMIManagement().set_boot_device(task_on(flags), "floppy")


def test_the_disk_of_a_supermicro_is_another_one(flags: IpmiBmc) -> None:
    task = task_on(flags)
    task.node.properties["vendor"] = "SuperMicro"
    IPMIManagement().set_boot_device(task, "disk")
    assert flags.boot_flags == "a024000000"


@pytest.mark.parametrize("default", [True, False])
@pytest.mark.parametrize("own", [True, False, None])
def test_the_boot_timeout_is_disabled_if_wanted(
    flags: IpmiBmc, conf: Callable[..., Any], default: bool, own: bool | None
) -> None:
    conf(ipmi__disable_boot_timeout=default)
    before = len(flags.calls)
    IPMIManagement().set_boot_device(task_on(flags, ipmi_disable_boot_timeout=own), "pxe")
    assert bool(requests(flags, NO_TIMEOUT, before)) is (default if own is None else own)


def test_a_simulator_takes_boot_devices(sim: IpmiBmc) -> None:
    management = IPMIManagement()
    for device in ("pxe", "disk", "cdrom", "bios"):
        management.set_boot_device(task_on(sim, "bios"), device)
        assert management.get_boot_device(task_on(sim))["boot_device"] == device
        # So the flag is no sign that a device is not set.
        assert "Boot Flag Invalid" in read(task_on(sim), ("chassis", "bootparam", "get", "5"))


def test_a_forced_device_is_set_again_before_each_start(flags: IpmiBmc) -> None:
    task, management, power = task_on(flags, ipmi_force_boot_device="true"), IPMIManagement(), IPMIPower()
    management.set_boot_device(task, "pxe", persistent=True)
    assert flags.boot_flags == "a004000000"
    assert management.get_boot_device(task) == {"boot_device": "pxe", "persistent": True}
    (flags.directory / "bootflags").write_text("0000000000")
    task.notes = Notes()  # later, in another task
    power.set_power_state(task, states.POWER_ON)
    assert flags.boot_flags == "a004000000"
    # The next start, and only that, is from another device.
    management.set_boot_device(task, "cdrom")
    assert management.get_boot_device(task) == {"boot_device": "cdrom", "persistent": False}
    power.reboot(task)
    assert flags.boot_flags == "a014000000"
    power.reboot(task)
    assert flags.boot_flags == "a004000000"
    assert task.node.saved["driver_internal_info"] == task.node.driver_internal_info


def test_a_machine_starts_although_its_device_can_not_be_restored(flags: IpmiBmc) -> None:
    task = task_on(flags, ipmi_force_boot_device="true")
    task.node.driver_internal_info["persistent_boot_device"] = "-I open"
    IPMIPower().set_power_state(task, states.POWER_ON)
    assert flags.is_on


# Vendor, sensors, NMI


def test_the_vendor_is_read(sim: IpmiBmc, flags: IpmiBmc) -> None:
    assert IPMIManagement().detect_vendor(task_on(sim)) == "montavista software, inc."
    assert IPMIManagement().detect_vendor(task_on(flags)) == "intel corporation"


@pytest.mark.parametrize("number", ["0x0", "0xfffff", "0xffffff", "0xabcde"])
def test_a_number_without_a_name_is_no_vendor(tmp_path: Path, number: str) -> None:
    with ipmi_sim(tmp_path / "bmc", manufacturer=number) as bmc:
        assert IPMIManagement().detect_vendor(task_on(bmc)) is None


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Work]:
    """Return what makes a task whose ipmitool writes a text."""

    def writes(said: str) -> Work:
        path = tmp_path / "ipmitool"
        path.write_text(f"#!/bin/sh\nprintf '%s\\n' {shlex.quote(said)}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
        # An answer of a moment ago counts for the same port.
        return task_on(IpmiBmc(tmp_path, free_udp_port()), ipmi_password="the-secret")

    return writes


@pytest.mark.parametrize(
    "said",
    ["", "Device ID : 32\nthe-secret", "Manufacturer Name         :", "Manufacturer ID : 343\nManufacturer Na"],
)
def test_half_an_answer_is_an_error_and_no_missing_vendor(tool: Callable[[str], Work], said: str) -> None:
    with pytest.raises(IPMIFailure, match="does not say who made it") as failed:
        IPMIManagement().detect_vendor(tool(said))
    quoted = said.replace("\n", " ").replace("the-secret", "***").strip() or "nothing"
    assert f"ipmitool writes {quoted}. " in str(failed.value)


@pytest.mark.parametrize(("name", "vendor"), [("Unknown Devices: AG", "unknown devices: ag"), ("DELL Inc", "dell inc")])
def test_a_name_is_a_vendor(tool: Callable[[str], Work], name: str, vendor: str) -> None:
    assert IPMIManagement().detect_vendor(tool(f"Manufacturer Name         : {name}")) == vendor


@pytest.mark.parametrize(
    "said", ["", " Boot Flags :", "   - Boot Device Selector : Force Boot from Diagnostic Partition"]
)
def test_a_boot_device_without_a_name_is_shown_as_none(tool: Callable[[str], Work], said: str) -> None:
    assert IPMIManagement().get_boot_device(tool(said)) == {"boot_device": None, "persistent": False}


def test_sensors_are_read_by_type_and_id(sim: IpmiBmc) -> None:
    found = IPMIManagement().get_sensors_data(task_on(sim))
    assert {kind: sorted(sensors) for kind, sensors in found.items()} == {
        "Fan": ["Fan1 RPM (0x3)"],
        "Temperature": ["CPU1 Temp (0x2)", "Inlet Temp (0x1)"],
        "Voltage": ["12V Rail (0x4)"],
    }
    inlet = found["Temperature"]["Inlet Temp (0x1)"]
    assert inlet["Sensor Reading"] == "23 (+/- 0) degrees C"
    assert inlet["Status"] == "ok"
    assert inlet["Entity ID"] == "55.1 (Air Inlet)"


def test_sensors_of_a_bmc_without_any_are_an_error(flags: IpmiBmc) -> None:
    with pytest.raises(FailedToGetSensorData, match="sdr -v"):
        IPMIManagement().get_sensors_data(task_on(flags))


def test_an_unknown_form_of_sensors_is_an_error(sim: IpmiBmc, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "ipmitool"
    tool.write_text("#!/bin/sh\ncase \"$*\" in *-h) ;; *) echo 'Sensor ID : a';; esac\n")
    tool.chmod(0o755)
    task, management = task_on(sim, ipmi_port=free_udp_port()), IPMIManagement()
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(FailedToParseSensorData):
        management.get_sensors_data(task)


def test_an_nmi_is_sent_once(flags: IpmiBmc) -> None:
    before = len(flags.calls)
    IPMIManagement().inject_nmi(task_on(flags))
    assert requests(flags, "nmi", before) == ["nmi"]


# Vendor methods


def test_raw_bytes_reach_the_bmc(flags: IpmiBmc) -> None:
    vendor, task = IPMIVendorPassthru(), task_on(flags)
    vendor.validate(task, method="send_raw", raw_bytes="0x00 8 0x05 0xE0 0x04 0 0 0")
    before = len(flags.calls)
    vendor.send_raw(task, http_method="POST", raw_bytes="0x00 8 0x05 0xE0 0x04 0 0 0")
    assert requests(flags, "netfn=0x0 cmd=0x8", before) == ["netfn=0x0 cmd=0x8 data=05e004000000"]


@pytest.mark.parametrize(
    "given",
    ["0x00", "0x00 -H evil", "-f /etc/shadow", "0x00 0x100", "0x00;reboot 0", "0x00 0x0g", 12, ["0x00", "0x01"], "0 ²"],
    ids=repr,
)
def test_raw_bytes_are_bytes(flags: IpmiBmc, given: object) -> None:
    vendor, task = IPMIVendorPassthru(), task_on(flags)
    for call in (
        lambda: vendor.validate(task, method="send_raw", raw_bytes=given),
        lambda: vendor.send_raw(task, raw_bytes=given),
    ):
        with pytest.raises(InvalidParameterValue, match="raw_bytes"):
            call()


def test_raw_bytes_are_required(flags: IpmiBmc) -> None:
    with pytest.raises(MissingParameterValue, match="raw_bytes"):
        IPMIVendorPassthru().validate(task_on(flags), method="send_raw")


@pytest.mark.parametrize("warm", [False, "no"])
def test_a_bmc_is_restarted(flags: IpmiBmc, warm: object) -> None:
    before = len(flags.calls)
    IPMIVendorPassthru().bmc_reset(task_on(flags), warm=warm)
    # The tool does not wait for a BMC that restarts.
    eventually(lambda: requests(flags, "cold reset", before), ["cold reset"])
    with pytest.raises(InvalidParameterValue, match="warm"):
        IPMIVendorPassthru().validate(task_on(flags), method="bmc_reset", warm="lukewarm")


@pytest.mark.parametrize("kind", ["clean", "deploy", "service"])
def test_raw_bytes_are_a_step(flags: IpmiBmc, kind: Any) -> None:
    before = len(flags.calls)
    step = {"interface": "vendor", "step": "send_raw", "args": {"raw_bytes": "0x06 0x01"}}
    assert IPMIVendorPassthru().execute_step(kind, task_on(flags), step) is None
    assert len(requests(flags, "netfn=0x6 cmd=0x1", before)) >= 1
    (known,) = IPMIVendorPassthru().all_steps(kind)
    assert (known["step"], known.get("requires_ramdisk")) == ("send_raw", {"clean": False, "service": True}.get(kind))


def test_both_methods_are_listed() -> None:
    terms = IPMIVendorPassthru().vendor_routes
    assert {name: (route["http_methods"], route["async"]) for name, route in terms.items()} == {
        "bmc_reset": (["POST"], True),
        "send_raw": (["POST"], True),
    }


# Speed Select


def test_speed_select_sets_each_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "ipmitool"
    tool.write_text(f'#!/bin/sh\ncase "$*" in *-h) ;; *) echo "$*" >> {tmp_path}/calls;; esac\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    task = work_on(driver="intel-ipmi", driver_info={"ipmi_address": HOST, "ipmi_port": free_udp_port()})
    management = IntelIPMIManagement()
    step = {"step": "configure_intel_speedselect", "args": {"intel_speedselect_config": "0x01", "socket_count": "2"}}
    assert management.execute_deploy_step(task, step) is None
    sent = [line.split(" raw ")[1] for line in (tmp_path / "calls").read_text().splitlines()]
    assert sent == ["0x2c 0x41 0x04 0x00 0x00 0x01", "0x2c 0x41 0x04 0x00 0x01 0x01"]
    for wrong in ({"intel_speedselect_config": "0x03"}, {"intel_speedselect_config": "0x01", "socket_count": 0}):
        with pytest.raises(InvalidParameterValue):
            management.execute_deploy_step(task, step | {"args": wrong})
    assert [(one["step"], one["priority"]) for one in management.get_deploy_steps(task)] == [(step["step"], 200)]
