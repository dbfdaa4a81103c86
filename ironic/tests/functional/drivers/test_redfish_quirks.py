"""BMCs that behave otherwise: those that are known by the machine or by an error, and orders in several forms."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, PowerStateFailure
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import states
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.wire.differences import TABLE, Difference
from ironic.drivers.modules.redfish.wire.quirks import behaves, depends_on_firmware
from ironic.tests.functional.drivers.hostile_bmc import SYSTEM, Handler, HostileBmc, hostile_bmc
from ironic.tests.unit.drivers.machine import Work, work_on

RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"
REMEMBERED = "redfish_boot_device"
BOOT = {
    "BootSourceOverrideEnabled": "Once",
    "BootSourceOverrideMode": "UEFI",
    "BootSourceOverrideTarget": "Pxe",
    "BootSourceOverrideTarget@Redfish.AllowableValues": ["Pxe", "Hdd", "Cd"],
}


@pytest.fixture(autouse=True)
def impatient(conf: Callable[..., Any]) -> None:
    conf(
        redfish__post_boot_retry_delay=1,
        redfish__power_on_conflict_retry_interval=1,
        redfish__boot_mode_config_timeout=60,
    )


@pytest.fixture
def bmc() -> Iterator[HostileBmc]:
    with hostile_bmc(Boot=dict(BOOT)) as running:
        yield running


def on(bmc: HostileBmc, vendor: str | None = None, **info: Any) -> Work:
    task = work_on(
        driver_info=bmc.driver_info(), properties={"vendor": vendor} if vendor else {}, driver_internal_info=dict(info)
    )
    task.driver = BareDriver({"power": RedfishPower(), "management": RedfishManagement()})
    return task


def patches(bmc: HostileBmc, answers: list[tuple[int, str]] | None = None) -> list[dict[str, Any]]:
    """Have the BMC take changes of the boot override, after it gave ``answers``; return the list of what came."""
    came: list[dict[str, Any]] = []
    left = list(answers or [])
    others = bmc.misbehave

    def misbehave(handler: Handler) -> bool:
        if handler.command != "PATCH":
            return others(handler)
        sent = json.loads(handler.content)["Boot"]
        came.append(sent)
        if left:
            status, text = left.pop(0)
            handler.answer(status, {"error": {"code": text, "message": text}})
            return True
        bmc.documents[SYSTEM]["Boot"].update(sent)
        return False

    bmc.misbehave = misbehave
    return came


@pytest.mark.difference("full boot request")
@pytest.mark.parametrize(
    "vendor", ["AMI", "American Megatrends International, LLC", "ASRockRack", "redfish_compatible"]
)
def test_full_boot_requests(bmc: HostileBmc, vendor: str) -> None:
    came = patches(bmc)
    RedfishManagement().set_boot_device(on(bmc, vendor), "disk")
    RedfishManagement().set_boot_mode(on(bmc, vendor), "uefi")
    every = {"BootSourceOverrideTarget", "BootSourceOverrideEnabled", "BootSourceOverrideMode"}
    assert [set(sent) for sent in came] == [every, every]


@pytest.mark.parametrize("vendor", [None, "Dell Inc.", "Supermicro Computer"])
def test_other_bmcs_get_what_changes(bmc: HostileBmc, vendor: str | None) -> None:
    came = patches(bmc)
    RedfishManagement().set_boot_device(on(bmc, vendor), "disk")
    assert came == [{"BootSourceOverrideTarget": "Hdd"}]


@pytest.mark.difference("duration with the device", "mode after the device")
def test_a_duration_that_is_always_sent_and_a_mode_that_is_set_again(bmc: HostileBmc) -> None:
    came = patches(bmc)
    taken = bmc.misbehave

    def misbehave(handler: Handler) -> bool:
        ended = taken(handler)
        if handler.command == "PATCH" and "BootSourceOverrideTarget" in came[-1]:
            bmc.documents[SYSTEM]["Boot"]["BootSourceOverrideMode"] = "Legacy"
        return ended

    bmc.misbehave = misbehave
    RedfishManagement().set_boot_device(on(bmc, "SuperMicro"), "disk")
    assert came == [
        {"BootSourceOverrideTarget": "Hdd", "BootSourceOverrideEnabled": "Once"},
        {"BootSourceOverrideMode": "UEFI"},
    ]


@pytest.mark.difference("refusal during the self-test")
def test_refusals_during_the_self_test(bmc: HostileBmc) -> None:
    came = patches(bmc, [(400, "iLO.2.14.UnableToModifyDuringSystemPOST")] * 2)
    RedfishManagement().set_boot_device(on(bmc), "disk")
    assert len(came) == 3


def test_other_refusals_are_not_repeated(bmc: HostileBmc) -> None:
    came = patches(bmc, [(400, "Base.1.0.PropertyValueNotInList")])
    with pytest.raises(RedfishError, match="PropertyValueNotInList"):
        RedfishManagement().set_boot_device(on(bmc), "disk")
    assert len(came) == 1


@pytest.mark.difference("one boot only")
def test_a_device_for_one_boot_only_is_set_again_before_each_boot(bmc: HostileBmc) -> None:
    came = patches(bmc, [(400, "Continuous is not supported")])
    task = on(bmc)
    RedfishManagement().set_boot_device(task, "disk", persistent=True)
    assert [sent["BootSourceOverrideEnabled"] for sent in came] == ["Continuous", "Once"]
    assert task.node.saved["driver_internal_info"] == {REMEMBERED: "disk"}
    bmc.documents[SYSTEM]["Boot"]["BootSourceOverrideTarget"] = "None"
    for power in (states.POWER_ON, states.REBOOT):
        RedfishPower().set_power_state(task, power)
        assert came[-1]["BootSourceOverrideTarget"] == "Hdd"
    assert len(came) == 4
    RedfishManagement().set_boot_device(task, "pxe")
    assert task.node.saved["driver_internal_info"] == {}


@pytest.mark.parametrize("former, source", [("hdd", "Hdd"), ("cd", "Cd"), ("disk", "Hdd")])
def test_devices_that_earlier_releases_remembered(bmc: HostileBmc, former: str, source: str) -> None:
    came = patches(bmc)
    RedfishPower().set_power_state(on(bmc, redfish_boot_device=former), states.POWER_ON)
    assert came[0]["BootSourceOverrideTarget"] == source


@pytest.mark.parametrize("former", ["tape", "bios"])
def test_a_device_that_can_not_be_restored_does_not_keep_the_machine_off(bmc: HostileBmc, former: str) -> None:
    RedfishPower().set_power_state(on(bmc, redfish_boot_device=former), states.POWER_ON)
    assert bmc.documents[SYSTEM]["PowerState"] == "On"


@pytest.mark.difference("refusal without a licence")
def test_secure_boot_without_a_licence_is_unknown(bmc: HostileBmc) -> None:
    bmc.documents[SYSTEM]["SecureBoot"] = {"@odata.id": f"{SYSTEM}/SecureBoot"}

    def misbehave(handler: Handler) -> bool:
        if handler.path.endswith("/SecureBoot"):
            handler.answer(403, {"error": {"code": "SMC.1.0.OemLicenseNotPassed", "message": "no licence"}})
        return handler.path.endswith("/SecureBoot")

    bmc.misbehave = misbehave
    assert RedfishManagement().get_secure_boot_state(on(bmc)) is None


@pytest.mark.parametrize("odd", [None, "perhaps", 1, {}])
def test_secure_boot_that_the_bmc_does_not_report_is_unknown(bmc: HostileBmc, odd: Any) -> None:
    place = f"{SYSTEM}/SecureBoot"
    bmc.documents[SYSTEM]["SecureBoot"] = {"@odata.id": place}
    bmc.documents[place] = {"@odata.id": place, "SecureBootEnable": odd}
    assert RedfishManagement().get_secure_boot_state(on(bmc)) is None


def refuse_resets(bmc: HostileBmc, status: int, text: str, message: str = "", *, reach: bool, times: int = 1) -> None:
    """Have the BMC refuse so many requests; ``reach``: the machine is in the wanted state then."""
    left = [times]

    def misbehave(handler: Handler) -> bool:
        if handler.path != RESET or not left[0]:
            return False
        left[0] -= 1
        if reach:
            bmc.documents[SYSTEM]["PowerState"] = "On"
        more = [{"MessageId": message, "Message": text}] if message else []
        handler.answer(status, {"error": {"message": text, "@Message.ExtendedInfo": more}})
        return True

    bmc.misbehave = misbehave


@pytest.mark.difference("refusal of the present state")
@pytest.mark.parametrize("status", [400, 409])
def test_a_refusal_because_the_machine_is_on_already_is_none(bmc: HostileBmc, status: int) -> None:
    refuse_resets(bmc, status, "The host is powered ON", reach=True)
    RedfishPower().set_power_state(on(bmc), states.POWER_ON)
    assert bmc.count("POST", RESET) == 1


def test_a_refusal_that_names_the_state_counts_while_the_bmc_reports_none(bmc: HostileBmc) -> None:
    bmc.documents[SYSTEM]["PowerState"] = None

    def misbehave(handler: Handler) -> bool:
        if handler.path == RESET:
            handler.answer(400, {"error": {"message": "Server is already powered OFF."}})
            bmc.misbehave = report_off
        return handler.path == RESET

    def report_off(handler: Handler) -> bool:
        # The first look after the refusal still finds no state.
        if bmc.count("GET", SYSTEM) > 3:
            bmc.documents[SYSTEM]["PowerState"] = "Off"
        return False

    bmc.misbehave = misbehave
    RedfishPower().set_power_state(on(bmc), states.POWER_OFF)
    assert bmc.count("POST", RESET) == 1


@pytest.mark.difference("busy at power on")
def test_a_bmc_that_is_busy_at_power_on_is_asked_again(bmc: HostileBmc) -> None:
    refuse_resets(bmc, 409, "busy", "Base.1.18.ActionParameterValueConflict", reach=False)
    RedfishPower().set_power_state(on(bmc), states.POWER_ON)
    assert bmc.count("POST", RESET) == 2


def test_a_bmc_that_stays_busy_at_power_on_is_an_error(bmc: HostileBmc, conf: Callable[..., Any]) -> None:
    conf(redfish__power_on_conflict_retry_attempts=1)
    refuse_resets(bmc, 409, "busy", "Base.1.18.ActionParameterValueConflict", reach=False, times=9)
    with pytest.raises(PowerStateFailure, match="409"):
        RedfishPower().set_power_state(on(bmc), states.POWER_ON)
    assert bmc.count("POST", RESET) == 2


def test_another_conflict_at_power_on_is_an_error_at_once(bmc: HostileBmc) -> None:
    refuse_resets(bmc, 409, "the chassis door is open", "Base.1.18.ResourceInUse", reach=False)
    with pytest.raises(PowerStateFailure, match="the chassis door is open"):
        RedfishPower().set_power_state(on(bmc), states.POWER_ON)
    assert bmc.count("POST", RESET) == 1


def test_a_refusal_of_another_state_is_an_error(bmc: HostileBmc) -> None:
    refuse_resets(bmc, 400, "no", reach=False)
    with pytest.raises(PowerStateFailure, match="no"):
        RedfishPower().set_power_state(on(bmc), states.POWER_ON)


# Boot mode and secure boot that take effect at a restart


def test_a_boot_mode_takes_effect_by_a_restart(bmc: HostileBmc) -> None:
    bmc.documents[SYSTEM]["Boot"]["BootSourceOverrideMode"] = "Legacy"
    bmc.documents[SYSTEM]["PowerState"] = "Off"

    def misbehave(handler: Handler) -> bool:
        if handler.path == RESET and b'"On"' in handler.content:
            bmc.documents[SYSTEM]["Boot"]["BootSourceOverrideMode"] = "UEFI"
        return False

    bmc.misbehave = misbehave
    RedfishManagement().set_boot_mode(on(bmc), "uefi")
    assert bmc.documents[SYSTEM]["PowerState"] == "Off", "as before"
    assert RedfishManagement().get_boot_mode(on(bmc)) == "uefi"


def test_a_boot_mode_that_takes_no_effect_is_an_error(bmc: HostileBmc, conf: Callable[..., Any]) -> None:
    conf(redfish__boot_mode_config_timeout=1)
    with pytest.raises(RedfishError, match="does not report it within 1 seconds"):
        RedfishManagement().set_boot_mode(on(bmc), "bios")


@pytest.mark.difference("ETags refused")
@pytest.mark.parametrize("taken", ['W/"1"', '"1"', "*", None])
def test_an_etag_that_the_bmc_refuses_is_sent_in_its_strong_form_and_then_not_at_all(
    bmc: HostileBmc, taken: str | None
) -> None:
    tags: list[str | None] = []

    def misbehave(handler: Handler) -> bool:
        if handler.command == "GET" and handler.path == SYSTEM:
            handler.answer(200, bmc.documents[SYSTEM], {"ETag": 'W/"1"'})
            return True
        if handler.command != "PATCH":
            return False
        tags.append(handler.headers["If-Match"])
        if tags[-1] != taken:
            handler.answer(412, {})
        return tags[-1] != taken

    bmc.misbehave = misbehave
    RedfishManagement().set_boot_device(on(bmc), "disk")
    order = ['W/"1"', '"1"', "*", None]
    assert tags == order[: order.index(taken) + 1]


@pytest.mark.difference("CD on USB")
def test_a_cd_on_usb_is_ordered_where_it_is_offered(bmc: HostileBmc) -> None:
    offered = bmc.documents[SYSTEM]["Boot"]["BootSourceOverrideTarget@Redfish.AllowableValues"]
    bmc.documents[SYSTEM] |= {"Manufacturer": "Supermicro"}
    came = patches(bmc)
    RedfishManagement().set_boot_device(on(bmc, "Supermicro"), "cdrom")
    bmc.documents[SYSTEM]["Boot"]["BootSourceOverrideTarget@Redfish.AllowableValues"] = [*offered, "UsbCd"]
    RedfishManagement().set_boot_device(on(bmc, "Supermicro"), "cdrom")
    assert [sent["BootSourceOverrideTarget"] for sent in came] == ["Cd", "UsbCd"]
    assert RedfishManagement().get_boot_device(on(bmc))["boot_device"] == "cdrom"


def test_a_device_that_the_bmc_does_not_offer_is_refused_by_name(bmc: HostileBmc) -> None:
    with pytest.raises(InvalidParameterValue, match="it supports pxe, disk, cdrom"):
        RedfishManagement().set_boot_device(on(bmc), "uefihttp")


@pytest.mark.parametrize("row", [row for row in TABLE if row.vendor], ids=lambda row: row.name)
def test_a_row_is_for_its_vendors_only(bmc: HostileBmc, row: Difference) -> None:
    assert row.behaviour is not None, "a row that is met at all machines has no vendor"
    for vendor in row.vendor.strip("^$").split("|"):
        node = on(bmc, vendor.replace(r"\b", "")).node
        assert depends_on_firmware(node, row.behaviour) if row.firmware else behaves(node, row.behaviour)
    assert not behaves(on(bmc, "another").node, row.behaviour)
    assert not behaves(on(bmc).node, row.behaviour)
