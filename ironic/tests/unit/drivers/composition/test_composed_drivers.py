"""What is composed when nothing is wrong."""

import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ironic.conf import CONF
from ironic.core.errors import (
    DriverLoadError,
    DriverNotFound,
    IncompatibleInterface,
    InterfaceNotFoundInEntrypoint,
    NoValidDefaultForInterface,
    UnsupportedDriverExtension,
)
from ironic.core.hardware_interfaces import KINDS, choose_default, interface_field
from ironic.drivers.composition.composed_drivers import Composition
from ironic.drivers.composition.extensions import interfaces_group
from ironic.drivers.contract.driver_periodics import periodic
from ironic.drivers.contract.interfaces import PowerInterface
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.generic import GenericHardware
from ironic.drivers.modules import fake
from ironic.drivers.redfish import RedfishHardware
from ironic.tests.effort import examples
from ironic.tests.repository import ROOT
from ironic.tests.unit.drivers.machine import Machine
from ironic.tests.unit.drivers.plugins import (
    ENABLED,
    AcmeHardware,
    AcmePower,
    AcmePowerPlus,
    NewAcmeHardware,
    Published,
    broken,
    compose,
    registry,
    wanted,
)


def node(composition: Composition, hardware_type: str, **chosen: Any) -> Machine:
    """Return a node as the API stores it: with the defaults in place of what was left open."""
    columns = {interface_field(kind): composition.default(hardware_type, kind) for kind in KINDS}
    return Machine(driver=hardware_type, **{**columns, **chosen})


@pytest.mark.demand("S4", "S7")
def test_the_hardware_types_order_decides_about_the_default() -> None:
    composition = compose(wanted("acme", power=("acme", "acme-plus")))
    assert composition.default("acme", "power") == "acme-plus"
    assert compose(wanted("acme", power=("acme",))).default("acme", "power") == "acme"


@pytest.mark.demand("S9", "S12")
def test_a_configured_default_wins() -> None:
    composition = compose(wanted("acme", defaults={"power": "acme"}))
    assert composition.default("acme", "power") == "acme"


