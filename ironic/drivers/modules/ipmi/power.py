"""Power interface `ipmitool`.

An action ends when the BMC reports the target state. A restart switches the machine off and on, so that both changes
can be observed; a node that must not be powered off is reset instead.
"""

from collections.abc import Mapping
from typing import Final

from ironic.core import node_rules
from ironic.core.errors.hardware_errors import IPMIFailure, UnsupportedHardwareFeature
from ironic.core.flows import states
from ironic.drivers.contract.task import ODD_POWER, Task
from ironic.drivers.modules.bmc.bmc_gateway import CallClass
from ironic.drivers.modules.bmc.error_texts import safe_text
from ironic.drivers.modules.bmc.power_actions import Action, ActionPower, await_power, await_shutdown, shuts_down
from ironic.drivers.modules.ipmi import boot_device
from ironic.drivers.modules.ipmi.bmc_access import PROPERTIES, access_of
from ironic.drivers.modules.ipmi.command_line import check_tool
from ironic.drivers.modules.ipmi.conversation import change, read

_REPORTED: Final = {"Chassis Power is on": states.POWER_ON, "Chassis Power is off": states.POWER_OFF}


class IPMIPower(ActionPower):
    """Switches machines on and off through ipmitool, forced or by a request to the operating system."""

    def __init__(self) -> None:
        check_tool()

    def get_properties(self) -> dict[str, str]:
        return dict(PROPERTIES)

    def validate(self, task: Task) -> None:
        access_of(task.node)

    def get_power_state(self, task: Task) -> str | None:
        # Power synchronisation reads without a lock; whatever changes the power has one.
        kind = CallClass.TELEMETRY if task.shared else CallClass.POWER
        said = read(task, ("power", "status"), anew=True, kind=kind).strip()
        # A known state takes the note back: it is about the last reading.
        odd = None if said in _REPORTED else safe_text(said, access_of(task.node).password)
        task.notes.put(ODD_POWER, odd)
        return _REPORTED.get(said, states.ERROR)

    @property
    def actions(self) -> Mapping[str, Action]:
        """The actions of this class."""
        return {
            states.POWER_ON: self._power_on,
            states.POWER_OFF: self._power_off,
            states.REBOOT: self._restart,
            states.SOFT_REBOOT: self._soft_restart,
            states.SOFT_POWER_OFF: self._soft_power_off,
        }

    def _power_on(self, task: Task, timeout: int | None) -> None:
        boot_device.restore_device(task)
        self._reach(task, states.POWER_ON, "on", timeout)

    def _power_off(self, task: Task, timeout: int | None) -> None:
        self._reach(task, states.POWER_OFF, "off", timeout)

    def _soft_power_off(self, task: Task, timeout: int | None) -> None:
        self._order(task, states.POWER_OFF, "soft")
        await_shutdown(
            task, access_of(task.node).address, lambda: self.get_power_state(task) == states.POWER_OFF, timeout
        )

    def _restart(self, task: Task, timeout: int | None) -> None:
        if self._known_state(task) == states.POWER_ON:
            if task.node.disable_power_off:
                boot_device.restore_device(task)
                self._reach(task, states.POWER_ON, "reset", timeout)
                return
            self._power_off(task, timeout)
        self._power_on(task, timeout)

    def _soft_restart(self, task: Task, timeout: int | None) -> None:
        if task.node.disable_power_off:
            raise UnsupportedHardwareFeature(node=task.node.uuid, feature="a soft restart without powering off")
        self._known_state(task)
        self._soft_power_off(task, timeout)
        if not shuts_down(task):
            self._power_on(task, timeout)

    def _known_state(self, task: Task) -> str:
        """Return the power state, or raise IPMIFailure: a restart in an unknown state could leave the machine off."""
        state = self.get_power_state(task)
        if state in _REPORTED.values():
            return str(state)
        said = task.notes.get(ODD_POWER)
        reason = (
            f"the BMC reports a power state that is neither on nor off ({said or 'it says nothing'}), so nothing was "
            "ordered. Look at the BMC, or switch the power on or off"
        )
        address = access_of(task.node).address
        raise IPMIFailure(node=task.node.uuid, address=address, operation="a restart", error=reason)

    def _reach(self, task: Task, target: str, action: str, timeout: int | None) -> None:
        """Order a change and wait for the state."""
        self._order(task, target, action)
        await_power(task, access_of(task.node).address, target, lambda: self.get_power_state(task) == target, timeout)

    def _order(self, task: Task, target: str, action: str) -> None:
        """Order a change; a refusal is none if the machine is in that state already."""
        node_rules.check_power_off(task.node, target)
        boot_device.power_changes(task)
        try:
            change(task, ("power", action), kind=CallClass.POWER, once=action == "reset")
        except IPMIFailure as error:
            if action == "reset" or error.is_unreachable or self.get_power_state(task) != target:
                raise
