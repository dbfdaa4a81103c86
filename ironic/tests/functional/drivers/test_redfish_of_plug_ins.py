"""Redfish BMCs as plug-ins of third parties read and change them."""

from collections.abc import Iterator
from typing import Any

import pytest
import sushy

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.errors.hardware_errors import RedfishConnectionError, RedfishError
from ironic.core.flows import states
from ironic.drivers.modules.redfish import bios as bios_module
from ironic.drivers.modules.redfish import boot, management, utils
from ironic.drivers.modules.redfish.bios import RedfishBIOS
from ironic.rpc.hash_ring import HashRingManager
from ironic.services import process_store
from ironic.tests.conftest import Setter
from ironic.tests.functional.drivers.scripted_bmc import RESET, SYSTEM, ScriptedBmc, scripted_bmc
from ironic.tests.functional.drivers.test_redfish_bios import BIOS, KEY, PENDING, on
from ironic.tests.unit.drivers.machine import OwnStore, Work, look, work_on

RESTART = [RESET, RESET]  # off and on
LINK = "MellanoxNetworkAdapter__Slot1_NetworkLinkType"


@pytest.fixture(autouse=True)
def of_process(monkeypatch: pytest.MonkeyPatch) -> None:
    store: Any = OwnStore()._made
    ring = HashRingManager(store, heartbeat_timeout=60)
    monkeypatch.setattr(process_store, "_OF_PROCESS", [process_store.Database(store, ring)])


@pytest.fixture
def bmc() -> Iterator[ScriptedBmc]:
    with scripted_bmc("On", Bios={"@odata.id": BIOS}, Model="M1") as script:
        script.documents |= {
            BIOS: {
                "Id": "Bios",
                "Attributes": {LINK: "Infiniband", "Turbo": "On"},
                "Actions": {"#Bios.ResetBios": {"target": f"{BIOS}/Reset"}},
                "@Redfish.Settings": {"SettingsObject": {"@odata.id": PENDING}},
            },
            PENDING: {"Id": "Settings", "Attributes": {}},
        }
        yield script


def test_a_system_leads_to_its_resources(bmc: ScriptedBmc) -> None:
    system = utils.get_system(on(bmc).node)
    assert (system.model, system.power_state.value) == ("M1", "On")
    assert system.bios.attributes == {LINK: "Infiniband", "Turbo": "On"}
    assert [key for key in system.bios.attributes if key.startswith("Mellanox")] == [LINK]
    assert not hasattr(system, "colour") and "System" in repr(system)
    system.reset_system(sushy.ResetType.ON)
    assert bmc.orders == [(RESET, {"ResetType": "On"})]


MANAGER, CHASSIS = "/redfish/v1/Managers/1", "/redfish/v1/Chassis/1"
DRIVE = f"{MANAGER}/VirtualMedia/Cd"


@pytest.fixture
def whole(bmc: ScriptedBmc) -> ScriptedBmc:
    """Show what is beside the system: a manager with a virtual drive, a chassis, services and a task."""
    named = {"Id": "1", "Name": "one"}
    links = {"ManagedBy": [{"@odata.id": MANAGER}], "Chassis": [{"@odata.id": CHASSIS}]}
    bmc.documents[SYSTEM]["Links"] = links
    bmc.documents["/redfish/v1"] |= {
        "UpdateService": {"@odata.id": "/redfish/v1/UpdateService"},
        "EventService": {"@odata.id": "/redfish/v1/EventService"},
        "Systems": {"@odata.id": "/redfish/v1/Systems"},
    }
    drives = f"{MANAGER}/VirtualMedia"
    bmc.documents |= {
        MANAGER: {**named, "FirmwareVersion": "7.1", "VirtualMedia": {"@odata.id": drives}},
        drives: {"Name": "drives", "Members": [{"@odata.id": DRIVE}], "Members@odata.count": 1},
        DRIVE: {
            "Id": "Cd",
            "Name": "Cd",
            "MediaTypes": ["CD"],
            "Inserted": False,
            "Actions": {
                "#VirtualMedia.InsertMedia": {"target": f"{DRIVE}/Insert"},
                "#VirtualMedia.EjectMedia": {"target": f"{DRIVE}/Eject"},
            },
        },
        CHASSIS: {**named, "SerialNumber": "C7"},
        "/redfish/v1/UpdateService": {**named, "ServiceEnabled": True},
        "/redfish/v1/EventService": {**named, "ServiceEnabled": True, "DeliveryRetryAttempts": 5},
        "/redfish/v1/Systems": {"Name": "all", "Members": [{"@odata.id": SYSTEM}], "Members@odata.count": 1},
        "/redfish/v1/TaskService/Tasks/3": {**named, "Id": "3", "TaskState": "Completed", "TaskStatus": "OK"},
    }
    return bmc


