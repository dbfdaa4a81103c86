"""Periodic tasks: run functions at an interval on workers, among them the periodic methods of hardware interfaces.

A periodic task is a function without arguments and a spacing in seconds. It never runs twice at once; its failures are
logged. It can't have the workers that are reserved for users; when no worker is free it waits for its next turn.

Each enabled implementation of an interface has its own periodic methods (S18). A method for nodes gets those that this
conductor owns and that use the implementation, found in one statement; nodes that are locked are left for the next run.
"""

import contextvars
import functools
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import futurist
from futurist import periodics
from oslo_db import exception as db_errors

from ironic.conductor.flows import wait_ends
from ironic.conductor.locking import LockMode
from ironic.conductor.party_rounds import OWNERS, PartyRounds
from ironic.conductor.tasks import TaskFactory
from ironic.conductor.workers import Workers, WorkLost
from ironic.core.context import service_context
from ironic.core.errors import DriverLoadError, NodeLocked, NodeNotFound, NoFreeConductorWorker
from ironic.core.projects.fair_shares import party_of
from ironic.drivers.contract.driver_periodics import NodeTerms, PeriodicMethod
from ironic.integrations import metric_table
from ironic.rpc.hash_ring import HashRingManager

if TYPE_CHECKING:
    from ironic.drivers.composition.composed_drivers import Composition

LOG = logging.getLogger(__name__)

# What a server, the network or the limits of this process cause: the reason says it, and no traceback is needed.
_OUTAGES: Final = (OSError, db_errors.DBConnectionError, db_errors.DBNonExistentDatabase)

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    """One periodic task; a spacing of 0 seconds switches it off."""

    name: str
    spacing: float
    act: Callable[[], None]
    interrupt: Callable[[], None] = lambda: None  # asks a run that is under way to end soon
    at_once: bool = False  # the first run comes with the start, not after the first spacing

    def __call__(self) -> None:
        """Run once; an error is logged, and the next run comes all the same."""
        began = time.perf_counter()
        try:
            self.act()
        except _OUTAGES as error:
            LOG.error("Periodic task '%s' failed; it runs again in %s seconds: %s", self.name, self.spacing, error)
        except Exception:
            LOG.exception("Periodic task '%s' failed; it runs again in %s seconds", self.name, self.spacing)
        else:
            metric_table.PERIODIC_TASKS.send((time.perf_counter() - began) * 1000, re.sub(r"\W+", "_", self.name))


class PeriodicTaskRunner:
    """Runs periodic tasks until it is stopped."""

    def __init__(self, tasks: Sequence[PeriodicTask], pool: Workers, limit: int) -> None:
        self._enabled = [task for task in tasks if task.spacing > 0]
        executor = periodics.ExistingExecutor(_PoolExecutor(pool, limit))
        # By its types the library wants classes; it only calls them.
        waits: Any = {"cond_cls": pool.clock.condition, "event_cls": pool.clock.event}
        self._worker = periodics.PeriodicWorker(
            [(_as_futurist_callable(task, pool.clock.chance), (), {}) for task in self._enabled],
            executor_factory=executor,
            schedule_strategy="last_finished",
            now_func=pool.clock.monotonic,
            **waits,
        )
        self._thread = pool.threads.make("conductor-periodics", self._worker.start, True)

    def start(self) -> None:
        """Start; the first run of each task comes after its spacing, or at once if it says so."""
        self._thread.start()

    def retire(self) -> None:
        """Start no further run, and ask those under way to end soon."""
        for task in self._enabled:
            task.interrupt()
        self._worker.stop()

    def stop(self) -> None:
        """Start no further run, and wait for those under way, however long they take."""
        self.retire()
        if self._thread.ident is not None:
            self._thread.join()


