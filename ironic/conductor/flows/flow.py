"""What a flow of steps is: data.

Cleaning, deploying, servicing and verifying are four records of this kind; the engine runs them all. A record says
where the flow shows itself on the node, under which keys it keeps its place, and which functions prepare the machine,
make the plan and clear up. Nothing here acts. Names of keys and columns: doc/contract/steps.md#progress.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ironic.conductor.task import Task
from ironic.core.errors import IronicError
from ironic.core.steps import Step
from ironic.drivers.steps import StepKind


def nothing(task: Task) -> None:
    """Do nothing: for flows that have nothing to prepare or to clear up."""


def always_done(task: Task) -> str:
    """Name the event that ends most flows."""
    return "done"


@dataclass(frozen=True, slots=True)
class Flow:
    """One kind of flow."""

    name: StepKind

    # Makes the plan; called with False before the machine is prepared, when an agent's steps may be missing still.
    plan: Callable[[Task, bool], list[Step]]
    failure: type[IronicError]
    step_failure: type[IronicError] | None = None

    # The state it waits in, which is also the word a driver's step says when it goes on elsewhere.
    waiting: str | None = None
    # What else a driver may answer for "finished"; None always means that.
    finished_words: tuple[str, ...] = ()

    prepare: Callable[[Task], Any] = nothing
    tear_down: Callable[[Task], None] = nothing
    give_up: Callable[[Task], None] = nothing
    done_event: Callable[[Task], str] = always_done

    # What it is filed under in node history, and how other keys of driver_internal_info begin.
    topic: str = ""
    gerund: str = ""

    # Where its progress is kept; without a column nothing of it is stored (verifying starts over).
    column: str | None = None
    asked_key: str | None = None
    no_ramdisk_key: str | None = None

    # A failing step does not keep the others from running.
    runs_all: bool = False
    # Steps that it chose itself begin anew when the agent is not the one they were planned with (S60).
    starts_over: bool = False
    # A list that is refused counts as a failure of the machine, although nothing ran.
    blames_refusals: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a flow ends badly.

    ``is_fault`` tells whether the machine is to blame, ``is_prepared`` whether there may be something to clear up.
    """

    reason: str
    step: Step | None = None
    is_fault: bool = True
    is_prepared: bool = True

    def text(self, flow: Flow, uuid: str) -> str:
        """Return the sentence for last_error, maintenance_reason and node history."""
        if self.step is None:
            return str(flow.failure(node=uuid, reason=self.reason))
        if flow.step_failure is not None:
            return str(flow.step_failure(node=uuid, step=self.step.name, reason=self.reason))
        return str(flow.failure(node=uuid, reason=f"step {self.step.name} failed: {self.reason}"))
