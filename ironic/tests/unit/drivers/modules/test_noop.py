"""Implementations that stand for "none": users are refused, the service goes on (S5)."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, UnsupportedDriverExtension
from ironic.core.flows import states
from ironic.drivers.modules import noop
from ironic.drivers.modules.network.noop import NoopNetwork
from ironic.drivers.modules.noop_mgmt import NoopManagement
from ironic.drivers.modules.storage.noop import NoopStorage
from ironic.tests.unit.drivers.machine import UUID, work_on

REFUSED = [
    (noop.NoBIOS, "validate", ()),
    (noop.NoBIOS, "apply_configuration", ([],)),
    (noop.NoBIOS, "factory_reset", ()),
    (noop.NoConsole, "validate", ()),
    (noop.NoConsole, "start_console", ()),
    (noop.NoConsole, "get_console", ()),
    (noop.NoFirmware, "validate", ()),
    (noop.NoFirmware, "update", ([],)),
    (noop.NoInspect, "validate", ()),
    (noop.NoInspect, "inspect_hardware", ()),
    (noop.NoInspect, "abort", ()),
    (noop.NoInspect, "continue_inspection", ({}, {})),
    (noop.NoRAID, "validate", ()),
    (noop.NoRAID, "validate_raid_config", ({},)),
    (noop.NoRAID, "apply_configuration", ({},)),
    (noop.NoRAID, "create_configuration", ()),
    (noop.NoRAID, "delete_configuration", ()),
    (noop.NoRescue, "validate", ()),
    (noop.NoRescue, "rescue", ()),
    (noop.NoRescue, "unrescue", ()),
    (noop.NoVendor, "validate", ("method",)),
    (NoopManagement, "get_sensors_data", ()),
    (NoopManagement, "inject_nmi", ()),
]

ACCEPTED: list[tuple[Any, str, tuple[Any, ...], Any]] = [
    (noop.NoBIOS, "cache_bios_settings", (), None),
    (noop.NoBIOS, "get_clean_steps", (), []),
    (noop.NoConsole, "stop_console", (), None),
    (noop.NoFirmware, "cache_firmware_components", (), None),
    (noop.NoFirmware, "get_service_steps", (), []),
    (noop.NoInspect, "get_verify_steps", (), []),
    (noop.NoRAID, "get_clean_steps", (), []),
    (noop.NoRescue, "clean_up", (), None),
    (noop.NoVendor, "get_deploy_steps", (), []),
    (NoopManagement, "validate", (), None),
    (NoopManagement, "set_boot_device", ("disk",), None),
    (NoopManagement, "get_boot_device", (), {"boot_device": "pxe", "persistent": True}),
    (NoopStorage, "validate", (), None),
    (NoopStorage, "attach_volumes", (), None),
    (NoopStorage, "detach_volumes", (), None),
    (NoopStorage, "should_write_image", (), True),
    (NoopNetwork, "validate", (), None),
    (NoopNetwork, "port_changed", (object(),), None),
    (NoopNetwork, "portgroup_changed", (object(),), None),
    (NoopNetwork, "vif_attach", ({"id": "vif"},), None),
    (NoopNetwork, "vif_detach", ("vif",), None),
    (NoopNetwork, "vif_list", (), []),
    (NoopNetwork, "get_current_vif", (object(),), None),
    (NoopNetwork, "connect", ("tenant",), {}),
    (NoopNetwork, "disconnect", ("tenant",), None),
    (NoopNetwork, "add_provisioning_network", (), {}),
    (NoopNetwork, "remove_provisioning_network", (), None),
    (NoopNetwork, "configure_tenant_networks", (), {}),
    (NoopNetwork, "unconfigure_tenant_networks", (), None),
    (NoopNetwork, "add_cleaning_network", (), {}),
    (NoopNetwork, "remove_cleaning_network", (), None),
    (NoopNetwork, "validate_rescue", (), None),
    (NoopNetwork, "add_rescuing_network", (), {}),
    (NoopNetwork, "remove_rescuing_network", (), None),
    (NoopNetwork, "validate_inspection", (), None),
    (NoopNetwork, "add_inspection_network", (), {}),
    (NoopNetwork, "remove_inspection_network", (), None),
    (NoopNetwork, "add_servicing_network", (), {}),
    (NoopNetwork, "remove_servicing_network", (), None),
    (NoopNetwork, "need_power_on", (), False),
    (noop.NoDeploy, "validate", (), None),
    (noop.NoDeploy, "prepare", (), None),
    (noop.NoDeploy, "deploy", (), None),
    (noop.NoDeploy, "tear_down", (), states.DELETED),
    (noop.NoDeploy, "clean_up", (), None),
    (noop.NoDeploy, "take_over", (), None),
    (noop.NoDeploy, "prepare_cleaning", (), None),
    (noop.NoDeploy, "tear_down_cleaning", (), None),
    (noop.NoDeploy, "prepare_service", (), None),
    (noop.NoDeploy, "tear_down_service", (), None),
]


@pytest.mark.demand("S5")
@pytest.mark.parametrize("cls, method, arguments", REFUSED)
def test_what_a_user_asks_for_is_refused(cls: Any, method: str, arguments: tuple[Any, ...]) -> None:
    task = work_on(driver="some-type")
    with pytest.raises(UnsupportedDriverExtension) as refusal:
        getattr(cls(), method)(task, *arguments)
    assert refusal.value.facts["driver"] == "some-type"
    assert refusal.value.facts["node"] == UUID
    if method == "validate":
        kind = cls.interface_type
        assert f"The node uses no-{kind}" in str(refusal.value)
        assert f"Hardware type some-type has no other one here (option enabled_{kind}_interfaces)" in str(refusal.value)
        task.alternatives = {"redfish": None, "other": None}
        with pytest.raises(UnsupportedDriverExtension, match=f"node set {UUID} --{kind}-interface redfish or other"):
            getattr(cls(), method)(task, *arguments)
    assert task.node.saved == {}


@pytest.mark.demand("S5")
@pytest.mark.parametrize("cls, method, arguments, answer", ACCEPTED)
def test_what_the_service_does_by_itself_goes_through(
    cls: Any, method: str, arguments: tuple[Any, ...], answer: Any
) -> None:
    task = work_on()
    before = dict(vars(task.node))
    assert getattr(cls(), method)(task, *arguments) == answer
    assert vars(task.node) == before


@pytest.mark.parametrize(
    "cls",
    [
        noop.NoBIOS, noop.NoConsole, noop.NoDeploy, noop.NoFirmware, noop.NoInspect, noop.NoRAID, noop.NoRescue,
        noop.NoVendor, NoopManagement, NoopNetwork, NoopStorage,
    ],
)  # fmt: skip
def test_it_needs_nothing_of_a_node(cls: Any) -> None:
    assert cls().get_properties() == {}


def test_there_are_no_vendor_methods() -> None:
    assert noop.NoVendor().vendor_routes == noop.NoVendor().driver_routes == {}
    with pytest.raises(UnsupportedDriverExtension, match="reboot_bmc"):
        noop.NoVendor().driver_validate("reboot_bmc")


def test_a_machine_deployed_by_hand_still_has_its_step() -> None:
    (step,) = noop.NoDeploy().get_deploy_steps(work_on())
    assert (step["step"], step["priority"]) == ("deploy", 100)


def test_management_left_alone_knows_two_boot_devices() -> None:
    assert NoopManagement().get_supported_boot_devices(work_on()) == ["pxe", "disk"]
    with pytest.raises(InvalidParameterValue, match=UUID):
        NoopManagement().set_boot_device(work_on(), "cdrom")
