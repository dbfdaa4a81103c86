"""Fast track: an operation continues with the ramdisk that already runs on the machine.

It is also decided here whether the record of the agent on the node is kept when an operation ends.
"""

from ironic.conf import CONF
from ironic.core.flows import states
from ironic.core.memory import agent_memory
from ironic.core.memory.agent_memory import AgentMemory, KnownAgent
from ironic.drivers.contract.task import Node


def is_wanted(node: Node) -> bool:
    """Return whether fast track is enabled for the node: its ramdisk keeps running after an operation."""
    return agent_memory.is_fast_track_wanted(node.driver_info, CONF.deploy.fast_track)


def has_recent_heartbeat(node: Node) -> bool:
    """Return whether a known agent has sent a heartbeat within [deploy]fast_track_timeout seconds."""
    agent = KnownAgent(node.driver_internal_info)
    return agent.is_known and agent.has_recent_heartbeat(node.now(), CONF.deploy.fast_track_timeout)


def can_continue(node: Node) -> bool:
    """Return whether the next operation needs no boot."""
    return is_wanted(node) and has_recent_heartbeat(node)


def forget_former_agent(node: Node) -> None:
    """Delete the record of the agent at the start of an operation, unless the operation continues with it."""
    if not can_continue(node):
        AgentMemory(node).forget()


def release_agent(node: Node) -> None:
    """Delete the record of the agent at the end of an operation, unless its ramdisk keeps running for the next one.

    An agent that has not sent a heartbeat looks up its node again after an inspection, and receives a new token then.
    """
    memory = AgentMemory(node)
    keeps_running = is_wanted(node) and memory.is_known and node.power_state != states.POWER_OFF
    if not keeps_running:
        memory.forget()
