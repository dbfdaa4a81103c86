"""Calls of interfaces are measured if the process measures, under the name of the implementation."""

from collections.abc import Callable
from typing import Any

import pytest

from ironic.drivers.composition.composed_drivers import Composition
from ironic.drivers.composition.measured_calls import measured_methods
from ironic.drivers.contract.driver_periodics import node_periodic
from ironic.drivers.modules import fake
from ironic.integrations.metrics import METRICS
from ironic.tests.conftest import Setter
from ironic.tests.unit.drivers.machine import work_on
from ironic.tests.unit.drivers.plugins import ENABLED, AcmeHardware, AcmePower, compose, registry, wanted

PLUGINS = AcmePower.__module__


@pytest.fixture
def kept(conf: Setter, measure: Callable[[], None]) -> None:
    conf(metrics__backend="collector")
    measure()


def count(name: str) -> int:
    found: int = METRICS.collected()[name]["count"]
    return found


def acme(kind: str, name: str = "acme", composition: Composition | None = None) -> Any:
    composition = composition or compose(wanted("acme", power=("acme",)))
    return composition.implementation("acme", kind, name)


@pytest.mark.usefixtures("kept")
def test_a_call_is_measured_under_the_class_of_the_implementation() -> None:
    power, task = acme("power"), work_on()
    power.validate(task)
    power.validate(task=task)
    assert count(f"{PLUGINS}.AcmePower.validate") == 2


@pytest.mark.usefixtures("kept")
def test_a_step_is_measured_and_still_a_step() -> None:
    deploy, task = acme("deploy"), work_on()
    assert [step["step"] for step in deploy.all_steps("deploy")] == ["deploy"]
    deploy.execute_step("deploy", task, {"interface": "deploy", "step": "deploy"})
    assert count(f"{PLUGINS}.AcmeDeploy.deploy") == 1


class WatchingPower(AcmePower):
    @node_periodic("watching", 60, node_count_metric_name="watched")
    def watch(self, task: object, manager: object, context: object) -> None:
        pass


class WatchedHardware(AcmeHardware):
    supported_power_interfaces = (WatchingPower,)  # type: ignore[assignment]


@pytest.mark.usefixtures("kept")
def test_a_periodic_method_is_measured_and_still_periodic() -> None:
    published = registry({"acme": WatchedHardware}, power={"watching": WatchingPower})
    composition = compose(wanted("acme", power=("watching",)), published)
    (method,) = composition.periodic_methods()
    assert method.terms.nodes is not None and method.terms.nodes.count_metric == "watched"
    assert method.interface is acme("power", "watching", composition)
    method.method(work_on(), None, None)
    assert count(f"{__name__}.WatchingPower.watch") == 1


def test_an_implementation_stays_as_it_is_where_nothing_is_measured() -> None:
    assert vars(acme("power")) == {}


@pytest.mark.parametrize("kind", ENABLED)
def test_what_gets_a_task_is_measured_and_nothing_else(kind: str) -> None:
    plugin = type(acme(kind, next(iter(ENABLED[kind] or ())), compose()))
    found = set(measured_methods(plugin))
    assert "validate" in found
    assert not {"get_properties", "all_steps", "get_steps", "execute_clean_step"} & found


def test_a_step_of_an_implementation_is_among_what_is_measured() -> None:
    assert {"apply_configuration", "factory_reset", "cache_bios_settings"} <= set(measured_methods(fake.FakeBIOS))
