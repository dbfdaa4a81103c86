"""Indicators (LEDs) of a Redfish machine: on the system, its chassis and its drives.

A resource without an IndicatorLED has no indicator. That of the system and of a chassis is named by the UUID, that of a
drive by storage and drive. Source: doc/contract/drivers.md#indicators-and-sensors-of-redfish-machines.
"""

from collections.abc import Callable, Iterable
from typing import Final, Protocol

import sushy

from ironic.core.bmc_readings import Lights
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.errors.hardware_errors import RedfishError
from ironic.drivers.contract import indicators
from ironic.drivers.contract.task import Node
from ironic.drivers.modules.redfish.orders.stored_changes import is_stored_soon
from ironic.drivers.modules.redfish.tree.members import of_each, seen_chassis, seen_drives, seen_members
from ironic.drivers.modules.redfish.wire.bmc_connection import System, optional


class Resource(Protocol):
    """A resource of the sushy library with an LED, which is one of sushy.IndicatorLED or None."""

    identity: str
    indicator_led: object

    def set_indicator_led(self, state: object) -> None:
        """Set the LED."""

    def refresh(self, *, force: bool) -> None:
        """Read it again."""


_LEDS: Final = {
    indicators.OFF: sushy.IndicatorLED.OFF,
    indicators.ON: sushy.IndicatorLED.LIT,
    indicators.BLINKING: sushy.IndicatorLED.BLINKING,
}
_SHOWN: Final = {led: state for state, led in _LEDS.items()}


_Named = Iterable[tuple[str, Resource]]

# The indicators of each component, by the name that users know.
_RESOURCES: Final[dict[str, Callable[[System], _Named]]] = {
    indicators.SYSTEM: lambda system: [(system.uuid or system.identity, system)],
    indicators.CHASSIS: lambda system: [
        (chassis.uuid or chassis.identity, chassis) for chassis in seen_chassis(system).items
    ],
    indicators.DISK: lambda system: of_each(
        seen_members(system, "storage").items,
        lambda storage: [(f"{storage.identity}:{drive.identity}", drive) for drive in seen_drives(storage).items],
    ),
}


def describe_indicators(system: System, component: str | None = None) -> Lights:
    """Return the indicators by component and name; a component without any is left out unless it was requested."""
    found: Lights = {}
    for name in _RESOURCES:
        if component in (None, name):
            found[name] = {
                led: {"readonly": False, "states": [indicators.BLINKING, indicators.OFF, indicators.ON]}
                for led, _resource in _with_led(system, name)
            }
    return {name: leds for name, leds in found.items() if leds or component}


def find_indicator(system: System, node: Node, component: str, name: str) -> Resource:
    """Return the resource of an indicator, or raise MissingParameterValue."""
    for led, resource in _with_led(system, component):
        if led == name:
            return resource
    raise MissingParameterValue(err=f"Node {node.uuid} has no indicator {name!r} on component {component!r}.")


def indicator_state(resource: Resource) -> str:
    """Return the state of an indicator."""
    return _SHOWN.get(resource.indicator_led, indicators.UNKNOWN)


def set_indicator(system: System, node: Node, component: str, name: str, state: str) -> None:
    """Set an indicator; raise RedfishError when the BMC accepts that and does not store it."""
    if state not in _LEDS:
        raise InvalidParameterValue(
            err=f"An indicator of node {node.uuid} can't be {state!r}, only {', '.join(_LEDS)}."
        )
    resource = find_indicator(system, node, component, name)
    resource.set_indicator_led(_LEDS[state])

    def is_shown() -> bool:
        resource.refresh(force=True)
        return bool(resource.indicator_led == _LEDS[state])

    if not is_stored_soon(is_shown):
        reason = f"the BMC has accepted {state} and has not stored it: it shows {indicator_state(resource)}"
        what = f"setting indicator {name} of {component}"
        raise RedfishError(node=node.uuid, operation=what, error=reason)


def check_component(node: Node, component: str) -> None:
    """Raise InvalidParameterValue for a component that never has indicators with Redfish."""
    if component not in _RESOURCES:
        raise InvalidParameterValue(
            err=f"Node {node.uuid} has no indicators on {component!r}; it may have some on {', '.join(_RESOURCES)}."
        )


def _with_led(system: System, component: str) -> list[tuple[str, Resource]]:
    """Return the resources with an LED by name; a BMC that lacks the whole branch has none."""
    resources: list[tuple[str, Resource]] = optional(lambda: list(_RESOURCES[component](system)), [])
    return [(name, resource) for name, resource in resources if resource.indicator_led is not None]
