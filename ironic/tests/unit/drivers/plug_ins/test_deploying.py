"""Decisions about deployments that plug-ins ask for."""

import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.errors.hardware_errors import IPMIFailure
from ironic.core.flows import states
from ironic.drivers import utils as driver_utils
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules import boot_mode_utils, deploy_utils
from ironic.drivers.modules.fake import FakeManagement
from ironic.tests.conftest import Setter
from ironic.tests.unit.drivers.machine import Work, work_on


@pytest.mark.parametrize(
    "door",
    ["agent_base", "agent_client", "boot_mode_utils", "deploy_utils", "inspect_utils", "redfish.boot", "redfish.utils"],
)
def test_each_door_can_be_the_first_that_is_imported(door: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", f"import ironic.drivers.modules.{door}"], check=True)


def test_all_missing_parameters_are_named_at_once() -> None:
    deploy_utils.check_for_missing_params({"a": 1}, "no")
    with pytest.raises(MissingParameterValue, match="Image.*: image.b, image.c"):
        deploy_utils.check_for_missing_params({"a": 1, "b": None, "c": ""}, "Image is incomplete.", "image")


def test_an_agent_gets_the_address_of_the_service(conf: Setter) -> None:
    with pytest.raises(InvalidParameterValue, match="service_catalog"):
        deploy_utils.get_ironic_api_url()
    conf(service_catalog__endpoint_override="http://192.0.2.1:6385/")
    assert deploy_utils.get_ironic_api_url() == "http://192.0.2.1:6385"
    assert deploy_utils.build_agent_options(work_on().node) == {"ipa-api-url": "http://192.0.2.1:6385"}


@pytest.mark.parametrize(("interface", "option"), [("direct", "local"), ("ramdisk", "ramdisk"), (None, "local")])
def test_how_an_instance_boots(interface: str | None, option: str) -> None:
    node = work_on(deploy_interface=interface).node
    assert deploy_utils.get_boot_option(node) == option
    assert deploy_utils.is_ramdisk_deploy(node) is (option == "ramdisk")


@pytest.mark.parametrize(
    "state",
    [states.RESCUING, states.RESCUEWAIT, states.RESCUEFAIL, states.UNRESCUING, states.UNRESCUEFAIL, states.DEPLOYING],
)
def test_which_ramdisk_a_state_needs(state: str) -> None:
    wanted = "deploy" if state == states.DEPLOYING else "rescue"
    assert deploy_utils.rescue_or_deploy_mode(work_on(provision_state=state).node) == wanted


class Management(FakeManagement):
    def __init__(self, error: Exception | None = None) -> None:
        self.error, self.given = error, list[Any]()

    def set_boot_device(self, task: Any, device: str, persistent: bool = False) -> None:
        self.given.append((device, persistent))
        if self.error is not None:
            raise self.error


def with_management(error: Exception | None, mode: str, **columns: Any) -> tuple[Work, Management]:
    task, management = work_on(properties={"capabilities": f"boot_mode:{mode}"}, **columns), Management(error)
    task.driver = BareDriver({"management": management})
    return task, management


def test_a_boot_device_that_uefi_may_not_need() -> None:
    task, management = with_management(IPMIFailure("no"), "uefi")
    deploy_utils.try_set_boot_device(task, "disk")
    assert management.given == [("disk", True)]
    for error, mode in ((IPMIFailure("no"), "bios"), (InvalidParameterValue(err="no"), "uefi")):
        with pytest.raises(type(error)):
            deploy_utils.try_set_boot_device(with_management(error, mode)[0], "disk", persistent=False)


def test_a_boot_device_is_set_as_the_node_requires() -> None:
    task, management = with_management(None, "uefi", driver_info={"force_persistent_boot_device": "Never"})
    deploy_utils.try_set_boot_device(task, "disk")
    assert management.given == [("disk", False)]
    task, management = with_management(None, "uefi", provision_state=states.ADOPTING)
    deploy_utils.try_set_boot_device(task, "disk")
    assert management.given == []


@pytest.mark.parametrize(
    ("kind", "index", "image", "expected"),
    [
        ("iscsi", 0, None, True),
        ("fibre_channel", 0, None, False),
        ("iscsi", 1, None, False),
        ("iscsi", 0, "http://192.0.2.1/image", False),
    ],
)
def test_which_instances_boot_over_iscsi(kind: str, index: int, image: str | None, expected: bool) -> None:
    task = work_on(instance_info={"image_source": image} if image else {})
    volume = {"node_id": 1, "volume_type": kind, "boot_index": index, "volume_id": "v", "properties": {}}
    task.store.volume_targets.create(volume)
    assert deploy_utils.is_iscsi_boot(task) is expected


class Network:
    def get_current_vif(self, task: object, port: Any) -> str | None:
        return cast(str | None, port.vif)


class PortOf:
    def __init__(self, address: str, vif: str | None) -> None:
        self.address, self.vif = address, vif


def test_the_first_port_with_a_virtual_interface() -> None:
    task = work_on()
    task.driver = BareDriver({"network": Network()})
    task.ports = [PortOf("m1", None), PortOf("m2", "v")]
    assert deploy_utils.get_single_nic_with_vif_port_id(task) == "m2"
    task.ports = task.ports[:1]
    assert deploy_utils.get_single_nic_with_vif_port_id(task) is None


def test_the_marks_of_a_step_that_goes_on() -> None:
    task = work_on(provision_state=states.CLEANING, clean_step={"interface": "bios", "step": "s"})
    deploy_utils.set_async_step_flags(task.node, reboot=True, skip_current_step=False, polling=True)
    info = task.node.saved["driver_internal_info"]
    assert (info["cleaning_reboot"], info["skip_current_clean_step"], info["cleaning_polling"]) == (True, False, True)
    deploy_utils.set_async_step_flags(task.node, polling=False, step_type="clean")
    info = task.node.saved["driver_internal_info"]
    assert (info["cleaning_reboot"], "cleaning_polling" in info) == (True, False)
    assert deploy_utils.get_async_step_return_state(task.node) == states.CLEANWAIT
    with pytest.raises(InvalidParameterValue, match="runs no deploy steps"):
        deploy_utils.set_async_step_flags(task.node, reboot=True, step_type="deploy")
    with pytest.raises(InvalidParameterValue, match="available"):
        deploy_utils.get_async_step_return_state(work_on(provision_state=states.AVAILABLE).node)


class Boot:
    def __init__(self) -> None:
        self.prepared = list[Any]()

    def prepare_ramdisk(self, task: object, parameters: dict[str, object]) -> None:
        self.prepared.append(parameters)


class Power:
    def __init__(self) -> None:
        self.state, self.reboots = states.POWER_ON, 0

    def get_power_state(self, task: object) -> str:
        return self.state

    def reboot(self, task: object, timeout: int | None = None) -> None:
        self.reboots += 1


def test_a_restart_into_the_agent_that_ends_a_step(conf: Setter) -> None:
    conf(service_catalog__endpoint_override="http://192.0.2.1:6385")
    task = work_on(provision_state=states.DEPLOYING, deploy_step={"interface": "bios", "step": "s"})
    boot, power = Boot(), Power()
    task.driver = BareDriver({"boot": boot, "power": power})
    assert deploy_utils.reboot_to_finish_step(task) == states.DEPLOYWAIT
    assert (boot.prepared, power.reboots) == ([{"ipa-api-url": "http://192.0.2.1:6385"}], 1)
    assert task.node.saved["driver_internal_info"]["deployment_reboot"] is True


@pytest.mark.parametrize(
    ("requested", "own", "wanted", "mode", "secure"),
    [
        ({}, "", None, "uefi", False),
        ({"boot_mode": "bios"}, "", "bios", "bios", False),
        ({}, "boot_mode:bios", "bios", "bios", False),
        ({"secure_boot": "true"}, "", "uefi", "uefi", True),
    ],
)
def test_boot_mode_and_secure_boot(
    requested: dict[str, str], own: str, wanted: str | None, mode: str, secure: bool
) -> None:
    node = work_on(instance_info={"capabilities": requested}, properties={"capabilities": own}).node
    assert boot_mode_utils.get_boot_mode_for_deploy(node) == wanted
    assert boot_mode_utils.get_boot_mode(node) == mode
    assert boot_mode_utils.is_secure_boot_requested(node) is deploy_utils.is_secure_boot_requested(node) is secure


@pytest.mark.parametrize(
    ("instance", "own", "internal", "wanted"),
    [
        ({"deploy_boot_mode": "bios"}, "", {"deploy_boot_mode": "uefi"}, "bios"),
        ({"capabilities": "boot_mode:uefi", "deploy_boot_mode": "bios"}, "", {}, "uefi"),
        ({"deploy_boot_mode": "UEFI"}, "boot_mode:uefi", {}, "uefi"),
        ({}, "boot_mode:bios", {"deploy_boot_mode": "uefi"}, "bios"),
        ({}, "", {"deploy_boot_mode": "bios"}, "bios"),
        ({"capabilities": "secure_boot:true", "deploy_boot_mode": "bios"}, "", {}, "uefi"),
    ],
)
def test_which_of_the_named_boot_modes_counts(
    instance: dict[str, str], own: str, internal: dict[str, str], wanted: str
) -> None:
    columns = {"instance_info": instance, "properties": {"capabilities": own}, "driver_internal_info": internal}
    node = work_on(**columns).node
    assert boot_mode_utils.get_boot_mode_for_deploy(node) == boot_mode_utils.get_boot_mode(node) == wanted


@pytest.mark.parametrize("instance", [{"capabilities": "boot_mode:uefi"}, {"deploy_boot_mode": "uefi"}])
def test_boot_modes_that_contradict_each_other_are_an_error(instance: dict[str, str]) -> None:
    node = work_on(instance_info=instance, properties={"capabilities": "boot_mode:bios"}).node
    for ask in (boot_mode_utils.get_boot_mode_for_deploy, boot_mode_utils.get_boot_mode):
        with pytest.raises(InvalidParameterValue, match="'uefi'.*'bios'"):
            ask(node)


class Firmware(FakeManagement):
    def __init__(self) -> None:
        self.mode = "uefi"

    def get_boot_mode(self, task: Any) -> str:
        return self.mode

    def set_boot_mode(self, task: Any, mode: str) -> None:
        self.mode = mode


@pytest.mark.parametrize(("internal", "mode"), [({"deploy_boot_mode": "bios"}, "bios"), ({}, "uefi")])
def test_a_machine_gets_the_mode_that_a_plug_in_has_stored(internal: dict[str, str], mode: str) -> None:
    task, firmware = work_on(driver_internal_info=internal), Firmware()
    task.driver = BareDriver({"management": firmware})
    boot_mode_utils.sync_boot_mode(task)
    assert firmware.mode == mode


@pytest.mark.parametrize(
    ("info", "expected"),
    [({}, "quiet"), ({"kernel_append_params": "console=ttyS0"}, "console=ttyS0")]
    + [({"kernel_append_params": "a %default% b"}, "a quiet b")],
)
def test_kernel_parameters_of_a_node(info: dict[str, str], expected: str) -> None:
    node = work_on(driver_info=info, instance_info={"kernel_append_params": "init=/bin/sh"}).node
    assert driver_utils.get_kernel_append_params(node, "quiet") == expected
    assert driver_utils.get_kernel_append_params(work_on().node, None) is None


def test_logs_of_a_ramdisk_are_stored_under_a_label(conf: Setter, tmp_path: Path) -> None:
    conf(agent__deploy_logs_local_path=str(tmp_path), agent__deploy_logs_storage_backend="local")
    driver_utils.store_ramdisk_logs(work_on().node, "aGVsbG8=", "cleaning")
    (stored,) = tmp_path.iterdir()
    assert (stored.read_bytes(), "_cleaning_" in stored.name) == (b"hello", True)
    with pytest.raises(ValueError, match="base64"):
        driver_utils.store_ramdisk_logs(work_on().node, "no base64!")


class Switch:
    def __init__(self) -> None:
        self.state, self.orders = states.POWER_ON, list[str]()

    def get_power_state(self, task: object) -> str:
        return self.state

    def supports_power_sync(self, task: object) -> bool:
        return True

    def set_power_state(self, task: object, power_state: str, timeout: int | None = None) -> None:
        self.state = power_state
        self.orders.append(power_state)


def test_a_machine_is_switched_off_and_on() -> None:
    task, power = work_on(), Switch()
    task.driver = BareDriver({"power": power})
    driver_utils.power_off_and_on(task)
    assert power.orders == [states.POWER_OFF, states.POWER_ON]


def test_a_capability_is_removed() -> None:
    task = work_on(properties={"capabilities": "a:1,b:2"})
    driver_utils.remove_node_capability(task, "c")
    assert task.node.saved == {}
    driver_utils.remove_node_capability(task, "a")
    assert task.node.saved["properties"]["capabilities"] == "b:2"
