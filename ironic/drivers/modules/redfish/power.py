"""Power interface `redfish`.

An action ends when the BMC reports the target state, not when it has accepted the request. A restart switches the
machine off and on, so that both changes can be observed; a node that must not be powered off is reset instead.
"""

import functools
import logging
from collections.abc import Mapping
from typing import Final

import sushy
from sushy import ResetType as Reset
from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core import node_rules
from ironic.core.flows import states
from ironic.core.readings import Known
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.bmc.bmc_gateway import CallClass
from ironic.drivers.modules.bmc.power_actions import Action, ActionPower, await_power, await_shutdown, shuts_down
from ironic.drivers.modules.redfish.bmc_survey import SURVEY
from ironic.drivers.modules.redfish.orders import boot_override, firmware_updates
from ironic.drivers.modules.redfish.orders.resets import offered
from ironic.drivers.modules.redfish.orders.restarts import state_unknown
from ironic.drivers.modules.redfish.tree.certainty import target_of
from ironic.drivers.modules.redfish.tree.machine_state import power_of
from ironic.drivers.modules.redfish.wire.bmc_access import PROPERTIES, access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import change, read_document
from ironic.drivers.modules.redfish.wire.bmc_messages import reason_of
from ironic.drivers.modules.redfish.wire.bmc_system import System
from ironic.drivers.modules.redfish.wire.differences import Behaviour
from ironic.drivers.modules.redfish.wire.quirks import shows, state_named_in

LOG = logging.getLogger(__name__)

# A transition counts as its target state, so that power synchronisation does not interfere.
_REPORTED: Final = {
    sushy.PowerState.ON: states.POWER_ON,
    sushy.PowerState.POWERING_ON: states.POWER_ON,
    sushy.PowerState.OFF: states.POWER_OFF,
    sushy.PowerState.POWERING_OFF: states.POWER_OFF,
}
_SETTLED: Final = {states.POWER_ON: sushy.PowerState.ON, states.POWER_OFF: sushy.PowerState.OFF}

# Some BMCs spell them in another case.
_WORDS: Final = {state.value.lower(): state for state in sushy.PowerState}

# The states that requests lead to; a restart leads to the state that the machine is in.
_LEADS_TO: Final = {
    Reset.ON: sushy.PowerState.ON,
    Reset.FORCE_OFF: sushy.PowerState.OFF,
    Reset.GRACEFUL_SHUTDOWN: sushy.PowerState.OFF,
}
_BOOTS: Final = (Reset.ON, Reset.FORCE_RESTART, Reset.GRACEFUL_RESTART)

_REFUSALS: Final = (400, 409)


class RedfishPower(ActionPower):
    """Switches machines on and off through Redfish, forced or by a graceful shutdown."""

    survey = SURVEY
    is_needed = True

    def get_properties(self) -> dict[str, str]:
        return dict(PROPERTIES)

    def validate(self, task: Task) -> None:
        access_of(task.node)

    def lacks(self, system: System) -> str | None:
        # The library checks the names of actions at their first use.
        if target_of(system, "ComputerSystem.Reset") is None:
            return "no action (ComputerSystem.Reset) that changes the power"
        return None

    def get_power_state(self, task: Task) -> str | None:
        state = _state(task, anew=True)
        return None if state is None else _REPORTED.get(state)

    def supports_power_sync(self, task: Task) -> bool:
        """Return False while firmware is updated: the BMC may restart, and the machine with it."""
        return not firmware_updates.are_under_way(task.node)

    @property
    def actions(self) -> Mapping[str, Action]:
        """The actions of this module."""
        return _ACTIONS


def _power_on(task: Task, timeout: int | None) -> None:
    _reach(task, states.POWER_ON, Reset.ON, timeout)


def _power_off(task: Task, timeout: int | None) -> None:
    _reach(task, states.POWER_OFF, Reset.FORCE_OFF, timeout)


