"""Aborting: a user ends what a node waits for.

A wait in a step that can be interrupted ends at once; any other step is marked, and the flow aborts when it ends. An
abort is no fault of the machine: maintenance stays as it is (S55). Source: doc/contract/states.md#aborting.
"""

from collections.abc import Callable
from typing import Final

from ironic.conductor.flows import engine, inspecting, rescuing
from ironic.conductor.flows.flow import Flow
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.flows.progress import Progress
from ironic.conductor.flows.servicing import SERVICE
from ironic.conductor.flows.step_flows import HELD_FLOWS, WAITING_FLOWS
from ironic.conductor.moves import shortened
from ironic.conductor.task import Task
from ironic.core import states


def start(task: Task) -> None:
    """Accept a request to abort."""
    state = task.node.provision_state
    if state in _OTHERS:
        _OTHERS[state](task)
    else:
        flow = (WAITING_FLOWS | HELD_FLOWS)[state]
        _abort_or_mark(task, flow)


def now(task: Task, flow: Flow) -> None:
    """Abort a flow whose node waits or is held."""
    was_held = task.node.provision_state in HELD_FLOWS
    reason = _reason(task, flow)
    task.process_event("abort", callback=_clear_up, call_args=(task, flow, was_held), last_error=reason)


def now_here(task: Task, flow: Flow) -> None:
    """Abort a flow whose node waits, on the worker that this runs on already."""
    task.process_event("abort", last_error=_reason(task, flow))
    _clear_up(task, flow, was_held=False)


def _reason(task: Task, flow: Flow) -> str:
    where = Progress(task.node, flow).whereabouts
    return f"The {flow.name} operation on node {task.node.uuid} was aborted by request{where}."


def _abort_or_mark(task: Task, flow: Flow) -> None:
    progress = Progress(task.node, flow)
    if progress.current is None or progress.current.may_abort:
        now(task, flow)
    else:
        progress.abort_later()
        task.node.save()


def _clear_up(task: Task, flow: Flow, was_held: bool) -> None:
    """Undo what the flow prepared; a serviced machine is in use again, others stay in their failed state."""
    Progress(task.node, flow).leave()
    more = engine.clear_up(task, flow)
    if was_held and flow.name == "deploy":
        answer = attempt(task, lambda task: task.deploy.tear_down(task))
        more += f" Tearing down failed as well: {answer.reason}" if isinstance(answer, Failed) else ""
    text = shortened(f"{task.node.last_error}{more}")
    if flow is SERVICE:
        task.finish("abort", last_error=text)
    else:
        task.node.last_error = text
        task.save_and_release()


def _leave_service_failed(task: Task) -> None:
    """Let a node whose servicing failed be in use as it is, once an operator has looked at it."""
    Progress(task.node, SERVICE).forget()
    task.node.last_error = None
    task.finish("abort")


_OTHERS: Final[dict[str, Callable[[Task], None]]] = {
    states.INSPECTWAIT: inspecting.abort,
    states.RESCUEWAIT: rescuing.abort,
    states.SERVICEFAIL: _leave_service_failed,
}