def test_what_is_beside_a_system(whole: ScriptedBmc) -> None:
    node = on(whole).node
    system = utils.get_system(node)
    assert utils.get_manager(node, system).firmware_version == "7.1"
    assert utils.get_chassis(node, system).serial_number == "C7"
    assert utils.get_system_collection(node).members_identities == (SYSTEM,)
    assert utils.get_update_service(node).service_enabled is True
    assert utils.get_event_service(node).delivery_retry_attempts == 5
    monitor = utils.get_task_monitor(node, "/redfish/v1/TaskService/Tasks/3")
    assert (monitor.is_processing, monitor.get_task().identity) == (False, "3")


def test_a_bmc_that_shows_no_manager(bmc: ScriptedBmc) -> None:
    bmc.documents["/redfish/v1"]["Managers"] = {"@odata.id": "/redfish/v1/Managers"}
    bmc.documents["/redfish/v1/Managers"] = {"Name": "none", "Members": [], "Members@odata.count": 0}
    with pytest.raises(RedfishError, match="shows no manager"):
        utils.get_manager(on(bmc).node)


def test_the_virtual_drives_of_a_bmc(whole: ScriptedBmc) -> None:
    task = on(whole)
    boot.insert_vmedia(task, "http://192.0.2.1/a.iso", "cdrom")
    assert boot.get_vmedia(task) == [{"media_types": ["CD"], "inserted": True, "image": "http://192.0.2.1/a.iso"}]
    boot.eject_vmedia(task, "floppy")
    assert boot.get_vmedia(task)[0]["inserted"] is True
    boot.eject_vmedia(task, "cdrom")
    assert boot.get_vmedia(task)[0]["inserted"] is False
    boot.insert_vmedia(task, "http://192.0.2.1/a.iso", "cdrom")
    boot.eject_vmedia(task)
    assert boot.get_vmedia(task)[0]["inserted"] is False
    for act in (
        lambda: boot.insert_vmedia(task, "http://192.0.2.1/a", "tape"),
        lambda: boot.eject_vmedia(task, "tape"),
    ):
        with pytest.raises(InvalidParameterValue, match="tape"):
            act()


def test_words_of_boot_devices_both_ways() -> None:
    assert management.BOOT_DEVICE_MAP[sushy.BootSource.HDD] == "disk"
    devices = management.BOOT_DEVICE_MAP_REV
    assert devices["cdrom"] is sushy.BootSource.CD
    assert all(management.BOOT_DEVICE_MAP[source] == device for device, source in devices.items())


def test_what_can_not_be_read_is_an_error_of_the_service(bmc: ScriptedBmc) -> None:
    node = on(bmc).node
    del bmc.documents[SYSTEM]["Bios"]
    system = utils.get_system(node)
    with pytest.raises(RedfishError, match=node.uuid):
        getattr(system, "bios")  # noqa: B009
    bmc.refusal = 503
    with pytest.raises(RedfishError, match="503"):
        system.refresh(force=True)


