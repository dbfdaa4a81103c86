"""The fake family, as the recorded exchanges of the reference show it."""

import itertools
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from ironic.core.clock import CLOCK, Clock
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.flows import states
from ironic.drivers import base
from ironic.drivers.modules import fake
from ironic.drivers.modules.fake import delay_seconds, simulate_delay
from ironic.tests.unit.drivers.machine import UUID, items_of, work_on

FAMILY = [getattr(fake, name) for name in fake.__all__]

# Steps of the reference's fake interfaces: step, priority, whether it needs the agent.
STEPS = {
    ("bios", "clean"): [
        ("apply_configuration", 0, True), ("cache_bios_settings", 0, True), ("factory_reset", 0, True),
    ],
    # Not among the steps of the facts, yet the recorded service and deploy requests name it.
    ("bios", "deploy"): [("factory_reset", 0, None)],
    ("bios", "service"): [("factory_reset", 0, True)],
    ("firmware", "clean"): [("update", 0, True)],
    ("vendor", "clean"): [("log_passthrough", 1, True)],
    ("deploy", "deploy"): [("deploy", 100, None)],
    ("vendor", "service"): [("log_passthrough", 0, False), ("trigger_servicewait", 0, True)],
}  # fmt: skip


@pytest.mark.parametrize("cls", [cls for cls in FAMILY if cls is not fake.FakeVendorA])
@pytest.mark.parametrize("kind", ["clean", "deploy", "service", "verify"])
def test_it_has_the_steps_of_the_reference(cls: Any, kind: Any) -> None:
    found = [(step["step"], step["priority"], step.get("requires_ramdisk")) for step in cls().all_steps(kind)]
    assert found == STEPS.get((cls.interface_type, kind), [])


@pytest.mark.parametrize("cls", FAMILY)
def test_any_node_will_do(cls: Any) -> None:
    cls().validate(work_on())
    assert set(cls().get_properties()) <= {"A1", "A2", "B1", "B2"}


# Power


@pytest.mark.parametrize(
    "wanted, reached",
    [
        ("power on", "power on"),
        ("power off", "power off"),
        ("rebooting", "power on"),
        ("soft rebooting", "power on"),
        ("soft power off", "power off"),
    ],
)
def test_power_reaches_every_state(wanted: str, reached: str) -> None:
    task, power = work_on(), fake.FakePower()
    assert power.get_power_state(task) is None
    power.set_power_state(task, wanted)
    assert power.get_power_state(task) == reached
    assert wanted in power.get_supported_power_states(task)


