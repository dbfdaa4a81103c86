"""How a wait that lasted too long ends, per state; the periodic job that finds such nodes is given this table.

Each handler gets the node locked, on a worker, with the reason in words.
"""

from collections.abc import Callable
from typing import Final

from ironic.conductor.flows import engine, inspecting, rescuing, resuming
from ironic.conductor.flows.flow import Failure, Flow
from ironic.conductor.flows.progress import Progress
from ironic.conductor.flows.step_flows import WAITING_FLOWS
from ironic.conductor.task import Task
from ironic.core import states

Handler = Callable[[Task, str], None]


def _handler(flow: Flow) -> Handler:
    def end(task: Task, reason: str) -> None:
        if task.node.maintenance or Progress(task.node, flow).seconds_left is None:
            engine.fail(task, flow, Failure(reason, step=Progress(task.node, flow).current))
        elif not resuming.is_paused(task, flow):
            # A wait for some time whose conductor has ended before it was over.
            resuming.resume_here(task, flow)

    return end


ON_TIMEOUT: Final[dict[str, Handler]] = {
    **{state: _handler(flow) for state, flow in WAITING_FLOWS.items()},
    states.INSPECTWAIT: inspecting.give_up,
    states.RESCUEWAIT: rescuing.give_up,
}
