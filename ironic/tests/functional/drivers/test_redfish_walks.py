"""How long the ways to the power of a Redfish machine are, so that they do not grow without notice."""

import sys
from collections.abc import Callable

import pytest

from ironic.core.flows import states
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.tests.redfish_bmc import RedfishBmc
from ironic.tests.unit.drivers.machine import Work, work_on
from ironic.tests.walks import Length, follow


def read_power(power: RedfishPower, task: Work) -> None:
    assert power.get_power_state(task) == states.POWER_OFF


def power_on(power: RedfishPower, task: Work) -> None:
    power.set_power_state(task, states.POWER_ON)


WALKS: dict[str, tuple[Callable[[RedfishPower, Work], None], str, Length]] = {
    "reading the power state": (read_power, "RedfishPower.get_power_state", Length(132, 17, 57)),
    "powering on": (power_on, "ActionPower.set_power_state", Length(394, 24, 188)),
}


@pytest.mark.parametrize("title", WALKS)
def test_a_way_to_the_power_does_not_become_longer(title: str, guarded_bmc: RedfishBmc) -> None:
    operation, entry, longest = WALKS[title]
    power = RedfishPower()
    task = work_on(driver="redfish", driver_info=guarded_bmc.driver_info(0))
    # What is done once is no part of the walk, such as the first look at an option.
    power.set_power_state(task, states.POWER_ON)
    power.set_power_state(task, states.POWER_OFF)
    walk = follow(lambda: operation(power, task), entry)
    sys.stdout.write(f"\n{title}: {walk.length}\n")
    assert all(one <= most for one, most in zip(walk.length, longest, strict=True)), walk.listed()
