"""How often a task reads the system of a machine: once within a moment, and anew after a change."""

from typing import Any

import pytest

from ironic.conductor import bmc_refresh
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import states
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.bmc.bmc_gateway import RECENT, RecentAnswers
from ironic.drivers.modules.netboot import firmware_boot
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.tests.conftest import Setter
from ironic.tests.functional.drivers.scripted_bmc import SYSTEM, ScriptedBmc, scripted_bmc
from ironic.tests.unit.drivers.machine import Work, work_on

# The library reads a resource again before it patches it.
FOR_ETAG = 1
# A BMC may accept a boot device and not store it.
TO_SEE_IT_STORED = 1

UEFI = {
    "BootSourceOverrideEnabled": "Once",
    "BootSourceOverrideMode": "UEFI",
    "BootSourceOverrideTarget": "None",
    "BootSourceOverrideTarget@Redfish.AllowableValues": ["Pxe", "Hdd"],
}


def on(bmc: ScriptedBmc, **columns: Any) -> Work:
    task = work_on(driver_info={"redfish_address": bmc.address, "redfish_system_id": SYSTEM}, **columns)
    task.driver = BareDriver({"management": RedfishManagement(), "power": RedfishPower()})
    return task


def reads(bmc: ScriptedBmc) -> int:
    return bmc.asked.count(SYSTEM)


def test_setting_up_network_boot_reads_the_system_once() -> None:
    with scripted_bmc(Boot=UEFI) as script:
        task = on(script, properties={"capabilities": "boot_mode:uefi"})
        firmware_boot.boot_from_network(task, "pxe", persistent=False)
        assert (reads(script), len(script.sent())) == (1 + FOR_ETAG + TO_SEE_IT_STORED, 1)


def test_a_power_change_reads_the_system_before_and_after() -> None:
    with scripted_bmc("Off") as script:
        on(script, power_state=states.POWER_OFF).change_power(states.POWER_ON)
        assert (reads(script), script.sent()) == (2, [{"ResetType": "On"}])


def test_a_refresh_reads_the_system_once(conf: Setter) -> None:
    conf(conductor__node_history=False)
    health = {"Status": {"Health": "OK"}, "Manufacturer": "Acme"}
    with scripted_bmc("On", Boot=UEFI, SecureBoot={"@odata.id": f"{SYSTEM}/SecureBoot"}, **health) as script:
        task = on(script)
        assert task.power.get_power_state(task) == states.POWER_ON
        bmc_refresh.refresh(task, "a test")
        assert reads(script) == 1
    node = task.node
    assert (node.boot_mode, node.secure_boot, node.health, node.properties) == ("uefi", False, "OK", {"vendor": "Acme"})


@pytest.mark.parametrize(
    "status, health",
    [
        ({"Status": {"Health": "Warning", "HealthRollup": "Critical"}}, "CRITICAL"),
        ({"Status": {"Health": "OK", "HealthRollup": "Warning"}}, "WARNING"),
        ({"Status": {"Health": "Critical", "HealthRollup": "OK"}}, "CRITICAL"),
        ({"Status": {"HealthRollup": "Critical"}}, "CRITICAL"),
        ({"Status": {"Health": "OK", "HealthRollup": None}}, "OK"),
        ({}, None),
    ],
)
def test_the_health_counts_the_parts_of_the_machine(status: dict[str, Any], health: str | None) -> None:
    with scripted_bmc(**status) as script:
        assert RedfishManagement().get_node_health(on(script)) == health


@pytest.mark.parametrize(
    "vendor, manufacturer, found",
    [
        ("Acme Root", "Acme", "Acme Root"),
        (None, "Acme", "Acme"),
        (7, "Acme", "Acme"),
        ("", ["Acme"], None),
        ("Ac\x1b[2Jme", "Acme", "Ac [2Jme"),
        (None, "A" * 10**6, f"{'A' * 499}…"),
    ],
)
def test_the_vendor_of_the_service_root_comes_first(vendor: Any, manufacturer: Any, found: str | None) -> None:
    with scripted_bmc(Manufacturer=manufacturer) as script:
        script.documents["/redfish/v1"]["Vendor"] = vendor
        assert RedfishManagement().detect_vendor(on(script)) == found


def test_a_change_ends_the_moment_even_if_it_fails() -> None:
    with scripted_bmc("Off", Boot=UEFI) as script:
        task, management = on(script), RedfishManagement()
        script.answers = [400]
        management.get_boot_mode(task)
        with pytest.raises(RedfishError):
            management.set_boot_mode(task, "uefi")
        management.get_boot_mode(task)
        assert reads(script) == 2 + FOR_ETAG


def test_tasks_share_what_was_read_a_moment_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_bmc("Off") as script:
        task, management = on(script), RedfishManagement()
        management.get_boot_mode(task)
        management.get_boot_mode(on(script))
        assert reads(script) == 1
        monkeypatch.setattr(RecentAnswers, "SECONDS", -1.0)
        management.get_boot_mode(task)
        assert reads(script) == 2


def test_the_power_state_is_always_read_anew() -> None:
    with scripted_bmc("Off") as script:
        task = on(script)
        assert task.power.get_power_state(task) == states.POWER_OFF
        script.documents[SYSTEM]["PowerState"] = "On"
        assert task.power.get_power_state(task) == states.POWER_ON


def test_what_was_read_long_ago_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RecentAnswers, "SECONDS", -1.0)
    with scripted_bmc("Off") as script:
        for _ in range(9):
            RedfishManagement().get_boot_mode(on(script))
        assert len(RECENT) <= 1
