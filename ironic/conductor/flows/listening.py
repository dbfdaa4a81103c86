"""What a heartbeat means for the step that a node waits in.

The deploy interface looks at its agent and says, as a value, what has come to an end; here the flow goes on by that.
It runs on a worker, with the node locked.
"""

import logging
from collections.abc import Mapping
from typing import Any

from ironic.conductor.flows import engine, resuming
from ironic.conductor.flows.flow import Failure, Flow
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.flows.progress import Progress
from ironic.conductor.task import Task
from ironic.core import states
from ironic.drivers.step_ends import AgentArrived, StepDone, StepFailed, StepsChanged

LOG = logging.getLogger(__name__)


def listen(task: Task, flow: Flow, beat: Mapping[str, Any]) -> None:
    """Have the agent looked at, and do what follows from it."""
    match attempt(task, _look, beat):
        case Failed(reason) | StepFailed(reason):
            engine.fail(task, flow, Failure(reason, step=Progress(task.node, flow).current))
        case StepDone(reboot=True):
            _restart(task, flow)
        case StepDone():
            Progress(task.node, flow).machine_is_back()
            resuming.resume_here(task, flow)
        case AgentArrived():
            resuming.resume_here(task, flow, engine.go_on_with_agent)
        case StepsChanged():
            resuming.resume_here(task, flow, engine.go_on_with_other_agent)


def _look(task: Task, beat: Mapping[str, Any]) -> Any:
    return task.deploy.heartbeat(task, **beat)


def _restart(task: Task, flow: Flow) -> None:
    """Restart the machine after a step that wants it; its agent's next first heartbeat brings the flow back."""
    progress = Progress(task.node, flow)
    progress.machine_restarts()
    task.node.save()
    answer = attempt(task, Task.change_power, states.REBOOT)
    if isinstance(answer, Failed):
        engine.fail(task, flow, Failure(f"restarting the machine failed: {answer.reason}", step=progress.current))
    else:
        task.save_and_release()
