"""How a step ended, as values.

Drivers answer with state names or nothing and raise errors; the engine looks only at what stands here. ``attempt`` is
where errors become values: each is logged once, with its node. The loss of the lock alone stays an error, because
nothing may be written after it.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

from ironic.conductor.task import Task
from ironic.core.errors import Invalid, IronicError, TakenOver

LOG = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Done:
    """The step is finished, the next one may begin."""


@dataclass(frozen=True, slots=True)
class Wait:
    """The step goes on elsewhere; somebody will bring the flow back."""


@dataclass(frozen=True, slots=True)
class Pause:
    """The flow goes on by itself after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Hold:
    """The flow stays here until a user lets it go on."""


@dataclass(frozen=True, slots=True)
class Failed:
    """It failed, and why; ``refused`` when what was asked for can't be, so that nothing was tried."""

    reason: str
    refused: bool = False


Outcome = Done | Wait | Pause | Hold | Failed


def attempt(task: Task, act: Callable[Concatenate[Task, P], R], *args: P.args, **kwargs: P.kwargs) -> R | Failed:
    """Call ``act(task, ...)`` and return its answer, or Failed when it raises."""
    try:
        return act(task, *args, **kwargs)
    except TakenOver:
        raise
    except IronicError as error:
        LOG.warning("Node %s: %s: %s", task.node.uuid, type(error).__name__, error)
        return Failed(str(error), refused=isinstance(error, Invalid))
    except Exception as error:
        LOG.exception("Node %s: an error that nobody expected", task.node.uuid)
        return Failed(f"unexpected {type(error).__name__}: {error}")
