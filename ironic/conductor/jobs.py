"""Jobs that come round: each runs on a worker, never twice at once, its failures logged and forgotten.

A job is a function without arguments and a spacing in seconds; what it does and on which nodes is its own business.
The jobs have no claim on the workers reserved for users; when no worker is free a job waits for its next chance.
"""

import contextvars
import functools
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Final, ParamSpec, TypeVar

import futurist
from futurist import periodics

from ironic.conductor.workers import Workers, WorkLost
from ironic.core.errors import NoFreeConductorWorker

LOG = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Job:
    """One job; a spacing of 0 switches it off."""

    name: str
    spacing: float
    act: Callable[[], None]
    hurry: Callable[[], None] = lambda: None  # asks a run that is under way to end soon
    at_once: bool = False  # the first run comes with the start, not after the first spacing

    def __call__(self) -> None:
        """Run once; what goes wrong is for the log, the next run comes anyway."""
        try:
            self.act()
        except Exception:
            LOG.exception("Periodic job '%s' failed; it runs again in %s seconds", self.name, self.spacing)


class _OnWorkers(Executor):
    """The pool as futurist wants to see it, with a limit on how many jobs run at once."""

    def __init__(self, pool: Workers, limit: int) -> None:
        self._pool = pool
        self._free = threading.Semaphore(limit)

    def submit(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        if not self._free.acquire(blocking=False):
            raise futurist.RejectedSubmission("as many periodic jobs run as [conductor]periodic_max_workers allows")
        try:
            place = self._pool.take("periodic job", background=True)
            run = place.start(function, *args, **kwargs)
        except NoFreeConductorWorker as error:
            self._free.release()
            raise futurist.RejectedSubmission(str(error)) from error
        told: Future[R] = Future()
        run.add_done_callback(lambda _: self._tell(run, told, functools.partial(function, *args, **kwargs)))
        return told

    def _tell(self, run: Future[R], told: Future[R], again: Callable[[], R]) -> None:
        """Hand on how a run has ended; one that was given up ends as one in which nothing was done."""
        self._free.release()
        error = run.exception()
        if error is None:
            told.set_result(run.result())
        elif isinstance(error, WorkLost):
            told.set_result(contextvars.copy_context().run(_nothing_done, again))
        else:
            told.set_exception(error)


_SKIPS: Final = contextvars.ContextVar("skips", default=False)


def _nothing_done(run: Callable[[], R]) -> R:
    """Have the library make its result of a run, without one: only so the job comes round again."""
    _SKIPS.set(True)
    return run()


def _periodic(job: Job) -> Callable[[], None]:
    """Return the job as futurist wants to see one."""

    @periodics.periodic(job.spacing, run_immediately=job.at_once)
    def run() -> None:
        if not _SKIPS.get():
            job()

    return run


class Periodics:
    """Runs jobs until it is stopped."""

    def __init__(self, jobs: Sequence[Job], pool: Workers, limit: int) -> None:
        self._wanted = wanted = [job for job in jobs if job.spacing > 0]
        executor = periodics.ExistingExecutor(_OnWorkers(pool, limit))
        # The strategy spreads the jobs in time, so that conductors started together don't all ask the database at once.
        self._worker = periodics.PeriodicWorker(
            [(_periodic(job), (), {}) for job in wanted],
            executor_factory=executor,
            schedule_strategy="last_finished_jitter",
        )
        self._thread = threading.Thread(
            target=self._worker.start, kwargs={"allow_empty": True}, name="conductor-periodics", daemon=True
        )

    def start(self) -> None:
        """Begin; each job comes for the first time after its spacing, or at once if it says so."""
        self._thread.start()

    def stop(self) -> None:
        """Begin no job any more, and wait for those that run."""
        for job in self._wanted:
            job.hurry()
        self._worker.stop()
        if self._thread.ident is not None:
            self._thread.join()