class _PoolExecutor(Executor):
    """The worker pool as an executor for futurist, with a limit on how many periodic tasks run at once."""

    def __init__(self, pool: Workers, limit: int) -> None:
        self._pool = pool
        self._free = threading.Semaphore(limit)

    def submit(self, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        if not self._free.acquire(blocking=False):
            raise futurist.RejectedSubmission("as many periodic tasks run as [conductor]periodic_max_workers allows")
        try:
            slot = self._pool.take("periodic task", background=True)
            run = slot.start(function, *args, **kwargs)
        except NoFreeConductorWorker as error:
            self._free.release()
            raise futurist.RejectedSubmission(str(error)) from error
        result: Future[R] = Future()

        def pass_on(_: Future[R]) -> None:
            self._free.release()
            error = run.exception()
            if error is None:
                result.set_result(run.result())
            elif isinstance(error, WorkLost):
                # A run that was written off ends as one that did nothing, so that its task is scheduled again.
                again = functools.partial(function, *args, **kwargs)
                result.set_result(contextvars.copy_context().run(_without_act, again))
            else:
                result.set_exception(error)

        run.add_done_callback(pass_on)
        return result


# Part of its spacing by which a task may come later.
_SPREAD: Final = 0.05

_SKIPS: Final = contextvars.ContextVar("skips", default=False)


def _without_act(run: Callable[[], R]) -> R:
    """Have futurist build the result of a run without running the task: it schedules the task by that result."""
    _SKIPS.set(True)
    return run()


def _as_futurist_callable(task: PeriodicTask, chance: Random) -> Callable[[], None]:
    # Conductors that were started together don't query the database together.
    @periodics.periodic(task.spacing * (1 + _SPREAD * chance.random()), run_immediately=task.at_once)
    def run() -> None:
        if not _SKIPS.get():
            task()

    return run


# Periodic methods of interfaces


def jobs_of(composition: "Composition", tasks: TaskFactory, hash_ring: HashRingManager) -> list[PeriodicTask]:
    """Return one periodic task per periodic method; DriverLoadError for one with fields the store doesn't know."""
    methods = composition.periodic_methods()
    if faults := [fault for method in methods for fault in _faults(method, tasks)]:
        raise DriverLoadError(faults=faults)
    return [PeriodicTask(method.title, method.terms.seconds, _act(method, tasks, hash_ring)) for method in methods]


def _act(method: PeriodicMethod, tasks: TaskFactory, hash_ring: HashRingManager) -> Callable[[], None]:
    if method.terms.nodes is not None:
        return _NodeVisits(method, method.terms.nodes, tasks, hash_ring)
    return lambda: method.method(tasks, service_context())


def _faults(method: PeriodicMethod, tasks: TaskFactory) -> Iterator[str]:
    wanted = method.terms.nodes
    if wanted is None:
        return
    if unknown := sorted(wanted.filters.keys() - tasks.store.nodes.filters.keys()):
        yield f"{method.title} filters nodes by {', '.join(unknown)}, which the store does not know"
    if unknown := sorted(set(wanted.extra_fields) - set(tasks.store.nodes.table.c.keys())):
        yield f"{method.title} wants {', '.join(unknown)} of nodes, which they don't have"


class _NodeVisits:
    """Calls the method for this conductor's nodes that chose the implementation, up to its limit for each party."""

    def __init__(
        self, method: PeriodicMethod, wanted: NodeTerms, tasks: TaskFactory, hash_ring: HashRingManager
    ) -> None:
        self._method, self._wanted, self._tasks, self._hash_ring = method, wanted, tasks, hash_ring
        self._rounds = PartyRounds(tasks, method.title, self._visit_some)
        self._visited = 0

    def __call__(self) -> None:
        filters = {**self._method.users, **self._wanted.filters}
        columns = ("uuid", "driver", "conductor_group", *OWNERS)
        self._visited = 0
        self._rounds.visit(
            (uuid, party_of(owner, lessee))
            for uuid, driver, group, owner, lessee in self._tasks.store.nodes.rows(columns, filters=filters)
            if self._hash_ring.is_mine(self._tasks.host, uuid, driver, group)
        )
        if self._wanted.count_metric:
            module = type(self._method.interface).__module__
            metric_table.VISITED_NODES.send(self._visited, f"{module}.{self._wanted.count_metric}")

    def _visit_some(self, uuids: list[str]) -> None:
        visited = 0
        for uuid in uuids:
            if visited == self._wanted.limit:
                break
            visited += _visit(self._method, self._wanted, self._tasks, uuid)
        self._visited += visited


def _visit(method: PeriodicMethod, wanted: NodeTerms, tasks: TaskFactory, uuid: str) -> bool:
    """Call the method for one node; return whether the node was visited. An error of one node stops no other."""
    context = service_context()
    mode = LockMode.PERIODIC_SHARED if wanted.shared else LockMode.PERIODIC
    try:
        with tasks.acquire(context, uuid, mode, purpose=wanted.purpose) as task:
            # An instance may have replaced the node's own implementation by another.
            if getattr(task.driver, method.kind) is not method.interface:
                return False
            if wanted.predicate is not None and not wanted.predicate(task.node):
                return False
            end = method.method(task, tasks, context, *(getattr(task.node, name) for name in wanted.extra_fields))
            wait_ends.end_look(task, end)
    except (NodeLocked, NodeNotFound, NoFreeConductorWorker) as error:
        LOG.debug("%s skips node %s in this run: %s", method.title, uuid, error)
        return False
    except Exception:
        LOG.exception("Node %s: %s failed; it is called again in the next run", uuid, method.title)
    return True