@pytest.mark.demand("S12")
def test_a_configured_default_that_one_type_does_not_support_is_that_types_problem(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wish = wanted("acme", "new", power=("fake", "acme"), defaults={"power": "fake"})
    composition = compose(wish, registry({"acme": AcmeHardware, "new": NewAcmeHardware}))
    assert composition.default("new", "power") == "fake"
    with pytest.raises(NoValidDefaultForInterface) as refusal:
        composition.default("acme", "power")
    assert refusal.value.facts == {"kind": "power", "driver": "acme"}
    assert [row.default for row in composition.interface_rows() if row[:2] == ("acme", "power")] == [False]
    assert "acme does not support the default power interface fake" in caplog.text


def test_the_rows_say_what_is_offered() -> None:
    rows = compose().interface_rows()
    assert {row.interface_type for row in rows} == set(KINDS)
    assert {row.hardware_type for row in rows} == {"acme"}
    power = [(row.interface_name, row.default) for row in rows if row.interface_type == "power"]
    assert power == [("acme-plus", True), ("acme", False)]
    assert all(row.listed for row in rows)
    assert sum(row.default for row in rows) == len(KINDS)


@pytest.mark.demand("S13")
@given(data=st.data())
@settings(max_examples=examples(60), deadline=None)
def test_any_set_of_enabled_interfaces_gives_the_default_that_the_rule_gives(data: st.DataObject) -> None:
    enabled = data.draw(st.lists(st.sampled_from(["acme", "acme-plus", "fake"]), unique=True, min_size=1))
    supported = ["fake", "acme-plus", "acme"]
    composition = compose(wanted("new", power=tuple(enabled)), registry({"new": NewAcmeHardware}))
    offered = [row.interface_name for row in composition.interface_rows() if row.interface_type == "power"]
    assert offered == [name for name in supported if name in enabled]
    assert composition.default("new", "power") == choose_default(supported, enabled, None)


def test_options_left_out_enable_the_first_choice_of_every_type() -> None:
    types = {"acme": AcmeHardware, "new": NewAcmeHardware}
    composition = compose(wanted("acme", "new", power=None, management=None), registry(types))
    offered = {row.interface_name for row in composition.interface_rows() if row.interface_type == "power"}
    assert offered == {"acme-plus", "fake"}
    assert composition.default("new", "power") == "fake"
    assert composition.default("new", "management") == "fake"


@pytest.mark.demand("S15")
def test_drivers_of_all_nodes_share_the_implementations() -> None:
    composition = compose()
    one = composition.driver_for(node(composition, "acme"))
    other = composition.driver_for(node(composition, "acme"))
    assert one is not other
    assert all(getattr(one, kind) is getattr(other, kind) is not None for kind in KINDS)
    assert type(one.power) is AcmePowerPlus


@pytest.mark.demand("S15")
def test_ten_thousand_drivers_take_the_memory_that_the_page_says() -> None:
    page = " ".join((ROOT / "doc" / "drivers.md").read_text().split())
    published = re.search(r"the drivers of 10,000 nodes take ([\d.]+) MB", page)
    assert published
    composition = compose()
    machine = node(composition, "acme")
    tracemalloc.start()
    try:
        drivers = [composition.driver_for(machine) for _ in range(10_000)]
        size = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(drivers) == 10_000
    assert not hasattr(drivers[0], "__dict__")
    assert size / 1e6 == pytest.approx(float(published[1]), rel=0.1)


def test_a_node_gets_what_it_chose() -> None:
    composition = compose()
    driver = composition.driver_for(node(composition, "acme", power_interface="acme"))
    assert type(driver.power) is AcmePower


@pytest.mark.demand("S22")
def test_an_empty_column_stands_for_the_default() -> None:
    composition = compose()
    driver = composition.driver_for(node(composition, "acme", power_interface=None))
    assert type(driver.power) is AcmePowerPlus


def test_an_instance_may_ask_for_another_interface_than_the_node_has() -> None:
    composition = compose()
    machine = node(composition, "acme", instance_info={"power_interface": "acme"})
    assert type(composition.driver_for(machine).power) is AcmePower


@pytest.mark.parametrize("name", [{"a": 1}, ["acme"], 7, "nonsense", "x" * 100_000])
def test_what_an_instance_asks_for_may_be_no_name_at_all(name: object) -> None:
    composition = compose()
    machine = node(composition, "acme", instance_info={"power_interface": name})
    driver = composition.driver_for(machine)
    assert driver.power is None
    with pytest.raises(InterfaceNotFoundInEntrypoint) as refusal:
        driver.require("power")
    assert len(str(refusal.value)) < 1000


@pytest.mark.parametrize("state", ["cleaning", "clean wait", "clean hold"])
def test_an_instance_has_no_say_in_its_cleaning(state: str) -> None:
    composition = compose()
    machine = node(composition, "acme", instance_info={"power_interface": "acme"}, provision_state=state)
    assert type(composition.driver_for(machine).power) is AcmePowerPlus


@pytest.mark.parametrize(
    "name, error",
    [
        ("switched-off-later", InterfaceNotFoundInEntrypoint),
        ("fake", IncompatibleInterface),
    ],
)
def test_an_interface_that_can_not_be_had_any_more_is_none_and_the_rest_works(
    name: str, error: type[Exception]
) -> None:
    types = {"acme": AcmeHardware, "new": NewAcmeHardware}
    composition = compose(wanted("acme", "new", power=("fake", "acme")), registry(types))
    driver = composition.driver_for(node(composition, "acme", power_interface=name))
    assert driver.power is None
    with pytest.raises(error, match=name):
        driver.require("power")
    assert driver.require("deploy") is driver.deploy is not None
    assert driver.get_properties() == {}


def test_a_driver_nobody_enabled_here_is_not_found() -> None:
    composition = compose()
    with pytest.raises(DriverNotFound, match="elsewhere"):
        composition.driver_for(Machine(driver="elsewhere"))
    with pytest.raises(DriverNotFound):
        composition.default("elsewhere", "power")


def test_an_empty_driver_requires_nothing_in_vain() -> None:
    with pytest.raises(UnsupportedDriverExtension, match="power"):
        BareDriver().require("power")


def test_what_is_asked_of_a_type_is_asked_of_its_defaults() -> None:
    composition = compose(wanted("acme", vendor=("fake", "no-vendor")), registry({"acme": VendorFirst}))
    driver = composition.default_driver("acme")
    assert composition.default("acme", "vendor") == "fake"
    assert type(driver.vendor) is fake.FakeVendorB
    assert driver.get_properties().keys() == {"B1", "B2"}


class VendorFirst(AcmeHardware):
    supported_vendor_interfaces = [fake.FakeVendorB]


@pytest.mark.demand("S17")
def test_what_no_enabled_type_can_use_is_neither_loaded_nor_an_error() -> None:
    published = registry(power={"unused": broken()}, vendor={"other": fake.FakeVendorA})
    wish = wanted("acme", power=("acme", "unused", "fake"), vendor=("no-vendor", "other"))
    composition = compose(wish, published)
    assert composition.default("acme", "power") == "acme"
    for kind, name in (("power", "unused"), ("power", "fake"), ("vendor", "other")):
        assert published[interfaces_group(kind)][name].loads == []


@pytest.mark.demand("S17")
def test_a_type_that_is_not_enabled_is_not_loaded() -> None:
    published = registry({"acme": AcmeHardware, "broken": broken()})
    assert compose(wanted("acme"), published).drivers.keys() == {"acme"}


@pytest.mark.demand("S6")
def test_a_vendors_type_inherits_lists_and_mixes_classes_with_names() -> None:
    composition = compose(wanted("mixed", power=("fake", "acme")), registry({"mixed": Mixed}))
    assert composition.default("mixed", "power") == "acme"
    assert composition.default("mixed", "inspect") == "no-inspect"


class Mixed(GenericHardware):
    """Lists as they are written by hand: class attributes, names and classes side by side."""

    supported_power_interfaces = [AcmePower, "fake"]
    supported_management_interfaces = ["fake"]
    supported_boot_interfaces = [fake.FakeBoot]
    supported_deploy_interfaces = ["acme"]


def test_a_subclass_of_a_supported_class_is_not_supported_by_that() -> None:
    class Old(AcmeHardware):
        supported_power_interfaces = [AcmePower]

    composition = compose(wanted("old", power=("acme", "acme-plus")), registry({"old": Old}))
    assert [row[2] for row in composition.interface_rows() if row.interface_type == "power"] == ["acme"]


def test_a_class_is_found_behind_an_entry_point_that_hands_it_on() -> None:
    # As with a package whose __init__ gathers what its modules define.
    elsewhere = Published(AcmePower, value="ironic.tests.unit.drivers.composition.test_composed_drivers:AcmePower")
    published = registry(power={"acme": elsewhere})
    assert compose(wanted("acme", power=("acme",)), published).default("acme", "power") == "acme"


def test_a_class_is_found_behind_an_entry_point_nobody_has_imported() -> None:
    gathered = Published(AcmePower, value="ironic.tests.unit.drivers.not_imported_yet:Power")
    published = registry(power={"acme": gathered})
    assert compose(wanted("acme", power=("acme",)), published).default("acme", "power") == "acme"


def test_fake_hardware_is_mixed_with_anything_that_is_enabled(conf: Callable[..., None]) -> None:
    enable_everything(conf, "fake-hardware")
    composition = Composition.load(CONF)
    rows = composition.interface_rows()
    assert {row[2] for row in rows if row.interface_type == "power"} == {"fake", "redfish"}
    assert {row[2] for row in rows if row.interface_type == "management"} == {"fake", "noop", "redfish"}
    assert {row[2] for row in rows if row.default} == {"fake", "noop"}
    machine = node(composition, "fake-hardware", power_interface="redfish", management_interface="redfish")
    driver = composition.driver_for(machine)
    assert type(driver.require("power")).__name__ == "RedfishPower"
    assert "redfish_address" in driver.get_properties()
    assert "redfish_address" not in composition.default_driver("fake-hardware").get_properties()


@pytest.mark.demand("S8", "S10")
def test_it_reads_the_options(conf: Callable[..., None]) -> None:
    conf(enabled_hardware_types=["acme", "acme"], default_power_interface="acme", **{
        f"enabled_{kind}_interfaces": list(names or ()) for kind, names in ENABLED.items()
    })  # fmt: skip
    composition = Composition.load(CONF, registry())
    assert composition.drivers.keys() == {"acme"}
    assert composition.default("acme", "power") == "acme"
    conf(conductor__clean_step_priority_override=[{"vendor.log_passthrough": "x"}], enabled_vendor_interfaces=["fake"])
    with pytest.raises(DriverLoadError, match="clean_step_priority_override, vendor.log_passthrough"):
        Composition.load(CONF, registry({"acme": VendorFirst}))


def test_an_empty_default_is_none(conf: Callable[..., None]) -> None:
    conf(
        enabled_hardware_types=["acme"], **{f"enabled_{kind}_interfaces": list(n or ()) for kind, n in ENABLED.items()}
    )
    unset = Composition.load(CONF, registry()).default("acme", "deploy")
    conf(default_deploy_interface="", default_storage_interface="")
    assert Composition.load(CONF, registry()).default("acme", "deploy") == unset


def enable_everything(conf: Callable[..., None], *types: str) -> None:
    conf(
        enabled_hardware_types=list(types),
        enabled_bios_interfaces=["fake", "no-bios"],
        enabled_boot_interfaces=["fake"],
        enabled_console_interfaces=["fake", "no-console"],
        enabled_deploy_interfaces=["fake", "noop"],
        enabled_firmware_interfaces=["fake", "no-firmware"],
        enabled_inspect_interfaces=["fake", "no-inspect"],
        enabled_management_interfaces=["fake", "noop", "redfish"],
        enabled_network_interfaces=["noop"],
        enabled_power_interfaces=["fake", "redfish"],
        enabled_raid_interfaces=["fake", "no-raid"],
        enabled_rescue_interfaces=["fake", "no-rescue"],
        enabled_storage_interfaces=["fake", "noop"],
        enabled_vendor_interfaces=["fake", "no-vendor"],
    )


@pytest.mark.demand("S17")
def test_the_redfish_library_stays_out_until_it_is_needed() -> None:
    program = (
        "import sys\n"
        "from ironic.drivers import base, fake_hardware, generic, redfish\n"
        "from ironic.drivers.composition.composed_drivers import Composition\n"
        "from ironic.drivers.composition.extensions import installed\n"
        "from ironic.drivers.composition.extensions import supported_names\n"
        "assert supported_names(redfish.RedfishHardware(), 'power', installed()) == ['redfish']\n"
        "assert 'sushy' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class Ticking(PowerInterface):
    """Counts how often its periodic method runs."""

    def __init__(self) -> None:
        self.ticks = 0

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Any) -> None:
        pass

    def get_power_state(self, task: Any) -> str | None:
        return None

    def set_power_state(self, task: Any, power_state: str, timeout: int | None = None) -> None:
        pass

    def reboot(self, task: Any, timeout: int | None = None) -> None:
        pass

    @periodic(spacing=30)
    def tick(self, conductor: Any, context: Any) -> None:
        self.ticks += 1

    @periodic(spacing=30, enabled=False)
    def tock(self, conductor: Any, context: Any) -> None:
        raise AssertionError("switched off")


class TickingToo(Ticking):
    """Inherits the method: with the base enabled as well, each has its own."""


@pytest.mark.demand("S18")
def test_periodic_methods_run_once_per_implementation_and_tick() -> None:
    class Clockwork(AcmeHardware):
        supported_power_interfaces = [Ticking, TickingToo]

    types = {"one": Clockwork, "two": Clockwork}
    published = registry(types, power={"ticking": Ticking, "ticking-too": TickingToo})
    composition = compose(wanted("one", "two", power=("ticking", "ticking-too")), published)
    machines = [node(composition, "one", power_interface=name) for name in ("ticking", "ticking-too")]
    powers: list[Any] = [composition.driver_for(machine).require("power") for machine in machines]

    methods = composition.periodic_methods()
    for method in methods:
        method.method(SimpleNamespace(), SimpleNamespace())

    assert [method.terms.spacing for method in methods] == [30, 30]
    assert [method.name for method in methods] == ["power interface ticking", "power interface ticking-too"]
    assert [method.users for method in methods] == [{"power_interface": "ticking"}, {"power_interface": "ticking-too"}]
    assert [power.ticks for power in powers] == [1, 1]


def test_the_helper_of_these_tests_enables_every_kind() -> None:
    assert ENABLED.keys() == set(KINDS)


@pytest.mark.demand("S78")
def test_a_driver_has_the_keys_of_bmc_addresses_that_its_hardware_type_declares() -> None:
    class Declaring(AcmeHardware):
        bmc_address_keys = ("acme_bmc",)

    composition = compose(wanted("old", power=("acme",)), registry({"old": Declaring}))
    assert composition.driver_for(node(composition, "old")).bmc_address_keys == ("acme_bmc",)
    composition = compose(wanted("acme", power=("acme",)), registry(power={"acme": Published(AcmePower)}))
    assert composition.driver_for(node(composition, "acme")).bmc_address_keys is None
    assert RedfishHardware.bmc_address_keys == ("redfish_address",)
