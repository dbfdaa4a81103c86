"""How a step ended, as values.

Drivers answer with state names or None and raise errors; the engine handles only these outcomes. ``attempt`` turns
errors into values and logs each once, with its node. Only the loss of the lock stays an error, because nothing may be
written after it.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, Final, ParamSpec, TypeVar

from ironic.conductor.tasks import TaskManager
from ironic.core.errors import Invalid, IronicError, TakenOver
from ironic.core.errors.failure_texts import Reason, cause_of
from ironic.core.flows.flow import FLOWS
from ironic.drivers.contract import waits
from ironic.drivers.contract.step_declarations import Suspended
from ironic.drivers.contract.task import Waiter

LOG = logging.getLogger(__name__)

# They say which step of which node has failed, as the flow's own text does.
_STEP_ERRORS: Final = [(flow.step_error.text, dict[str, object]()) for flow in FLOWS if flow.step_error]

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Done:
    """The step is finished, the next one may begin."""


@dataclass(frozen=True, slots=True)
class Wait:
    """The step continues elsewhere; a heartbeat, a poll or data that arrive will resume the flow."""


@dataclass(frozen=True, slots=True)
class Pause:
    """The flow resumes by itself after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Hold:
    """The flow stays here until a user resumes it (unhold)."""


@dataclass(frozen=True, slots=True)
class Failed:
    """It failed, and why; ``refused`` when the request was invalid, so that nothing was tried."""

    reason: Reason
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Again:
    """The machine restarts for a setting of its firmware to take effect; the work is to be done again afterwards."""


@dataclass(frozen=True, slots=True)
class Remark:
    """It is done, but something beside it has failed; the text stays in ``last_error``."""

    text: str


Outcome = Done | Wait | Pause | Hold | Again | Failed


def attempt(
    task: TaskManager, act: Callable[Concatenate[TaskManager, P], R], *args: P.args, **kwargs: P.kwargs
) -> R | Failed:
    """Call ``act(task, ...)`` and return its answer, Failed when it raises; TakenOver and Suspended are raised."""
    try:
        return act(task, *args, **kwargs)
    except (TakenOver, Suspended):
        raise
    except IronicError as error:
        LOG.warning("Node %s: %s: %s", task.node.uuid, type(error).__name__, error)
        return Failed(cause_of(error, _STEP_ERRORS), refused=isinstance(error, Invalid))
    except Exception as error:
        LOG.exception("Node %s: unexpected error in an operation", task.node.uuid)
        return Failed(error)


def attempt_repeatable(
    task: TaskManager, act: Callable[Concatenate[TaskManager, P], R], *args: P.args, **kwargs: P.kwargs
) -> R | Failed | Again:
    """Do as `attempt` for work that the caller can do again after a wait; Again when it has to."""
    try:
        with waits.waiting(task, Waiter.NODE):
            return attempt(task, act, *args, **kwargs)
    except Suspended:
        return Again()
