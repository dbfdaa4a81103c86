"""Power of a machine with a Redfish BMC.

An action ends when the BMC reports the wanted state, not when it has accepted the order. A restart goes through "off"
so that both halves can be seen; a node that must not be powered off is restarted by a single order instead.
"""

import logging
from collections.abc import Callable
from typing import Final

import sushy
from sushy import ResetType as Reset
from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core import states
from ironic.core.errors import InvalidParameterValue, PowerStateFailure
from ironic.core.management_errors import DriverOperationError
from ironic.drivers.interfaces import PowerInterface
from ironic.drivers.modules.redfish.access import PROPERTIES, access_of
from ironic.drivers.modules.redfish.connection import System, change, read
from ironic.drivers.task import Node, Task
from ironic.drivers.waiting import retrying, until

LOG = logging.getLogger(__name__)

# A state on the way counts as the one it leads to, so that power synchronisation leaves the machine alone.
_REPORTED: Final = {
    sushy.PowerState.ON: states.POWER_ON,
    sushy.PowerState.POWERING_ON: states.POWER_ON,
    sushy.PowerState.OFF: states.POWER_OFF,
    sushy.PowerState.POWERING_OFF: states.POWER_OFF,
}
_SETTLED: Final = {states.POWER_ON: sushy.PowerState.ON, states.POWER_OFF: sushy.PowerState.OFF}

_POLL_SECONDS: Final = 1.0
_CONFLICT: Final = 409


class RedfishPower(PowerInterface):
    """Turns machines on and off, the hard and the soft way."""

    def get_properties(self) -> dict[str, str]:
        return dict(PROPERTIES)

    def validate(self, task: Task) -> None:
        access_of(task.node)

    def get_power_state(self, task: Task) -> str | None:
        state = read(task.node, "reading the power state", lambda system: system.power_state)
        return _REPORTED.get(state)

    def set_power_state(self, task: Task, power_state: str, timeout: int | None = None) -> None:
        act = _ACTIONS.get(power_state)
        if act is None:
            raise InvalidParameterValue(err=f"Node {task.node.uuid} knows no power state {power_state!r}.")
        try:
            act(task.node, timeout)
        except DriverOperationError as error:
            raise PowerStateFailure(node=task.node.uuid, target=power_state, reason=str(error)) from error

    def reboot(self, task: Task, timeout: int | None = None) -> None:
        self.set_power_state(task, states.REBOOT, timeout)

    def get_supported_power_states(self, task: Task) -> list[str]:
        return list(_ACTIONS)


def _power_on(node: Node, timeout: int | None) -> None:
    _reach(node, states.POWER_ON, Reset.ON, timeout)


def _power_off(node: Node, timeout: int | None) -> None:
    _reach(node, states.POWER_OFF, Reset.FORCE_OFF, timeout)


def _soft_power_off(node: Node, timeout: int | None) -> None:
    _reach(node, states.POWER_OFF, Reset.GRACEFUL_SHUTDOWN, timeout or CONF.conductor.soft_power_off_timeout)


def _restart(node: Node, timeout: int | None) -> None:
    if node.disable_power_off and _is_on(node):
        _order(node, Reset.FORCE_RESTART)
        _wait(node, states.POWER_ON, timeout)
    else:
        _power_off(node, timeout)
        _power_on(node, timeout)


def _soft_restart(node: Node, timeout: int | None) -> None:
    if node.disable_power_off and _is_on(node):
        _order(node, Reset.GRACEFUL_RESTART)
        _wait(node, states.POWER_ON, timeout)
    else:
        _soft_power_off(node, timeout)
        _power_on(node, timeout)


_ACTIONS: Final[dict[str, Callable[[Node, int | None], None]]] = {
    states.POWER_ON: _power_on,
    states.POWER_OFF: _power_off,
    states.REBOOT: _restart,
    states.SOFT_REBOOT: _soft_restart,
    states.SOFT_POWER_OFF: _soft_power_off,
}


def _reach(node: Node, target: str, reset: Reset, timeout: int | None) -> None:
    """Bring the machine to a state unless it is there already; some BMCs refuse what is already so."""
    if _state(node) is not _SETTLED[target]:
        _order(node, reset)
        _wait(node, target, timeout)


def _order(node: Node, reset: Reset) -> None:
    change(node, f"power action {reset.value}", lambda system: _reset(system, reset))


def _reset(system: System, reset: Reset) -> None:
    """Send the order; a BMC still busy with powering off may refuse to power on for a while."""
    options = CONF.redfish
    retrying(
        options.power_on_conflict_retry_attempts + 1,
        options.power_on_conflict_retry_interval,
        lambda error: (
            reset is Reset.ON and isinstance(error, sushy_errors.HTTPError) and error.status_code == _CONFLICT
        ),
        lambda error: LOG.debug("A Redfish BMC is too busy to power on, trying again: %s", error),
    )(system.reset_system, reset)


def _wait(node: Node, target: str, timeout: int | None) -> None:
    seconds = timeout or CONF.conductor.power_state_change_timeout
    if not until(lambda: _state(node) is _SETTLED[target], timeout=seconds, interval=_POLL_SECONDS):
        raise PowerStateFailure(
            node=node.uuid,
            target=target,
            reason=f"BMC {access_of(node).address} of node {node.uuid} took the order, but did not report "
            f"{target!r} within {seconds} seconds. Look at the machine, or allow it more time.",
        )


def _is_on(node: Node) -> bool:
    return _state(node) is sushy.PowerState.ON


def _state(node: Node) -> sushy.PowerState | None:
    state: sushy.PowerState | None = read(node, "reading the power state", lambda system: system.power_state)
    return state
