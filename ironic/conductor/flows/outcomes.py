"""How a step ended, as values.

Drivers answer with state names or None and raise errors; the engine handles only these outcomes. ``attempt`` turns
errors into values and logs each once, with its node. Only the loss of the lock stays an error, because nothing may be
written after it.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

from ironic.conductor.tasks import TaskManager
from ironic.core.errors import Invalid, IronicError, TakenOver

LOG = logging.getLogger(__name__)

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

    reason: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """It is done, but something beside it has failed; the text stays in ``last_error``."""

    text: str


Outcome = Done | Wait | Pause | Hold | Failed


def attempt(
    task: TaskManager, act: Callable[Concatenate[TaskManager, P], R], *args: P.args, **kwargs: P.kwargs
) -> R | Failed:
    """Call ``act(task, ...)`` and return its answer, or Failed when it raises; TakenOver is raised."""
    try:
        return act(task, *args, **kwargs)
    except TakenOver:
        raise
    except IronicError as error:
        LOG.warning("Node %s: %s: %s", task.node.uuid, type(error).__name__, error)
        return Failed(str(error), refused=isinstance(error, Invalid))
    except Exception as error:
        LOG.exception("Node %s: unexpected error in an operation", task.node.uuid)
        return Failed(f"unexpected {type(error).__name__}: {error}")
