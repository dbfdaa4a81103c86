"""Whether what a node remembers of its agent outlives the operation that the agent was booted for."""

from ironic.core import states
from ironic.core.agent_memory import AgentMemory
from ironic.drivers import fast_track
from ironic.drivers.task import Node


def begin_anew(node: Node) -> None:
    """Forget the agent of an operation before, unless the one that begins now goes on with it."""
    if not fast_track.can_go_on(node):
        AgentMemory(node).forget()


def leave(node: Node) -> None:
    """Forget the agent when its operation is over, unless its ramdisk stays for the next one.

    One that has not been heard of looks its node up again after an inspection, and needs a token then.
    """
    memory = AgentMemory(node)
    stays = fast_track.is_wanted(node) and memory.is_known and node.power_state != states.POWER_OFF
    if not stays:
        memory.forget()