def test_a_machine_reports_its_power_from_the_first_contact_on_where_that_is_wanted(
    conf: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    conf(fake__reports_power=True)
    task = work_on()
    seen: list[str] = []
    monkeypatch.setattr(task, "change_power", seen.append)
    assert fake.FakePower().get_power_state(task) == "power off"
    fake.FakeDeploy().deploy(task)
    fake.FakeDeploy().tear_down(task)
    task.node.disable_power_off = True
    fake.FakeDeploy().tear_down(task)
    assert seen == ["power on", "power off"]
    conf(fake__reports_power=False)
    fake.FakeDeploy().deploy(task)
    assert len(seen) == 2


def test_power_knows_no_other_states() -> None:
    with pytest.raises(InvalidParameterValue, match=UUID):
        fake.FakePower().set_power_state(work_on(), "off")


def test_a_reboot_leaves_the_machine_on() -> None:
    task = work_on(power_state="power off")
    fake.FakePower().reboot(task)
    assert task.node.power_state == "power on"


# Management


def test_the_boot_device_is_remembered() -> None:
    task, management = work_on(), fake.FakeManagement()
    assert management.get_supported_boot_devices(task) == ["pxe"]
    assert management.get_boot_device(task) == {"boot_device": "pxe", "persistent": False}
    management.set_boot_device(task, "pxe", persistent=True)
    assert management.get_boot_device(task) == {"boot_device": "pxe", "persistent": True}
    assert task.node.saved["driver_internal_info"]["fake_boot_device"]["persistent"] is True


def test_another_boot_device_is_refused() -> None:
    with pytest.raises(InvalidParameterValue, match="disk"):
        fake.FakeManagement().set_boot_device(work_on(), "disk")


def test_it_has_two_lights() -> None:
    task, management = work_on(), fake.FakeManagement()
    assert management.get_supported_indicators(task) == {
        "chassis": {"led-0": {"readonly": True, "states": ["off", "on"]}},
        "system": {"led": {"readonly": False, "states": ["blinking", "off", "on"]}},
    }
    assert management.get_supported_indicators(task, "system").keys() == {"system"}
    assert management.get_indicator_state(task, "system", "led") == "on"
    for component, light in (("system", "nope"), ("disk", "led")):
        with pytest.raises(InvalidParameterValue, match=UUID):
            management.get_indicator_state(task, component, light)


def test_it_has_no_sensors() -> None:
    assert fake.FakeManagement().get_sensors_data(work_on()) == {}


# BIOS, firmware


def test_bios_settings_are_kept_with_the_node_until_a_reset() -> None:
    task, bios = work_on(), fake.FakeBIOS()
    step = {"step": "apply_configuration", "args": {"settings": [{"name": "virt", "value": "on"}]}}
    assert bios.execute_clean_step(task, step) is None
    bios.apply_configuration(task, [{"name": "turbo", "value": "off"}])
    assert task.node.saved["driver_internal_info"] == {"fake_bios": {"virt": "on", "turbo": "off"}}
    told = {"virt": "on", "turbo": "off"}
    assert {item["name"]: item["value"] for item in items_of(task.store.bios_settings)} == told
    task.store.bios_settings.sync(task.node.id, [])
    bios.execute_clean_step(task, {"step": "cache_bios_settings"})
    assert {item["name"]: item["value"] for item in items_of(task.store.bios_settings)} == told
    bios.execute_clean_step(task, {"step": "factory_reset"})
    assert task.node.saved["driver_internal_info"] == {}
    assert items_of(task.store.bios_settings) == []


@pytest.mark.parametrize("settings", [None, [5], [{"name": "virt"}], "text"])
def test_settings_must_have_name_and_value(settings: Any) -> None:
    task = work_on()
    with pytest.raises(InvalidParameterValue, match=UUID):
        fake.FakeBIOS().apply_configuration(task, settings)
    assert task.node.saved == {}


def test_firmware_updates_are_kept_with_the_node() -> None:
    task, firmware = work_on(), fake.FakeFirmware()
    firmware.update(task, [{"component": "bmc", "url": "http://192.0.2.1/1"}])
    firmware.update(task, [{"component": "bios", "url": "http://192.0.2.1/2"}])
    assert task.node.saved["driver_internal_info"]["fake_firmware"].keys() == {"bmc", "bios"}
    told = [(item["component"], item["current_version"]) for item in items_of(task.store.firmware)]
    assert told == [("bios", "2"), ("bmc", "1")]
    with pytest.raises(InvalidParameterValue, match=UUID):
        firmware.update(task, [{"component": "bmc"}])


# Deploy, rescue, inspection, console, storage, boot


def test_it_deploys_and_tears_down() -> None:
    task, deploy = work_on(), fake.FakeDeploy()
    deploy.prepare(task)
    assert deploy.execute_deploy_step(task, {"step": "deploy"}) is None
    deploy.take_over(task)
    assert deploy.tear_down(task) == states.DELETED
    deploy.clean_up(task)
    assert deploy.prepare_cleaning(task) is None
    assert deploy.prepare_service(task) is None


def test_it_is_in_rescue_mode_at_once_and_out_of_it() -> None:
    assert fake.FakeRescue().rescue(work_on()) == states.RESCUE
    assert fake.FakeRescue().unrescue(work_on()) == states.ACTIVE


def test_it_is_inspected_at_once() -> None:
    assert fake.FakeInspect().inspect_hardware(work_on()) == states.MANAGEABLE


def test_its_console_has_no_address() -> None:
    task, console = work_on(), fake.FakeConsole()
    console.start_console(task)
    assert not console.get_console(task)
    console.stop_console(task)


def test_it_attaches_volumes_and_writes_images() -> None:
    task, storage = work_on(), fake.FakeStorage()
    storage.attach_volumes(task)
    storage.detach_volumes(task)
    assert storage.should_write_image(task) is True


def test_it_boots_anything() -> None:
    task, boot = work_on(), fake.FakeBoot()
    boot.prepare_ramdisk(task, {})
    boot.clean_up_ramdisk(task)
    boot.prepare_instance(task)
    boot.clean_up_instance(task)
    assert boot.capabilities == ["ipxe_boot", "pxe_boot"]


# Vendor methods


def test_vendor_methods_have_the_terms_of_the_reference() -> None:
    routes = fake.FakeVendorB().vendor_routes
    assert {name: (route["async"], route["require_exclusive_lock"]) for name, route in routes.items()} == {
        "fourth_method_shared_lock": (True, False),
        "log_passthrough": (True, True),
        "second_method": (True, True),
        "third_method_sync": (False, True),
    }
    assert all(route["http_methods"] == ["POST"] and not route["attach"] for route in routes.values())
    assert set(fake.FakeVendorA().vendor_routes) == {"first_method"}
    assert fake.FakeVendorB().driver_routes == {}


@pytest.mark.parametrize("bar, answer", [("meow", True), ("woof", False)])
def test_vendor_methods_listen_for_meow(bar: str, answer: bool) -> None:
    vendor = fake.FakeVendorB()
    for name in ("second_method", "third_method_sync", "fourth_method_shared_lock"):
        assert vendor.vendor_routes[name]["func"](work_on(), http_method="POST", bar=bar) is answer
    assert fake.FakeVendorA().first_method(work_on(), http_method="POST", bar=bar) is answer


def test_vendor_methods_need_their_parameter() -> None:
    vendor = fake.FakeVendorB()
    vendor.validate(work_on(), method="second_method", bar="kazoo")
    vendor.validate(work_on(), method="log_passthrough")
    with pytest.raises(MissingParameterValue, match="second_method"):
        vendor.validate(work_on(), method="second_method")


def test_a_vendor_method_may_be_a_step(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    vendor = fake.FakeVendorB()
    assert vendor.execute_clean_step(work_on(), {"step": "log_passthrough"}) is None
    assert vendor.execute_service_step(work_on(), {"step": "log_passthrough", "args": {"a": "secret"}}) is None
    assert vendor.execute_service_step(work_on(), {"step": "trigger_servicewait"}) == states.SERVICEWAIT
    assert UUID in caplog.text
    assert "secret" not in caplog.text


# Delays


@pytest.mark.parametrize("text, low, high", [("0", 0, 0), ("2.5", 2.5, 2.5), ("1,3", 1, 3), (" 1 , 1 ", 1, 1)])
def test_a_delay_is_a_number_or_a_range(text: str, low: float, high: float) -> None:
    drawn = [delay_seconds(text, CLOCK.chance) for _ in range(50)]
    assert all(low <= seconds <= high for seconds in drawn)
    assert (len(set(drawn)) > 1) == (low < high)


@pytest.mark.parametrize("text", ["", "x", "1,2,3", "3,1", "-1", "nan", "1,"])
def test_anything_else_is_no_delay(text: str) -> None:
    with pytest.raises(InvalidParameterValue, match="fake"):
        delay_seconds(text, CLOCK.chance)


SLOW: list[tuple[str, Callable[[], Any]]] = [
    ("bios", lambda: fake.FakeBIOS().factory_reset(work_on())),
    ("boot", lambda: fake.FakeBoot().prepare_ramdisk(work_on(), {})),
    ("deploy", lambda: fake.FakeDeploy().deploy(work_on())),
    ("firmware", lambda: fake.FakeFirmware().update(work_on(), [])),
    ("inspect", lambda: fake.FakeInspect().inspect_hardware(work_on())),
    ("management", lambda: fake.FakeManagement().get_boot_device(work_on())),
    ("power", lambda: fake.FakePower().get_power_state(work_on())),
    ("raid", lambda: fake.FakeRAID().delete_configuration(work_on())),
    ("rescue", lambda: fake.FakeRescue().rescue(work_on())),
    ("storage", lambda: fake.FakeStorage().attach_volumes(work_on())),
    ("vendor", lambda: fake.FakeVendorB().log_passthrough(work_on())),
]


@pytest.mark.parametrize("kind, act", SLOW)
def test_every_interface_has_its_delay(kind: str, act: Callable[[], Any], conf: Callable[..., None]) -> None:
    conf(**{f"fake__{kind}_delay": "0.02"})
    begun = time.monotonic()
    act()
    assert time.monotonic() - begun >= 0.02


def test_a_stopping_service_does_not_wait_for_it(conf: Callable[..., None]) -> None:
    conf(fake__power_delay="60")
    clock = Clock()
    thread = threading.Thread(target=simulate_delay, args=(clock, "power"))
    thread.start()
    clock.interrupt()
    thread.join(timeout=5)
    assert not thread.is_alive()


def test_every_kind_but_network_has_a_fake() -> None:
    kinds = {cls.interface_type for cls in FAMILY}
    assert kinds == set(itertools.chain(base.ALL_INTERFACES)) - {"network"}
