"""What the base classes answer where an implementation adds nothing."""

from typing import Any

import pytest

from ironic.core.errors import UnsupportedDriverExtension
from ironic.core.hardware_interfaces import KINDS
from ironic.drivers import base
from ironic.drivers.contract.interfaces import BASES
from ironic.drivers.modules import fake
from ironic.drivers.modules.noop_mgmt import NoopManagement
from ironic.tests.unit.drivers.machine import UUID, work_on

OPTIONAL = [
    (NoopManagement, "get_supported_boot_modes", ()),
    (NoopManagement, "set_boot_mode", ("uefi",)),
    (NoopManagement, "get_boot_mode", ()),
    (NoopManagement, "get_secure_boot_state", ()),
    (NoopManagement, "set_secure_boot_state", (True,)),
    (NoopManagement, "get_node_health", ()),
    (NoopManagement, "inject_nmi", ()),
    (NoopManagement, "get_supported_indicators", ()),
    (NoopManagement, "set_indicator_state", ("system", "led", "on")),
    (NoopManagement, "get_indicator_state", ("system", "led")),
    (NoopManagement, "detect_vendor", ()),
    (NoopManagement, "get_mac_addresses", ()),
    (NoopManagement, "get_virtual_media", ()),
    (NoopManagement, "attach_virtual_media", ("cdrom", "http://192.0.2.1/x.iso")),
    (NoopManagement, "detach_virtual_media", ()),
    (fake.FakeBoot, "validate_rescue", ()),
    (fake.FakeBoot, "validate_inspection", ()),
    (fake.FakeInspect, "abort", ()),
    (fake.FakeInspect, "continue_inspection", ({}, {})),
]


@pytest.mark.demand("S81")
@pytest.mark.parametrize("cls, method, arguments", OPTIONAL)
def test_what_nobody_is_obliged_to_have_is_unsupported(cls: Any, method: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(UnsupportedDriverExtension) as refusal:
        getattr(cls(), method)(work_on(), *arguments)
    assert refusal.value.facts == {"driver": "fake-hardware", "extension": method, "node": UUID}
    assert refusal.value.status == 400


@pytest.mark.demand("S2")
@pytest.mark.parametrize("kind", KINDS)
def test_a_base_class_can_not_be_used_by_itself(kind: str) -> None:
    assert BASES[kind].__abstractmethods__
    with pytest.raises(TypeError, match="abstract"):
        BASES[kind]()


def test_a_deploy_interface_puts_back_the_one_it_replaced() -> None:
    task = work_on(deploy_interface="direct", driver_internal_info={"original_deploy_interface": "autodetect"})
    deploy = fake.FakeDeploy()
    assert deploy.supports_deploy(task) is False
    deploy.switch_interface(task)
    deploy.restore_interface(task)
    assert (task.node.deploy_interface, task.node.driver_internal_info) == ("autodetect", {})
    task.node.deploy_interface = "direct"
    deploy.restore_interface(task)
    assert task.node.deploy_interface == "direct"


def test_an_agent_nobody_waits_for_is_written_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    fake.FakeDeploy().heartbeat(work_on(), "http://192.0.2.7:9999", "9.0")
    assert UUID in caplog.text


def test_power_offers_at_least_three_states() -> None:
    class Minimal(fake.FakePower):
        get_supported_power_states = base.PowerInterface.get_supported_power_states

    assert Minimal().get_supported_power_states(work_on()) == ["power on", "power off", "rebooting"]
    assert Minimal().supports_power_sync(work_on()) is True


def test_boot_publishes_no_images_unless_it_says_so() -> None:
    assert fake.FakeBoot().image_publisher_settings is None
    settings = base.ImagePublisherSettings()
    assert (settings.swift_enabled, settings.file_permission, settings.kernel_params) == (False, 0o644, "")


def test_a_node_may_bring_its_network_data() -> None:
    from ironic.drivers.modules.network.noop import NoopNetwork

    assert NoopNetwork().get_node_network_data(work_on(network_data={"links": []})) == {"links": []}
    assert NoopNetwork().get_node_network_data(work_on()) == {}


def test_the_facade_has_every_promised_name() -> None:
    assert set(base.__all__) <= set(dir(base))
    assert frozenset(KINDS) == base.ALL_INTERFACES
