"""What a flow does: its record bound to the functions that act.

Cleaning, deploying and servicing, the first contact, inspecting, rescuing and the way back, adopting and tearing down
are operations of this kind; the engine runs them all. Some make a plan of the steps that drivers and agents offer,
others have one built-in step, which may wait and go on as well.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ironic.conductor.task import Task
from ironic.core.flow import Flow, in_state
from ironic.core.step_cursor import StepCursor
from ironic.core.steps import Step


def nothing(task: Task) -> None:
    """Do nothing: for operations that have nothing to prepare or to clear up."""


def no_steps(task: Task, complete: bool) -> list[Step]:
    """Return the plan of an operation whose one step is built in."""
    return []


def always_done(task: Task) -> str:
    """Name the event that ends most operations."""
    return "done"


def nothing_more(task: Task) -> str:
    """Add nothing to what is said of a wait that has ended."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operation:
    """One flow and what it does."""

    flow: Flow

    # Makes the plan; called with False before the machine is prepared, when an agent's steps may be missing still.
    plan: Callable[[Task, bool], list[Step]] = no_steps
    # The built-in step, and what is left of it to do once what it waits for has come; they answer as steps do.
    act: Callable[[Task], Any] = nothing
    resume: Callable[..., Any] = nothing

    # Prepares the machine; answers as a step does.
    prepare: Callable[[Task], Any] = nothing
    # Gives the machine back: after the last step, after a failure or an abort, and also when it was held meanwhile.
    tear_down: Callable[[Task], None] = nothing
    give_up: Callable[[Task], None] = nothing
    give_up_held: Callable[[Task], Any] = nothing

    done_event: Callable[[Task], str] = always_done
    # What is known of why nothing came that was waited for.
    why_nothing_came: Callable[[Task], str] = nothing_more


OPERATIONS: dict[Flow, Operation] = {}


def bind(operation: Operation) -> Operation:
    """Have the flow do this from now on."""
    OPERATIONS[operation.flow] = operation
    return operation


def waiting_or_held(task: Task) -> Operation | None:
    """Return the operation that the node waits or is held in; None when it does neither."""
    flow = in_state(task.node.provision_state)
    return None if flow is None or task.node.provision_state == flow.working else OPERATIONS[flow]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an operation ends badly.

    ``is_fault`` tells whether the machine is to blame, ``is_prepared`` whether there may be something to clear up.
    """

    reason: str
    step: Step | None = None
    is_fault: bool = True
    is_prepared: bool = True

    @classmethod
    def of_current_step(cls, task: Task, flow: Flow, reason: str) -> "Failure":
        """Return the failure of the step that the node is in."""
        return cls(reason, step=StepCursor.of(task.node, flow).current)

    def text(self, flow: Flow, uuid: str) -> str:
        """Return the sentence for last_error, maintenance_reason and node history."""
        return flow.why(uuid, self.reason, None if self.step is None else self.step.name)