def _soft_power_off(task: Task, timeout: int | None) -> None:
    if _state(task) is not sushy.PowerState.OFF:
        _request(task, Reset.GRACEFUL_SHUTDOWN)
        is_off = functools.partial(_is_settled, task, states.POWER_OFF)
        await_shutdown(task, access_of(task.node).address, is_off, timeout)


def _restart(task: Task, timeout: int | None) -> None:
    _restart_by(task, Reset.FORCE_RESTART, _power_off, timeout)


def _soft_restart(task: Task, timeout: int | None) -> None:
    _restart_by(task, Reset.GRACEFUL_RESTART, _soft_power_off, timeout)


def _restart_by(task: Task, reset: Reset, switch_off: Action, timeout: int | None) -> None:
    """Switch the machine off and on, or reset one that must not be powered off; order nothing in an unknown state."""
    state = _state(task)
    if state is None:
        raise state_unknown(task, f"power action {reset.value}")
    if not task.node.disable_power_off:
        switch_off(task, timeout)
        if not shuts_down(task):
            _power_on(task, timeout)
    elif _REPORTED.get(state) == states.POWER_OFF:
        _power_on(task, timeout)
    else:
        _request(task, reset)
        _wait(task, states.POWER_ON, timeout)


_ACTIONS: Final[Mapping[str, Action]] = {
    states.POWER_ON: _power_on,
    states.POWER_OFF: _power_off,
    states.REBOOT: _restart,
    states.SOFT_REBOOT: _soft_restart,
    states.SOFT_POWER_OFF: _soft_power_off,
}


def _reach(task: Task, target: str, reset: Reset, timeout: int | None) -> None:
    """Bring the machine into a state unless it is in it; some BMCs refuse a request that changes nothing."""
    if _state(task) is not _SETTLED[target]:
        _request(task, reset)
        _wait(task, target, timeout)


def _request(task: Task, reset: Reset) -> None:
    """Send a reset request; a BMC that is still powering off may refuse to power on for a while.

    A refusal is none if the machine is in the wanted state already.
    """
    options = CONF.redfish
    if _LEADS_TO.get(reset) is sushy.PowerState.OFF:
        node_rules.check_power_off(task.node, states.POWER_OFF)
    if reset in _BOOTS:
        boot_override.restore_device(task)

    def send(system: System) -> None:
        try:
            system.reset_system(offered(task.node, system, reset))
        except sushy_errors.HTTPError as error:
            if error.status_code not in _REFUSALS or not _is_there(system, reset, error):
                raise
            said = reason_of(error)
            LOG.info("The BMC refuses power action %s because the machine is in that state: %s", reset.value, said)

    with_retries = task.clock.retrying(
        options.power_on_conflict_retry_attempts + 1,
        options.power_on_conflict_retry_interval,
        lambda error: reset is Reset.ON and shows(error, Behaviour.BUSY_AT_POWER_ON),
        lambda error: LOG.debug("A Redfish BMC is too busy to power on, trying again: %s", error),
    )
    change(task, f"power action {reset.value}", lambda system: with_retries(send, system), kind=CallClass.POWER)


def _is_there(system: System, reset: Reset, error: sushy_errors.HTTPError) -> bool:
    """Return whether the machine is in the state that a refused request should lead to."""
    wanted = _LEADS_TO.get(reset)
    if wanted is None:
        return False
    system.refresh(force=True)
    power = power_of(system)
    return power == Known(wanted) if isinstance(power, Known) else state_named_in(error) == str(wanted.value).lower()


def _wait(task: Task, target: str, timeout: int | None) -> None:
    await_power(task, access_of(task.node).address, target, functools.partial(_is_settled, task, target), timeout)


def _is_settled(task: Task, target: str) -> bool:
    return _state(task, anew=True) is _SETTLED[target]


def _state(task: Task, *, anew: bool = False) -> sushy.PowerState | None:
    # Power synchronisation reads without a lock; whatever changes the power has one.
    kind = CallClass.TELEMETRY if task.shared else CallClass.POWER
    shown = read_document(task, "reading the power state", anew=anew, kind=kind).get("PowerState")
    return _WORDS.get(shown.strip().lower()) if isinstance(shown, str) else None