def test_a_silent_bmc_and_a_missing_address(conf: Setter) -> None:
    conf(redfish__connection_attempts=1)
    with pytest.raises(RedfishConnectionError):
        utils.get_system(work_on(driver_info={"redfish_address": "http://127.0.0.1:9"}).node)
    with pytest.raises(MissingParameterValue, match="redfish_address"):
        utils.get_system(work_on().node)


def test_how_a_bmc_is_reached() -> None:
    info = {"redfish_address": "192.0.2.1", "redfish_username": "u", "redfish_password": "p"}
    node = work_on(driver_info=info).node
    usual = {
        "address": "https://192.0.2.1",
        "username": "u",
        "password": "p",
        "verify_ca": True,
        "auth_type": "auto",
        "node_uuid": node.uuid,
        "system_id": None,
    }
    assert utils.parse_driver_info(node) == usual
    more = {"redfish_address": "https://192.0.2.1/own/v1", "redfish_tls_ciphers": "HIGH"}
    found = utils.parse_driver_info(work_on(driver_info=info | more).node)
    assert found == usual | {"root_prefix": "/own/v1/", "tls_ciphers": "HIGH"}
    wait = {"firmware_update_unresponsive_bmc_wait": 900}
    assert utils.parse_driver_info(work_on(driver_info=info | wait).node) == usual | wait


class Ethernet(RedfishBIOS):
    """Sets more before the restart of a reset, as a published driver does."""

    def post_reset(self, task: Any) -> Any:
        system = utils.get_system(task.node)
        settings = [{"name": key, "value": "Ethernet"} for key in system.bios.attributes if key.endswith("LinkType")]
        if not settings:
            return super().post_reset(task)
        self._clear_reboot_requested(task)
        return self.apply_configuration(task, settings)


class Silent(RedfishBIOS):
    """Returns nothing; ``restarts`` says whether it has restarted the machine."""

    def __init__(self, *, restarts: bool) -> None:
        self.restarts = restarts

    def post_reset(self, task: Any) -> None:
        if self.restarts:
            super().post_reset(task)


def ended(task: Work) -> Any:
    task.node.provision_state = states.CLEANWAIT
    return look(task, RedfishBIOS(), KEY)


@pytest.mark.parametrize("present", ["Infiniband", "Ethernet"])
def test_a_plug_in_sets_more_before_the_restart_of_a_reset(
    bmc: ScriptedBmc, monkeypatch: pytest.MonkeyPatch, present: str
) -> None:
    """Also where the settings have the wanted values now: the reset takes them away."""
    monkeypatch.setattr(bios_module, "_SECONDS_TO_START", 0.0)
    bmc.documents[BIOS]["Attributes"][LINK] = present
    task = on(bmc)
    assert Ethernet().factory_reset(task) == states.CLEANWAIT
    assert [path for path, _body in bmc.orders] == [f"{BIOS}/Reset", PENDING, *RESTART]
    assert bmc.orders[1][1]["Attributes"] == {LINK: "Ethernet"}
    bmc.documents[BIOS]["Attributes"][LINK] = "Infiniband"
    assert ended(task) is None or present == "Infiniband"
    bmc.documents[BIOS]["Attributes"][LINK] = "Ethernet"
    assert ended(task) is not None


def test_a_machine_without_such_settings_is_reset_as_usual(bmc: ScriptedBmc) -> None:
    del bmc.documents[BIOS]["Attributes"][LINK]
    assert Ethernet().factory_reset(on(bmc)) == states.CLEANWAIT
    assert [path for path, _body in bmc.orders] == [f"{BIOS}/Reset", *RESTART]


@pytest.mark.parametrize("restarts", [True, False])
def test_a_plug_in_that_returns_nothing_has_the_machine_restarted_once(bmc: ScriptedBmc, restarts: bool) -> None:
    task = on(bmc)
    assert Silent(restarts=restarts).factory_reset(task) == states.CLEANWAIT
    assert [path for path, _body in bmc.orders] == [f"{BIOS}/Reset", *RESTART]
    assert "the machine to start" in task.node.saved["driver_internal_info"]["waiting_for"]
