"""Power interface `agent`: the agent in the ramdisk restarts the machine.

For machines that can only be switched on and off by hand. It requires fast track: a person boots the ramdisk, and
operations continue with it as long as it sends heartbeats. Without heartbeats the machine can't be controlled.
"""

import logging
from typing import Final

from ironic.core.errors import InvalidParameterValue, IronicError, PowerStateFailure
from ironic.core.flows import states
from ironic.core.memory.agent_memory import FAST_TRACK_NEEDS_RAMDISK, AgentMemory
from ironic.drivers import info_keys
from ironic.drivers.contract.interfaces import PowerInterface
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.agent.agent_client import Agent
from ironic.drivers.nodes import fast_track

LOG = logging.getLogger(__name__)

_RESTARTS: Final = (states.REBOOT, states.SOFT_REBOOT)
_NO_HEARTBEAT: Final = (
    "has no ramdisk that sent a heartbeat lately. Boot the ramdisk on the machine by hand and try again."
)


class AgentPower(PowerInterface):
    """Restarts a machine through its agent; switching it on or off is not supported."""

    def get_properties(self) -> dict[str, str]:
        return {**info_keys.AGENT, **info_keys.FAST_TRACK}

    def validate(self, task: Task) -> None:
        node = task.node
        if not fast_track.is_wanted(node):
            raise InvalidParameterValue(
                err=f"Power interface agent of node {node.uuid} needs fast track: set [deploy]fast_track, or "
                "fast_track in driver_info."
            )
        if node.provision_state in FAST_TRACK_NEEDS_RAMDISK and not fast_track.has_recent_heartbeat(node):
            raise InvalidParameterValue(err=f"Node {node.uuid} {_NO_HEARTBEAT}")

    def get_power_state(self, task: Task) -> str | None:
        """Return "power on" while the ramdisk sends heartbeats, else the recorded state."""
        recorded: str | None = task.node.power_state
        return states.POWER_ON if fast_track.has_recent_heartbeat(task.node) else recorded

    def set_power_state(self, task: Task, power_state: str, timeout: int | None = None) -> None:
        if power_state in _RESTARTS:
            self.reboot(task, timeout)
        elif power_state != states.POWER_ON:
            raise InvalidParameterValue(
                err=f"Node {task.node.uuid} can't be brought to {power_state!r}: "
                "it can only be switched on again by hand."
            )
        elif self.get_power_state(task) != states.POWER_ON:
            raise PowerStateFailure(node=task.node.uuid, target=power_state, reason=f"the node {_NO_HEARTBEAT}")

    def reboot(self, task: Task, timeout: int | None = None) -> None:
        """Have the agent flush its disks and restart the machine, which ends the ramdisk."""
        node = task.node
        if not fast_track.has_recent_heartbeat(node):
            raise PowerStateFailure(node=node.uuid, target=states.REBOOT, reason=f"the node {_NO_HEARTBEAT}")
        agent = Agent(node)
        try:
            agent.execute("standby.sync")
            agent.start("standby.run_image")
        except IronicError as error:
            raise PowerStateFailure(node=node.uuid, target=states.REBOOT, reason=error) from error
        AgentMemory(node).forget_on_restart()
        LOG.info("Node %s: its agent restarts the machine", node.uuid)

    def get_supported_power_states(self, task: Task) -> list[str]:
        return list(_RESTARTS)

    def supports_power_sync(self, task: Task) -> bool:
        return False
