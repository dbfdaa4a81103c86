"""Power interface `agent`: the machine is restarted by the agent in the ramdisk that runs on it.

For machines that only people can switch on and off. It works with fast track alone: a person boots the ramdisk, and
as long as its heartbeats come, operations go on with it. A machine whose ramdisk is silent is out of reach.
"""

import logging
from typing import Final

from ironic.core import states
from ironic.core.agent_memory import AgentMemory
from ironic.core.errors import InvalidParameterValue, IronicError, PowerStateFailure
from ironic.core.fast_track import NEEDS_RAMDISK
from ironic.drivers import fast_track
from ironic.drivers.interfaces import PowerInterface
from ironic.drivers.modules.agent import access
from ironic.drivers.modules.agent.client import Agent
from ironic.drivers.task import Node, Task

LOG = logging.getLogger(__name__)

_RESTARTS: Final = (states.REBOOT, states.SOFT_REBOOT)


class AgentPower(PowerInterface):
    """Restarts a machine, and can do no more."""

    def get_properties(self) -> dict[str, str]:
        return {**access.PROPERTIES, **fast_track.PROPERTIES}

    def validate(self, task: Task) -> None:
        node = task.node
        if not fast_track.is_wanted(node):
            raise InvalidParameterValue(
                err=f"Power interface agent of node {node.uuid} needs fast track: set [deploy]fast_track, or "
                "fast_track in driver_info."
            )
        if node.provision_state in NEEDS_RAMDISK and not fast_track.is_heard(node):
            raise InvalidParameterValue(err=f"Node {node.uuid} {_SILENT}")

    def get_power_state(self, task: Task) -> str | None:
        """Return "power on" while the ramdisk is heard of, else what was known last."""
        recorded: str | None = task.node.power_state
        return states.POWER_ON if fast_track.is_heard(task.node) else recorded

    def set_power_state(self, task: Task, power_state: str, timeout: int | None = None) -> None:
        if power_state in _RESTARTS:
            self.reboot(task, timeout)
        elif power_state != states.POWER_ON:
            raise InvalidParameterValue(
                err=f"Node {task.node.uuid} can't be brought to {power_state!r}: nobody but people could switch it on."
            )
        elif self.get_power_state(task) != states.POWER_ON:
            raise PowerStateFailure(node=task.node.uuid, target=power_state, reason=f"the node {_SILENT}")

    def reboot(self, task: Task, timeout: int | None = None) -> None:
        """Have the agent write everything to disk and restart; its ramdisk is gone then."""
        node = task.node
        if not fast_track.is_heard(node):
            raise PowerStateFailure(node=node.uuid, target=states.REBOOT, reason=f"the node {_SILENT}")
        try:
            _restart(node)
        except IronicError as error:
            raise PowerStateFailure(node=node.uuid, target=states.REBOOT, reason=str(error)) from error
        AgentMemory(node).machine_restarts()
        LOG.info("Node %s: its agent restarts the machine", node.uuid)

    def get_supported_power_states(self, task: Task) -> list[str]:
        return list(_RESTARTS)

    def supports_power_sync(self, task: Task) -> bool:
        return False


_SILENT: Final = "has no ramdisk that was heard of lately. Boot the ramdisk on the machine by hand and try again."


def _restart(node: Node) -> None:
    agent = Agent(node)
    agent.ask("standby.sync")
    agent.begin("standby.run_image")
