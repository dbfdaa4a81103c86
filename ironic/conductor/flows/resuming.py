"""Bringing a waiting or held node back to work.

Whoever knows that a wait is over (a heartbeat, a driver that polls, a user who lets go) comes here with the node
locked. A flow that was to abort after its step does so now.
"""

from collections.abc import Callable

from ironic.conductor.answering import answers
from ironic.conductor.flows import aborting, engine
from ironic.conductor.flows.flow import Flow
from ironic.conductor.flows.progress import Progress
from ironic.conductor.flows.servicing import SERVICE
from ironic.conductor.flows.step_flows import HELD_FLOWS, WAITING_FLOWS
from ironic.conductor.task import Task
from ironic.core.agent_memory import AgentMemory
from ironic.core.errors import InvalidState


@answers
def continue_flow(task: Task) -> None:
    """Go on with the step flow that the node waits in."""
    state = task.node.provision_state
    flow = WAITING_FLOWS.get(state)
    if flow is None:
        raise InvalidState(event="resume", state=state)
    step = Progress(task.node, flow).current
    if step is not None and step.abort_after:
        aborting.now(task, flow)
    else:
        task.process_event("resume", callback=engine.go_on, call_args=(task, flow))


def resume_here(task: Task, flow: Flow, go_on: Callable[[Task, Flow], None] = engine.go_on) -> None:
    """Go on with a flow whose node waits, on the worker that this runs on already."""
    step = Progress(task.node, flow).current
    if step is not None and step.abort_after:
        aborting.now_here(task, flow)
    else:
        task.process_event("resume")
        go_on(task, flow)


def unhold(task: Task) -> None:
    """Let a held node go on: at once when no agent has to be there for it, else with the agent's next heartbeat."""
    flow = HELD_FLOWS[task.node.provision_state]
    task.process_event("unhold")
    if flow is SERVICE or not AgentMemory(task.node).is_known:
        continue_flow(task)


def waits_for_engine(task: Task, flow: Flow) -> bool:
    """Tell whether any sign of life brings the node back: nothing of a driver's is under way.

    That is so while the machine is being prepared, in a wait of the engine's own, and after a hold.
    """
    progress = Progress(task.node, flow)
    return not progress.is_polled and (progress.current is None or progress.current.is_reserved)


def is_paused(task: Task, flow: Flow) -> bool:
    """Tell whether the node waits for a time that has not come yet, whatever signs of life there are."""
    return (Progress(task.node, flow).seconds_left or 0) > 0
