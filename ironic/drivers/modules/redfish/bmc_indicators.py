"""Indicators (LEDs) of a Redfish machine: on the system, its chassis and its drives.

A resource without an IndicatorLED has no indicator. An indicator is named by the identity of its resource.
"""

from collections.abc import Callable, Iterable
from typing import Final, Protocol

import sushy

from ironic.core.bmc_readings import Lights
from ironic.core.errors import InvalidParameterValue
from ironic.drivers import indicators
from ironic.drivers.modules.redfish.bmc_connection import System, optional
from ironic.drivers.task import Node


class Resource(Protocol):
    """A resource of the sushy library with an LED, which is one of sushy.IndicatorLED or None."""

    identity: str
    indicator_led: object

    def set_indicator_led(self, state: object) -> None:
        """Set the LED."""


_LEDS: Final = {
    indicators.OFF: sushy.IndicatorLED.OFF,
    indicators.ON: sushy.IndicatorLED.LIT,
    indicators.BLINKING: sushy.IndicatorLED.BLINKING,
}
_SHOWN: Final = {led: state for state, led in _LEDS.items()}


_RESOURCES: Final[dict[str, Callable[[System], Iterable[Resource]]]] = {
    indicators.SYSTEM: lambda system: [system],
    indicators.CHASSIS: lambda system: system.chassis,
    indicators.DISK: lambda system: [drive for storage in system.storage.get_members() for drive in storage.drives],
}


def describe_indicators(system: System, component: str | None = None) -> Lights:
    """Return the indicators by component and name; a component without any is left out unless it was requested."""
    found: Lights = {}
    for name in _RESOURCES:
        if component in (None, name):
            found[name] = {
                resource.identity: {"readonly": False, "states": [indicators.BLINKING, indicators.OFF, indicators.ON]}
                for resource in _with_led(system, name)
            }
    return {name: leds for name, leds in found.items() if leds or component}


def find_indicator(system: System, node: Node, component: str, name: str) -> Resource:
    """Return the resource of an indicator, or raise InvalidParameterValue."""
    for resource in _with_led(system, component):
        if resource.identity == name:
            return resource
    raise InvalidParameterValue(err=f"Node {node.uuid} has no indicator {name!r} on component {component!r}.")


def indicator_state(resource: Resource) -> str:
    """Return the state of an indicator."""
    return _SHOWN.get(resource.indicator_led, indicators.UNKNOWN)


def requested_led(node: Node, state: str) -> object:
    """Return the LED of a state, or raise InvalidParameterValue."""
    if state not in _LEDS:
        raise InvalidParameterValue(
            err=f"An indicator of node {node.uuid} can't be {state!r}, only {', '.join(_LEDS)}."
        )
    return _LEDS[state]


def check_component(node: Node, component: str) -> None:
    """Raise InvalidParameterValue for a component that never has indicators with Redfish."""
    if component not in _RESOURCES:
        raise InvalidParameterValue(
            err=f"Node {node.uuid} has no indicators on {component!r}; it may have some on {', '.join(_RESOURCES)}."
        )


def _with_led(system: System, component: str) -> list[Resource]:
    """Return the resources with an LED; a BMC that lacks the whole branch has none."""
    resources: list[Resource] = optional(lambda: list(_RESOURCES[component](system)), [])
    return [resource for resource in resources if resource.indicator_led is not None]
