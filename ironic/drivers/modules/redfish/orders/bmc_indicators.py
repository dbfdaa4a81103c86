"""Indicators of a Redfish machine, which are LEDs: shown and set by the names that users know."""

from typing import Final

import sushy

from ironic.core.bmc_readings import Lights
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.errors.hardware_errors import RedfishError
from ironic.core.readings import Known
from ironic.drivers.contract import indicators
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.redfish.orders.stored_changes import is_stored_soon
from ironic.drivers.modules.redfish.tree.bmc_leds import COMPONENTS, BmcLed, leds_of
from ironic.drivers.modules.redfish.wire.bmc_connection import change, read
from ironic.drivers.modules.redfish.wire.bmc_system import System

_LEDS: Final = {
    indicators.OFF: sushy.IndicatorLED.OFF,
    indicators.ON: sushy.IndicatorLED.LIT,
    indicators.BLINKING: sushy.IndicatorLED.BLINKING,
}
_SHOWN: Final = {led: state for state, led in _LEDS.items()}


def describe(task: Task, component: str | None = None) -> Lights:
    """Return the indicators by component and name; a component without any is left out unless it was requested."""
    if component is not None:
        _check_component(task.node, component)

    def look(system: System) -> Lights:
        found: Lights = {}
        for name in COMPONENTS:
            if component in (None, name):
                found[name] = {
                    led.name: {"readonly": False, "states": [indicators.BLINKING, indicators.OFF, indicators.ON]}
                    for led in leds_of(system, name)
                }
        return {name: leds for name, leds in found.items() if leds or component}

    return read(task, "reading the indicators", look)


def shown_state(task: Task, component: str, name: str) -> str:
    """Return the state of an indicator; raise MissingParameterValue where the component has none of the name."""
    _check_component(task.node, component)
    return read(
        task,
        f"reading indicator {name} of {component}",
        lambda system: _state_of(_find(system, task.node, component, name)),
    )


def set_state(task: Task, component: str, name: str, state: str) -> None:
    """Set an indicator; raise RedfishError when the BMC accepts that and does not store it."""
    _check_component(task.node, component)
    what = f"setting indicator {name} of {component}"

    def act(system: System) -> None:
        if state not in _LEDS:
            raise InvalidParameterValue(
                err=f"An indicator of node {task.node.uuid} can't be {state!r}, only {', '.join(_LEDS)}."
            )
        led = _find(system, task.node, component, name)
        led.order(_LEDS[state])

        def is_shown() -> bool:
            led.refresh()
            return led.state == Known(_LEDS[state])

        if not is_stored_soon(is_shown):
            reason = f"the BMC has accepted {state} and has not stored it: it shows {_state_of(led)}"
            raise RedfishError(node=task.node.uuid, operation=what, error=reason)

    change(task, what, act)


def _find(system: System, node: Node, component: str, name: str) -> BmcLed:
    """Return the LED of an indicator, or raise MissingParameterValue."""
    for led in leds_of(system, component):
        if led.name == name:
            return led
    raise MissingParameterValue(err=f"Node {node.uuid} has no indicator {name!r} on component {component!r}.")


def _state_of(led: BmcLed) -> str:
    return _SHOWN.get(led.state.shown(None), indicators.UNKNOWN)


def _check_component(node: Node, component: str) -> None:
    """Raise InvalidParameterValue for a component that never has indicators with Redfish."""
    if component not in COMPONENTS:
        raise InvalidParameterValue(
            err=f"Node {node.uuid} has no indicators on {component!r}; it may have some on {', '.join(COMPONENTS)}."
        )
