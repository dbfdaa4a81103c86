"""The Redfish interfaces at sushy-tools' emulator with its driver for libvirt."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.flows import states
from ironic.drivers.modules.redfish.bios import RedfishBIOS
from ironic.drivers.modules.redfish.bmc_survey import SURVEY
from ironic.drivers.modules.redfish.inspect import RedfishInspect
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.tests.databases import sqlite_store
from ironic.tests.functional.drivers.test_bmc_survey import INTERFACES
from ironic.tests.redfish_bmc import RedfishBmc, libvirt_bmc
from ironic.tests.unit.drivers.machine import Work, work_on
from ironic.tests.unit.inspection import lab


@pytest.fixture(scope="module")
def bmc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedfishBmc]:
    with libvirt_bmc(tmp_path_factory.mktemp("libvirt")) as running:
        yield running


@pytest.fixture
def task(bmc: RedfishBmc) -> Work:
    return work_on(driver="redfish", driver_info=bmc.driver_info())


@pytest.mark.parametrize(
    ("order", "after"),
    [
        (states.POWER_ON, states.POWER_ON),
        (states.REBOOT, states.POWER_ON),
        (states.SOFT_REBOOT, states.POWER_ON),
        (states.SOFT_POWER_OFF, states.POWER_OFF),
        (states.POWER_OFF, states.POWER_OFF),
    ],
)
def test_it_switches_the_machine(task: Work, order: str, after: str) -> None:
    power = RedfishPower()
    power.set_power_state(task, states.POWER_ON, timeout=30)
    power.set_power_state(task, order, timeout=30)
    assert power.get_power_state(task) == after


def test_it_sets_the_boot_device_that_the_machine_has(task: Work) -> None:
    management = RedfishManagement()
    for device in ("pxe", "disk"):
        management.set_boot_device(task, device, persistent=True)
        assert management.get_boot_device(task) == {"boot_device": device, "persistent": True}
    with pytest.raises(RedfishError, match="Cd does not exist"):
        management.set_boot_device(task, "cdrom", persistent=True)
    assert management.get_boot_device(task) == {"boot_device": "disk", "persistent": True}


def test_its_machine_has_what_all_interfaces_need(task: Work) -> None:
    assert SURVEY.findings(task, INTERFACES) == {}


def test_it_reads_the_settings_of_the_bios(task: Work) -> None:
    RedfishBIOS().cache_bios_settings(task)
    settings = dict(task.store.bios_settings.rows(("name", "value"), task.node.id))
    assert settings["BootMode"] == "Uefi"
    assert settings["NumCores"] == "10"


def test_it_inspects_the_machine(bmc: RedfishBmc, tmp_path: Path) -> None:
    store = sqlite_store(tmp_path)
    try:
        node = lab.new_node(store, driver="redfish", inspect_interface="redfish", driver_info=bmc.driver_info())
        work: Any = lab.work_on(store, node)
        assert RedfishInspect().inspect_hardware(work) == states.MANAGEABLE
        assert [port.address for port in store.ports.find(node_id=node.id)] == bmc.mac_addresses()
        assert store.nodes.get(node.uuid).properties["memory_mb"] == 8192
    finally:
        store.close()
