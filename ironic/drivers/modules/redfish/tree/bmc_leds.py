"""The LEDs of a Redfish machine: on the system, its chassis and its drives.

A resource without an IndicatorLED has none. That of the system and of a chassis is named by the UUID, that of a drive
by storage and drive. Source: doc/contract/drivers.md#indicators-and-sensors-of-redfish-machines.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

import sushy

from ironic.core.readings import Known, Value
from ironic.drivers.contract import indicators
from ironic.drivers.modules.redfish.tree.certainty import word_at
from ironic.drivers.modules.redfish.tree.members import of_each, seen_chassis, seen_drives, seen_members
from ironic.drivers.modules.redfish.wire.bmc_system import System, optional


class BmcLed:
    """An LED, by the name that users know."""

    def __init__(self, name: str, resource: Any) -> None:
        self.name = name
        self._resource = resource

    @property
    def state(self) -> Value[sushy.IndicatorLED]:
        """How it shines."""
        return word_at(self._resource, "IndicatorLED", sushy.IndicatorLED)

    def order(self, state: sushy.IndicatorLED) -> None:
        """Have the BMC set it."""
        self._resource.set_indicator_led(state)

    def refresh(self) -> None:
        """Read it again."""
        self._resource.refresh(force=True)


# By component, by the name that users know.
_LEDS: Final[dict[str, Callable[[System], Iterable[BmcLed]]]] = {
    indicators.SYSTEM: lambda system: [BmcLed(system.uuid or system.identity, system)],
    indicators.CHASSIS: lambda system: [
        BmcLed(chassis.uuid or chassis.identity, chassis) for chassis in seen_chassis(system).items
    ],
    indicators.DISK: lambda system: of_each(
        seen_members(system, "storage").items,
        lambda storage: [BmcLed(f"{storage.identity}:{drive.identity}", drive) for drive in seen_drives(storage).items],
    ),
}
COMPONENTS: Final = tuple(_LEDS)


def leds_of(system: System, component: str) -> list[BmcLed]:
    """Return the LEDs of a component; those whose state is not known are none."""
    every: list[BmcLed] = optional(lambda: list(_LEDS[component](system)), [])
    return [led for led in every if isinstance(led.state, Known)]
