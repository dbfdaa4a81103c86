"""Classic drivers: what is loaded, what stops the start, and the driver that their nodes get."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from ironic.common import exception
from ironic.conf import CONF
from ironic.core.errors import DriverLoadError, FixedInterface, UnsupportedDriverExtension
from ironic.drivers import base
from ironic.drivers.composition.composed_drivers import Composition
from ironic.drivers.composition.composer import Composer
from ironic.drivers.composition.driver_options import DriverOptions
from ironic.drivers.composition.extensions import CLASSIC_GROUP
from ironic.drivers.contract.driver_periodics import node_periodic, periodic
from ironic.drivers.fake_driver import FakeDriver
from ironic.drivers.hardware_type import DUMMIES
from ironic.drivers.modules import fake
from ironic.tests.unit.drivers.machine import Machine
from ironic.tests.unit.drivers.plugins import ENABLED, ManySteps, Published, Registry, broken, registry, wanted


class AcmeDriver(base.BaseDriver):
    """A vendor's driver with what it needs only; it calls no parent's constructor, as they do."""

    def __init__(self) -> None:
        self.power = fake.FakePower()
        self.deploy = fake.FakeDeploy()


def published(**drivers: Any) -> Registry:
    """Publish classic drivers beside the hardware type acme."""
    return registry() | {CLASSIC_GROUP: {name: Published(cls) for name, cls in drivers.items()}}


def enabled(*names: str, types: tuple[str, ...] = ()) -> DriverOptions:
    return replace(wanted(), hardware_types=types, classic_drivers=names)


def compose(options: DriverOptions, found: Registry) -> Composition:
    return Composition(*Composer(options, found).compose())


def faults(options: DriverOptions, found: Registry) -> list[str]:
    with pytest.raises(DriverLoadError) as stop:
        compose(options, found)
    listed: list[str] = stop.value.facts["faults"]
    return listed


class Cleaning(AcmeDriver):
    """A driver whose clean steps end in every way."""

    def __init__(self) -> None:
        super().__init__()
        self.vendor = Steps()


class Steps(ManySteps):
    @base.clean_step(priority=20)
    def early(self, task: Any) -> str:
        return "clean wait"

    @base.clean_step(priority=11)
    def scrub(self, task: Any) -> None:
        raise exception.IronicException("the disk is on fire")

    @base.clean_step(priority=5)
    def wipe(self, task: Any) -> None:
        raise RuntimeError("boom")


@pytest.mark.demand("S43", "S64")
def test_a_driver_as_a_whole_lists_and_runs_the_clean_steps_of_all_its_interfaces() -> None:
    node: Any = SimpleNamespace(node=Machine())
    of_node = compose(enabled("old"), published(old=Cleaning)).default_driver("old")
    for driver in (Cleaning(), of_node):
        steps = driver.get_clean_steps(node)
        assert [step["step"] for step in steps if step["interface"] == "vendor"] == ["early", "scrub", "wipe"]
        assert [step["priority"] for step in steps] == sorted((step["priority"] for step in steps), reverse=True)
        early, scrub, wipe = (step for step in steps if step["interface"] == "vendor")
        assert driver.execute_clean_steps(node, early) == "clean wait"
        unknown = {"interface": "vendor", "step": "nothing"}
        cases: list[tuple[dict[str, Any], str]] = [
            (scrub, "the disk is on fire"),
            (wipe, "unexpected RuntimeError: boom"),
            (unknown, "nothing"),
            ({"interface": "bios", "step": "x"}, "x" if driver is of_node else "bios"),
            ({"interface": "console", "step": "x"}, "console"),
        ]
        for step, why in cases:
            with pytest.raises(exception.CleanStepFailed, match=why) as failed:
                driver.execute_clean_steps(node, step)
            assert isinstance(failed.value, exception.NodeCleaningFailure)
            assert failed.value.facts["step"] == f"{step['interface']}.{step['step']}"


@pytest.mark.demand("S8", "S19")
def test_the_option_enables_drivers_of_their_own_group(conf: Callable[..., None]) -> None:
    conf(enabled_hardware_types=[], enabled_drivers=["fake", "fake"])
    composition = Composition.load(CONF)
    assert {name: type(driver) for name, driver in composition.drivers.items()} == {"fake": FakeDriver}
    assert composition.interface_rows() == []
    conf(enabled_hardware_types=["acme"], enabled_drivers=[], **{
        f"enabled_{kind}_interfaces": list(names or ()) for kind, names in ENABLED.items()
    })  # fmt: skip
    assert Composition.load(CONF, published(fake=FakeDriver)).drivers.keys() == {"acme"}


@pytest.mark.demand("S19")
def test_classic_drivers_are_served_beside_hardware_types() -> None:
    composition = compose(enabled("old", types=("acme",)), published(old=AcmeDriver))
    assert composition.drivers.keys() == {"acme", "old"}
    assert {row.hardware_type for row in composition.interface_rows()} == {"acme"}


@pytest.mark.demand("S19")
def test_a_name_that_is_a_hardware_type_as_well_stops_the_start() -> None:
    (fault,) = faults(enabled("acme", types=("acme",)), published(acme=AcmeDriver))
    assert fault.startswith("acme is enabled as a hardware type and as a classic driver")
    assert "enabled_hardware_types or enabled_drivers" in fault
    assert compose(enabled("acme"), published(acme=AcmeDriver)).drivers.keys() == {"acme"}


class NoPower(base.BaseDriver):
    def __init__(self) -> None:
        self.deploy = fake.FakeDeploy()


class Crossed(AcmeDriver):
    def __init__(self) -> None:
        super().__init__()
        self.management: Any = fake.FakePower()


class NoLibrary(AcmeDriver):
    def __init__(self) -> None:
        raise exception.DriverLoadError(driver="NoLibrary", reason="acmelib is not installed")


class Stepping(AcmeDriver):
    def __init__(self) -> None:
        super().__init__()
        self.deploy: Any = type(
            "ManyDeploySteps", (fake.FakeDeploy,), {"wipe": ManySteps.wipe, "scrub": ManySteps.scrub}
        )()


@pytest.mark.demand("S16", "S19")
@pytest.mark.parametrize(
    "driver, expected",
    [
        (NoPower, "classic driver old sets no power interface"),
        (Crossed, "the management interface of classic driver old is no object of a subclass of ironic.drivers."),
        (NoLibrary, "acmelib is not installed"),
        (fake.FakePower, "is no subclass of ironic.drivers.contract.classic_driver.BaseDriver"),
        (Stepping, "deploy interface of classic driver old has clean steps of equal priority 10: scrub, wipe"),
    ],
)
def test_a_driver_that_can_not_be_used_stops_the_start(driver: Any, expected: str) -> None:
    (fault,) = faults(enabled("old"), published(old=driver))
    assert expected in fault


@pytest.mark.demand("S16", "S19")
def test_all_faults_are_reported_at_once() -> None:
    found = faults(enabled("old", "odd", types=("acme", "other")), published(old=NoPower))
    assert len(found) == 3
    text = "\n".join(found)
    assert "there is no classic driver odd (option enabled_drivers); installed ones: old" in text
    assert "there is no hardware type other" in text and "sets no power interface" in text
    found_group = published()
    found_group[CLASSIC_GROUP] = {"old": broken()}
    assert "No module named 'vendorlib'" in faults(enabled("old"), found_group)[0]


@pytest.mark.demand("S19", "S23")
def test_a_nodes_driver_has_the_fixed_interfaces_and_dummies_for_the_others() -> None:
    composition = compose(enabled("old", types=("acme",)), published(old=AcmeDriver))
    first, second = (composition.driver_for(Machine(driver="old")) for _ in range(2))
    fixed: Any = composition.drivers["old"]
    assert first.power is second.power is fixed.power
    assert first.deploy is fixed.deploy
    assert {kind: type(getattr(first, kind)) for kind in DUMMIES} == {
        kind: registry()[f"ironic.hardware.interfaces.{kind}"][name].what for kind, name in DUMMIES.items()
    }
    for kind in ("boot", "management"):
        assert getattr(first, kind) is None
        with pytest.raises(UnsupportedDriverExtension, match=f"Driver old does not support {kind} interfaces"):
            first.require(kind)


@pytest.mark.demand("S23")
def test_an_instance_can_not_choose_an_interface_either() -> None:
    composition = compose(enabled("old", types=("acme",)), published(old=AcmeDriver))
    driver = composition.driver_for(Machine(driver="old", instance_info={"power_interface": "acme"}))
    assert driver.power is None and driver.deploy is not None
    with pytest.raises(FixedInterface, match="power_interface must be null"):
        driver.require("power")
    with pytest.raises(FixedInterface):
        composition.implementation("old", "deploy", "acme")


@pytest.mark.demand("S19")
def test_a_classic_driver_answers_requests_on_the_driver_itself() -> None:
    driver = compose(enabled("old"), published(old=FakeDriver)).default_driver("old")
    assert driver.get_properties() == fake.FakeVendorB().get_properties() | fake.FakeRAID().get_properties()
    assert driver.vendor is not None and driver.vendor.driver_routes == fake.FakeVendorB().driver_routes


class TickingPower(fake.FakePower):
    @periodic(spacing=10)
    def tick(self, manager: Any, context: Any) -> None:
        pass

    @node_periodic(purpose="visiting", spacing=10)
    def visit(self, task: Any, manager: Any, context: Any) -> None:
        pass


class Ticking(AcmeDriver):
    def __init__(self) -> None:
        super().__init__()
        self.power = TickingPower()


@pytest.mark.demand("S18", "S19")
def test_drivers_of_one_class_of_interface_share_its_periodic_method_but_not_their_nodes() -> None:
    composition = compose(enabled("one", "two"), published(one=Ticking, two=Ticking))
    methods = composition.periodic_methods()
    assert [method.title for method in methods] == [
        "power interface of driver one: tick",
        "power interface of driver one: visit",
        "power interface of driver two: visit",
    ]
    visits = methods[1:]
    assert [method.users for method in visits] == [{"driver": "one"}, {"driver": "two"}]
    assert visits[1].interface is composition.driver_for(Machine(driver="two")).power
