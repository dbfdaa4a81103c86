"""What an agent's sign of life does.

It is remembered in every state in which an agent may run. Where the node waits for one, the deploy interface hears of
it on a worker, and a flow that waits for nothing else goes on. A node in maintenance is left alone. Source:
doc/contract/agent.md#what-a-heartbeat-does.
"""

import logging

from ironic.conductor.answering import answers
from ironic.conductor.flows import resuming
from ironic.conductor.flows.operation import waiting_or_held
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core.agent_memory import HEARTBEAT, AgentMemory
from ironic.core.fast_track import IDLE
from ironic.core.flow import in_state
from ironic.drivers import fast_track

LOG = logging.getLogger(__name__)


@answers
def heartbeat(task: Task, beat: dict[str, object]) -> None:
    """Take note of a heartbeat and do what it makes possible."""
    node = task.node
    flow = in_state(node.provision_state)
    if not (flow.hears_agent if flow else _may_stay(task)):
        LOG.debug("Node %s: a heartbeat in state '%s' is of no use", node.uuid, node.provision_state)
        return
    AgentMemory(node).record(beat)
    is_awaited = flow is not None and node.provision_state == flow.waiting
    if is_awaited:
        node.provision_updated_at = node.now()  # a wait with a living agent does not time out
    node.save()
    operation = waiting_or_held(task) if is_awaited else None
    if operation is None:
        return
    if not node.maintenance:
        resuming.hear(task, operation, {field: beat.get(field) for field in HEARTBEAT})
    elif not CONF.conductor.allow_provisioning_in_maintenance:
        # What is under way fails where the operator wants no work on such nodes; else the node is left alone.
        task.spawn_after(resuming.end_wait, task, "The agent came while the node is in maintenance.")


def _may_stay(task: Task) -> bool:
    """Tell whether a ramdisk may run although nothing is under way, for the next operation to go on with."""
    return task.node.provision_state in IDLE and fast_track.is_wanted(task.node)
