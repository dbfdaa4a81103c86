"""Indicators of a Redfish machine, which are LEDs: shown and set by the names that users know."""

from typing import Final

import sushy

from ironic.core.bmc_readings import Lights
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.readings import Known
from ironic.drivers.contract import indicators
from ironic.drivers.contract.task import Node
from ironic.drivers.modules.redfish.orders.stored_changes import is_stored_soon
from ironic.drivers.modules.redfish.tree.bmc_leds import COMPONENTS, BmcLed, leds_of
from ironic.drivers.modules.redfish.wire.bmc_connection import System

_LEDS: Final = {
    indicators.OFF: sushy.IndicatorLED.OFF,
    indicators.ON: sushy.IndicatorLED.LIT,
    indicators.BLINKING: sushy.IndicatorLED.BLINKING,
}
_SHOWN: Final = {led: state for state, led in _LEDS.items()}


def describe_indicators(system: System, component: str | None = None) -> Lights:
    """Return the indicators by component and name; a component without any is left out unless it was requested."""
    found: Lights = {}
    for name in COMPONENTS:
        if component in (None, name):
            found[name] = {
                led.name: {"readonly": False, "states": [indicators.BLINKING, indicators.OFF, indicators.ON]}
                for led in leds_of(system, name)
            }
    return {name: leds for name, leds in found.items() if leds or component}


def find_indicator(system: System, node: Node, component: str, name: str) -> BmcLed:
    """Return the LED of an indicator, or raise MissingParameterValue."""
    for led in leds_of(system, component):
        if led.name == name:
            return led
    raise MissingParameterValue(err=f"Node {node.uuid} has no indicator {name!r} on component {component!r}.")


def indicator_state(led: BmcLed) -> str:
    """Return the state of an indicator."""
    return _SHOWN.get(led.state.shown(None), indicators.UNKNOWN)


def set_indicator(system: System, node: Node, component: str, name: str, state: str) -> None:
    """Set an indicator; raise RedfishError when the BMC accepts that and does not store it."""
    if state not in _LEDS:
        raise InvalidParameterValue(
            err=f"An indicator of node {node.uuid} can't be {state!r}, only {', '.join(_LEDS)}."
        )
    led = find_indicator(system, node, component, name)
    led.order(_LEDS[state])

    def is_shown() -> bool:
        led.refresh()
        return led.state == Known(_LEDS[state])

    if not is_stored_soon(is_shown):
        reason = f"the BMC has accepted {state} and has not stored it: it shows {indicator_state(led)}"
        what = f"setting indicator {name} of {component}"
        raise RedfishError(node=node.uuid, operation=what, error=reason)


def check_component(node: Node, component: str) -> None:
    """Raise InvalidParameterValue for a component that never has indicators with Redfish."""
    if component not in COMPONENTS:
        raise InvalidParameterValue(
            err=f"Node {node.uuid} has no indicators on {component!r}; it may have some on {', '.join(COMPONENTS)}."
        )
