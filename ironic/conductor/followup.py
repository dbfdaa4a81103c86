"""Work that goes on after a task's block has ended, and what happens when it can't.

The place among the workers is taken when the work is planned, so that a full pool is noticed before anything was
changed. An error hook hears of everything that keeps planned work from starting.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ironic.conductor.workers import Place
from ironic.core.errors import NoFreeConductorWorker


@dataclass(frozen=True, slots=True)
class Job:
    """A function with its arguments, to be called later; what comes ``before`` them is known only then."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def __call__(self, *before: Any) -> object:
        return self.function(*before, *self.args, **self.kwargs)


class FollowUp:
    """At most one piece of work that follows a task."""

    __slots__ = ("_hook", "_job", "_place")

    def __init__(self) -> None:
        self._job: Job | None = None
        self._hook: Job | None = None
        self._place: Place | None = None

    @property
    def is_planned(self) -> bool:
        """Tell whether something is to follow."""
        return self._job is not None

    def plan(self, job: Job, take_place: Callable[[], Place]) -> None:
        """Have the job follow, instead of what was planned before; NoFreeConductorWorker if there is no place."""
        self._job = job
        if self._place is None:
            self._place = take_place()

    def on_error(self, hook: Job) -> None:
        """Have ``hook(error)`` called when planned work can't start."""
        self._hook = hook

    def start(self, run: Callable[[Job], None]) -> NoFreeConductorWorker | None:
        """Run the job on a worker; return the error if there is none any more."""
        place, job = self._place, self._job
        assert place is not None and job is not None, "nothing starts that was not planned"
        self._place = None
        try:
            place.start(run, job)
        except NoFreeConductorWorker as error:
            return error
        return None

    def refuse(self, error: BaseException) -> None:
        """Tell the hook, if anything was planned, that it will not start."""
        if self.is_planned and self._hook is not None:
            self._hook(error)

    def drop(self) -> None:
        """Forget what was planned and free its place."""
        if self._place is not None:
            self._place.give_back()
        self._place = self._job = None
