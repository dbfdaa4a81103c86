"""Lights of a machine with a Redfish BMC: on the system, on its chassis, on its drives.

A resource without an IndicatorLED has no light. The name of a light is the identity of the resource it sits on.
"""

from collections.abc import Callable, Iterable
from typing import Final, Protocol

import sushy

from ironic.core.errors import InvalidParameterValue
from ironic.core.machine_documents import Light, Lights
from ironic.drivers import indicators
from ironic.drivers.modules.redfish.connection import System
from ironic.drivers.modules.redfish.optional import optional
from ironic.drivers.task import Node


class Resource(Protocol):
    """A resource of the sushy library that may carry a light; its LED is one of sushy.IndicatorLED."""

    identity: str
    indicator_led: object

    def set_indicator_led(self, state: object) -> None:
        """Switch the light."""


_LEDS: Final = {
    indicators.OFF: sushy.IndicatorLED.OFF,
    indicators.ON: sushy.IndicatorLED.LIT,
    indicators.BLINKING: sushy.IndicatorLED.BLINKING,
}
_SHOWN: Final = {led: state for state, led in _LEDS.items()}


def _drives(system: System) -> list[Resource]:
    return [drive for storage in system.storage.get_members() for drive in storage.drives]


_RESOURCES: Final[dict[str, Callable[[System], Iterable[Resource]]]] = {
    indicators.SYSTEM: lambda system: [system],
    indicators.CHASSIS: lambda system: system.chassis,
    indicators.DISK: _drives,
}


def describe(system: System, component: str | None = None) -> Lights:
    """Return the lights by component and name; a component without any is left out unless it was asked for."""
    found = {name: _described(system, name) for name in _RESOURCES if component in (None, name)}
    return {name: leds for name, leds in found.items() if leds or component}


def find(system: System, node: Node, component: str, name: str) -> Resource:
    """Return the resource that carries a light."""
    for resource in _with_light(system, component):
        if resource.identity == name:
            return resource
    raise InvalidParameterValue(err=f"Node {node.uuid} has no light {name!r} on component {component!r}.")


def shown(resource: Resource) -> str:
    """Return what a light shows."""
    return _SHOWN.get(resource.indicator_led, indicators.UNKNOWN)


def wanted(node: Node, state: str) -> object:
    """Return how Redfish calls a state, or refuse it."""
    if state not in _LEDS:
        raise InvalidParameterValue(err=f"A light of node {node.uuid} can't be {state!r}, only {', '.join(_LEDS)}.")
    return _LEDS[state]


def check_component(node: Node, component: str) -> None:
    """Refuse a component that carries no lights here."""
    if component not in _RESOURCES:
        raise InvalidParameterValue(
            err=f"Node {node.uuid} has no lights on {component!r}; it may have some on {', '.join(_RESOURCES)}."
        )


def _described(system: System, component: str) -> dict[str, Light]:
    return {
        resource.identity: {"readonly": False, "states": [indicators.BLINKING, indicators.OFF, indicators.ON]}
        for resource in _with_light(system, component)
    }


def _with_light(system: System, component: str) -> list[Resource]:
    """Return the resources with a light; a BMC that lacks the whole branch has none."""
    resources: list[Resource] = optional(lambda: list(_RESOURCES[component](system)), [])
    return [resource for resource in resources if resource.indicator_led is not None]
