"""What an agent's sign of life does.

It is remembered in every state in which an agent may run. Where the node waits for one, the deploy interface hears of
it on a worker, and a flow that waits for nothing else goes on. A node in maintenance is left alone. Source:
doc/contract/agent.md#what-a-heartbeat-does.
"""

import logging
from collections.abc import Mapping
from typing import Final

from ironic.conductor.answering import answers
from ironic.conductor.flows import listening, rescuing, resuming
from ironic.conductor.flows.overdue import ON_TIMEOUT
from ironic.conductor.flows.step_flows import HELD_FLOWS, WAITING_FLOWS
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import states
from ironic.core.agent_memory import HEARTBEAT, AgentMemory
from ironic.core.fast_track import IDLE
from ironic.drivers import fast_track

LOG = logging.getLogger(__name__)

_ACTED_ON: Final = frozenset({*WAITING_FLOWS, states.RESCUEWAIT})
_BUSY_WITH_AN_AGENT: Final = frozenset({states.CLEANING, states.DEPLOYING, states.RESCUING, states.SERVICING})
_RECORDED: Final = _ACTED_ON | _BUSY_WITH_AN_AGENT | HELD_FLOWS.keys()


@answers
def heartbeat(task: Task, beat: dict[str, object]) -> None:
    """Take note of a heartbeat and do what it makes possible."""
    state = task.node.provision_state
    if state not in _RECORDED and not _may_stay(task):
        LOG.debug("Node %s: a heartbeat in state '%s' is of no use", task.node.uuid, state)
        return
    AgentMemory(task.node).record(beat)
    if state in _ACTED_ON:
        task.node.provision_updated_at = task.node.now()  # a wait with a living agent does not time out
    task.node.save()
    if state in _ACTED_ON:
        _act(task, beat)


def _may_stay(task: Task) -> bool:
    """Tell whether a ramdisk may run although nothing is under way, for the next operation to go on with."""
    return task.node.provision_state in IDLE and fast_track.is_wanted(task.node)


def _act(task: Task, beat: Mapping[str, object]) -> None:
    if task.node.maintenance:
        _act_in_maintenance(task)
    elif task.node.provision_state == states.RESCUEWAIT:
        rescuing.resume(task)
    else:
        _act_for_flow(task, beat)


def _act_in_maintenance(task: Task) -> None:
    """Leave the node alone, or fail what is under way where the operator wants no work on such nodes."""
    if not CONF.conductor.allow_provisioning_in_maintenance:
        task.spawn_after(
            ON_TIMEOUT[task.node.provision_state], task, "The agent came while the node is in maintenance."
        )


def _act_for_flow(task: Task, beat: Mapping[str, object]) -> None:
    flow = WAITING_FLOWS[task.node.provision_state]
    if resuming.is_paused(task, flow):
        return
    if resuming.waits_for_engine(task, flow):
        resuming.continue_flow(task)
    else:
        task.spawn_after(listening.listen, task, flow, {field: beat.get(field) for field in HEARTBEAT})
