"""What the conductor refreshes on a node, read from a real BMC emulator."""

from ironic.conductor import bmc_refresh
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules import fake, noop
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.tests.conftest import Setter
from ironic.tests.redfish_bmc import RedfishBmc
from ironic.tests.unit.drivers.machine import Work, work_on


def refreshed(task: Work) -> Work:
    links = {"management": RedfishManagement(), "bios": noop.NoBIOS(), "firmware": fake.FakeFirmware()}
    task.driver = BareDriver(links)
    bmc_refresh.refresh(task, "a test")
    return task


def test_a_node_is_as_its_bmc_reports(task: Work, bmc: RedfishBmc, conf: Setter) -> None:
    conf(conductor__node_history=False)
    RedfishManagement().set_boot_mode(task, "uefi")
    RedfishManagement().set_secure_boot_state(task, True)
    node = refreshed(task).node
    assert (node.boot_mode, node.secure_boot, node.health) == ("uefi", True, "OK")
    assert node.properties == {"vendor": "Sushy Emulator"}


def test_a_bmc_that_does_not_answer_changes_nothing_and_fails_nothing() -> None:
    unreachable = {"redfish_address": "http://127.0.0.1:1", "redfish_system_id": "/redfish/v1/Systems/1"}
    node = refreshed(work_on(driver_info=unreachable, boot_mode="bios", health="OK")).node
    assert (node.boot_mode, node.secure_boot, node.health, node.properties) == ("bios", None, "OK", {})
