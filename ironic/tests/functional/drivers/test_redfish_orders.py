"""Which orders a Redfish BMC gets, and how often."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, PowerStateFailure, UnsupportedDriverExtension
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import states
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.tests.functional.drivers.scripted_bmc import HANG_UP, SYSTEM, ScriptedBmc, scripted_bmc
from ironic.tests.unit.drivers.machine import Work, work_on


@pytest.fixture
def script() -> Iterator[ScriptedBmc]:
    with scripted_bmc() as bmc:
        yield bmc


def on(bmc: ScriptedBmc, **columns: Any) -> Work:
    return work_on(driver_info={"redfish_address": bmc.address, "redfish_system_id": SYSTEM}, **columns)


def test_an_order_whose_answer_is_lost_is_not_sent_again(script: ScriptedBmc) -> None:
    script.answers = [HANG_UP]
    with pytest.raises(PowerStateFailure, match=script.address):
        RedfishPower().set_power_state(on(script), states.POWER_ON)
    assert script.sent() == [{"ResetType": "On"}]


@pytest.mark.parametrize(
    "power_state, before, sent",
    [
        (states.POWER_ON, "Off", ["On"]),
        (states.POWER_ON, "On", []),
        (states.POWER_OFF, "On", ["ForceOff"]),
        (states.POWER_OFF, "Off", []),
        (states.SOFT_POWER_OFF, "On", ["GracefulShutdown"]),
        (states.REBOOT, "On", ["ForceOff", "On"]),
        (states.REBOOT, "Off", ["On"]),
        (states.SOFT_REBOOT, "On", ["GracefulShutdown", "On"]),
    ],
)
def test_it_sends_the_orders_that_are_needed(power_state: str, before: str, sent: list[str]) -> None:
    with scripted_bmc(before) as script:
        RedfishPower().set_power_state(on(script), power_state)
    assert [order["ResetType"] for order in script.sent()] == sent


@pytest.mark.parametrize(
    "power_state, before, sent",
    [
        (states.REBOOT, "On", ["ForceRestart"]),
        (states.REBOOT, "Off", ["On"]),
        (states.SOFT_REBOOT, "On", ["GracefulRestart"]),
        (states.SOFT_REBOOT, "Off", ["On"]),
    ],
)
def test_a_node_that_must_stay_on_gets_one_order(power_state: str, before: str, sent: list[str]) -> None:
    with scripted_bmc(before) as script:
        RedfishPower().set_power_state(on(script, disable_power_off=True), power_state)
    assert [order["ResetType"] for order in script.sent()] == sent


@pytest.mark.parametrize("power_state, status", [(states.POWER_ON, 503), (states.POWER_OFF, 409)])
def test_what_else_a_bmc_refuses_is_not_repeated(power_state: str, status: int, conf: Callable[..., Any]) -> None:
    conf(redfish__power_on_conflict_retry_interval=1)
    with scripted_bmc("On" if power_state == states.POWER_OFF else "Off") as script:
        script.answers = [status]
        with pytest.raises(PowerStateFailure, match=str(status)):
            RedfishPower().set_power_state(on(script), power_state)
        assert len(script.orders) == 1


@pytest.mark.parametrize(
    "shown, expected",
    [
        ("On", states.POWER_ON),
        ("PoweringOn", states.POWER_ON),
        ("Off", states.POWER_OFF),
        ("PoweringOff", states.POWER_OFF),
        ("Paused", None),
        (None, None),
    ],
)
def test_it_translates_the_power_state(shown: str | None, expected: str | None) -> None:
    with scripted_bmc() as script:
        script.documents[SYSTEM]["PowerState"] = shown
        assert RedfishPower().get_power_state(on(script)) == expected


@pytest.mark.parametrize(
    "step, sent",
    [
        ("clear_secure_boot_keys", "DeleteAllKeys"),
        ("reset_secure_boot_keys_to_default", "ResetAllKeysToDefault"),
    ],
)
@pytest.mark.parametrize("kind", ["clean", "deploy"])
def test_it_resets_secure_boot_keys(kind: str, step: str, sent: str) -> None:
    with scripted_bmc(SecureBoot={"@odata.id": f"{SYSTEM}/SecureBoot"}) as script:
        execute = getattr(RedfishManagement(), f"execute_{kind}_step")
        assert execute(on(script), {"step": step, "interface": "management"}) is None
    assert script.sent() == [{"ResetKeysType": sent}]


@pytest.mark.parametrize(
    "offered, shown", [("N/A", "none"), (["DeletePK"], "{DeletePK}"), (["ResetAllKeysToDefault", "x"], "{ResetAllKeys")]
)
def test_what_the_bmc_does_not_offer_is_said_in_words_of_redfish(offered: Any, shown: str) -> None:
    place = f"{SYSTEM}/SecureBoot"
    with scripted_bmc(SecureBoot={"@odata.id": place}) as script:
        action = script.documents[place]["Actions"]["#SecureBoot.ResetKeys"]
        action["ResetKeysType@Redfish.AllowableValues"] = offered
        with pytest.raises(RedfishError) as failure:
            RedfishManagement().clear_secure_boot_keys(on(script))
    assert f'value "DeleteAllKeys" is invalid. Valid values are: {shown}' in str(failure.value)
    assert "SecureBootResetKeysType" not in str(failure.value)


def test_a_machine_without_secure_boot_says_so(script: ScriptedBmc) -> None:
    with pytest.raises(UnsupportedDriverExtension, match="secure_boot"):
        RedfishManagement().get_secure_boot_state(on(script))
    with pytest.raises(UnsupportedDriverExtension, match="secure_boot"):
        RedfishManagement().set_secure_boot_state(on(script), True)
    assert script.sent() == []


def test_secure_boot_needs_boot_mode_uefi() -> None:
    boot = {"BootSourceOverrideMode": "Legacy", "BootSourceOverrideTarget": "None"}
    with scripted_bmc(Boot=boot, SecureBoot={"@odata.id": f"{SYSTEM}/SecureBoot"}) as script:
        with pytest.raises(RedfishError, match="set boot mode uefi"):
            RedfishManagement().set_secure_boot_state(on(script), True)
        RedfishManagement().set_secure_boot_state(on(script), False)
    assert script.sent() == []


@pytest.mark.parametrize("persistent, how_long", [(True, "Continuous"), (False, "Once")])
def test_it_says_for_how_long_a_boot_device_is_set(persistent: bool, how_long: str) -> None:
    boot = {"BootSourceOverrideTarget": "None", "BootSourceOverrideTarget@Redfish.AllowableValues": ["Pxe", "Hdd"]}
    with scripted_bmc(Boot=boot) as script:
        management = RedfishManagement()
        management.set_boot_device(on(script), "pxe", persistent=persistent)
        with pytest.raises(InvalidParameterValue, match="it supports pxe, disk"):
            management.set_boot_device(on(script), "cdrom")
    assert script.sent() == [
        {"Boot": {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": how_long}},
    ]


@pytest.mark.parametrize(
    "boot, expected",
    [
        (None, {"boot_device": None, "persistent": None}),
        ({"BootSourceOverrideEnabled": "Disabled"}, {"boot_device": None, "persistent": None}),
        (
            {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Hdd"},
            {"boot_device": "disk", "persistent": False},
        ),
        (
            {"BootSourceOverrideEnabled": "Continuous", "BootSourceOverrideTarget": "UsbCd"},
            {"boot_device": "cdrom", "persistent": True},
        ),
        (
            {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Utilities"},
            {"boot_device": None, "persistent": False},
        ),
    ],
)
def test_it_translates_the_boot_device(boot: dict[str, Any] | None, expected: dict[str, Any]) -> None:
    with scripted_bmc(Boot=boot) as script:
        assert RedfishManagement().get_boot_device(on(script)) == expected


@pytest.mark.parametrize("raw", [b"<html>Welcome</html>", b"[1]", b'{"a":', b"\xff", b'{"Systems": 5}', b"5"])
@pytest.mark.parametrize("system_id", [None, SYSTEM])
def test_an_answer_that_is_no_redfish_is_said_to_be_none(
    script: ScriptedBmc, raw: bytes, system_id: str | None
) -> None:
    script.raw = raw
    task = work_on(driver_info={"redfish_address": script.address, "redfish_system_id": system_id})
    with pytest.raises(RedfishError, match="redfish_address") as failure:
        RedfishPower().get_power_state(task)
    assert script.address in str(failure.value)


def test_it_sends_an_nmi(script: ScriptedBmc) -> None:
    RedfishManagement().inject_nmi(on(script))
    assert script.sent() == [{"ResetType": "Nmi"}]


def test_a_bmc_that_tells_of_no_network_interfaces_says_so(script: ScriptedBmc) -> None:
    # In-band inspection goes on without them; any other error would stop it.
    with pytest.raises(UnsupportedDriverExtension, match="get_mac_addresses"):
        RedfishManagement().get_mac_addresses(on(script))
