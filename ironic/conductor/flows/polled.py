"""What a driver's poll does when it finds that its step has ended; called with the node locked.

A step that goes on elsewhere answers with the wait state. Who looks after it brings the node back: well, and the flow
goes on behind the step, or badly, and the flow fails with the step and the reason named.
"""

import logging

from ironic.conductor.flows import engine, resuming
from ironic.conductor.flows.flow import Failure
from ironic.conductor.flows.progress import Progress
from ironic.conductor.flows.step_flows import WAITING_FLOWS
from ironic.conductor.task import Task
from ironic.core.errors import InvalidState

LOG = logging.getLogger(__name__)


def ended_well(task: Task) -> None:
    """Go on behind the step."""
    resuming.continue_flow(task)


def ended_badly(task: Task, logmsg: str, errmsg: str | None = None, traceback: bool = False) -> None:
    """Fail the flow; ``errmsg`` is for users, who see ``logmsg`` when there is none."""
    state = task.node.provision_state
    flow = WAITING_FLOWS.get(state)
    if flow is None:
        raise InvalidState(event="fail", state=state)
    LOG.error("Node %s: %s", task.node.uuid, logmsg, exc_info=traceback)
    engine.fail(task, flow, Failure(errmsg or logmsg, step=Progress(task.node, flow).current))
