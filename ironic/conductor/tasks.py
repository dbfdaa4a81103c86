"""The task manager: takes a node's lock, builds its driver, gives the node back; and the factory that makes tasks.

A task is the only way to touch a machine. It is a context manager: at its start it takes the reservation in the node's
row and builds the driver, at its end it gives both back, whatever happens. Shared tasks read, exclusive tasks write;
`locking.LockMode` has the ways of taking a node. Work handed to ``spawn_after`` runs on a worker after the block has
ended; it inherits the lock and returns it when it ends. Changes of the node that are not saved are lost with the task:
only a state move or a power change stores what is pending. There is one factory per conductor.
"""

import functools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from ironic.conductor import power, related_power, transitions
from ironic.conductor.locking import Lock, LockMode, Locks
from ironic.conductor.workers import Workers, WorkerSlot
from ironic.core.context import RequestContext
from ironic.core.errors import ExclusiveLockRequired, NodeNotLocked, NoFreeConductorWorker, TakenOver
from ironic.core.flows import states
from ironic.core.projects.fair_shares import party_of
from ironic.drivers.contract import task as drivers
from ironic.drivers.contract.task import Waiter

if TYPE_CHECKING:
    from ironic.core.clock import Clock
    from ironic.db import NodeRecord, PortgroupRecord, PortRecord, Store
    from ironic.drivers.composition.composed_drivers import Composition
    from ironic.drivers.contract.interfaces import BaseInterface
    from ironic.drivers.contract.task import BareDriver

LOG = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
Interface = TypeVar("Interface", bound="BaseInterface")


class TaskFactory:
    """Makes the tasks of one conductor; ``held`` has the nodes that they hold now, by row id."""

    def __init__(self, store: "Store", composition: "Composition", pool: Workers, host: str) -> None:
        self.store, self.composition, self.pool, self.host = store, composition, pool, host
        self.clock = store.clock
        self.recorder = transitions.Recorder(store, host)
        self.locks = Locks()
        self.held = self.locks.held
        # Row ids of the nodes whose consoles this process has opened, and of the allocations that it works on.
        self.consoles: set[int] = set()
        self.allocations: set[int] = set()

    def acquire(
        self, context: RequestContext, node_id: str | int, mode: LockMode = LockMode.EXCLUSIVE, *, purpose: str
    ) -> "TaskManager":
        """Take a node (UUID, name or row id) and return the task that holds it; to be used in a ``with`` statement.

        ``purpose`` is what users read in the reservation and in the log. Raises NodeLocked when another task has the
        node for longer than the mode lets this one wait, NodeNotFound, and the error that prevents building the driver.
        """
        return TaskManager(self, context, node_id, mode, purpose=purpose)

    def observe(self, context: RequestContext, record: "NodeRecord", *, purpose: str) -> "TaskManager":
        """Return the shared task of a periodic task on a node whose row was just read, without reading it again."""
        return TaskManager(self, context, record.id, LockMode.PERIODIC_SHARED, purpose=purpose, record=record)


class TaskManager(drivers.Task):
    """One piece of work on one node; a context manager that gives the node back at the end."""

    __slots__ = (
        "_factory",
        "_for",
        "_lock",
        "_mode",
        "_portgroups",
        "_ports",
        "_slot",
        "_spawn_error_hook",
        "_work",
        "changes_power",
        "context",
        "driver",
        "node",
        "node_id",
        "notes",
        "purpose",
        "shared",
        "waiter",
    )

    context: RequestContext
    node: "NodeRecord"
    driver: "BareDriver"
    shared: bool
    notes: drivers.Notes
    waiter: Waiter

    def __init__(
        self,
        factory: TaskFactory,
        context: RequestContext,
        ident: str | int,
        mode: LockMode,
        *,
        purpose: str,
        record: "NodeRecord | None" = None,
        needed_by: "TaskManager | None" = None,
    ) -> None:
        self._factory, self._mode, self._for = factory, mode, needed_by
        self.context, self.shared, self.purpose = context, mode.is_shared, purpose
        self.notes = drivers.Notes(factory.clock.monotonic)
        self.waiter = Waiter.WORK
        # Whether a power change has begun, which a change of a related node must not begin again.
        self.changes_power = False
        self._ports: list[PortRecord] | None = None
        self._portgroups: list[PortgroupRecord] | None = None
        self._work: Callable[[], object] | None = None
        self._spawn_error_hook: Callable[[BaseException], object] | None = None
        self._slot: WorkerSlot | None = None
        self._lock = Lock(factory.store, factory.host, factory.locks, mode)
        if mode.is_shared:
            self.node = record or self.store.nodes.get(ident)
        else:
            self.node = self._lock.take(ident, purpose, retries=not mode.is_periodic)
        self.node_id = self.node.id
        self.load_driver()

    # What belongs to the node

    @property
    def store(self) -> "Store":
        """The conductor's database."""
        return self._factory.store

    @property
    def clock(self) -> "Clock":
        """What the task waits by."""
        return self._factory.clock

    @property
    def host(self) -> str:
        """Name of the conductor this task runs on."""
        return self._factory.host

    @property
    def ports(self) -> "list[PortRecord]":
        """The node's ports; read at the first access."""
        if self._ports is None:
            self._ports = self.store.ports.find(node_id=self.node_id)
        return self._ports

    @ports.setter
    def ports(self, ports: "Sequence[PortRecord] | None") -> None:
        """Replace the ports; None has them read again at the next access."""
        self._ports = None if ports is None else list(ports)

    @property
    def portgroups(self) -> "list[PortgroupRecord]":
        """The node's port groups; read at the first access."""
        if self._portgroups is None:
            self._portgroups = self.store.portgroups.find(node_id=self.node_id)
        return self._portgroups

    @portgroups.setter
    def portgroups(self, portgroups: "Sequence[PortgroupRecord] | None") -> None:
        """Replace the port groups; None has them read again at the next access."""
        self._portgroups = None if portgroups is None else list(portgroups)

    @property
    def consoles(self) -> set[int]:
        """Row ids of the nodes whose consoles this process has opened."""
        return self._factory.consoles

    @property
    def holds_lock(self) -> bool:
        """Return whether this task holds the node exclusively now."""
        return self._lock.is_held

    def acquire_other(self, ident: str | int, purpose: str, *, shared: bool = False) -> "TaskManager":
        """Take a further node that this work needs, waiting patiently; to be used in a ``with`` statement."""
        exclusive = LockMode.PATIENT_REPORT if self._mode.is_background else LockMode.PATIENT
        mode = LockMode.SHARED if shared else exclusive
        return TaskManager(self._factory, self.context, ident, mode, purpose=purpose, needed_by=self)

    def holder_of(self, uuid: str) -> "TaskManager | None":
        """Return the task of this work that holds a node: this one, or one that it was taken for; else None."""
        task: TaskManager | None = self
        while task is not None and (task.node.uuid != uuid or not task.holds_lock):
            task = task._for
        return task

    def validated(self, interface: Interface) -> Interface:
        """Return an interface of the node, such as ``task.power``, once its ``validate`` has passed."""
        interface.validate(self)
        return interface

    def choices(self, kind: str) -> Sequence[str]:
        """Return the names of a kind that the node could have here."""
        return self._factory.composition.choices(self.node.driver, kind)

    def alternative(self, kind: str, name: str) -> "BaseInterface":
        """Return another implementation of a kind that the node could have here, or raise the reason against it."""
        return self._factory.composition.implementation(self.node.driver, kind, name)

    def change_power(self, target: str, timeout: int | None = None) -> None:
        """Bring the machine to a power state; see `ironic.drivers.contract.task`."""
        self._require_exclusive()
        before, self.changes_power = self.changes_power, True
        try:
            power.change(self, target, timeout, lambda: related_power.prepare(self, target))
        finally:
            self.changes_power = before

    # The lock

    def upgrade_lock(self, purpose: str | None = None, retry: bool | None = None) -> None:
        """Make a shared task exclusive; the node is read again, so what was decided before must be checked again."""
        self.purpose = purpose or self.purpose
        if not self.shared:
            return
        taken = self._lock.take(self.node_id, self.purpose, retries=retry is not False)
        self.node.held_by, self.node.held_token = taken.held_by, taken.held_token
        self.shared = False
        self.node.refresh()
        self._ports = self._portgroups = None
        self.load_driver()

    def downgrade_lock(self) -> None:
        """Release the lock; the task goes on as a shared one."""
        self._require_exclusive()
        self._lock.release(self.node, self.purpose)
        self.shared = True

    def release_resources(self) -> None:
        """Release the lock and the worker slot of work that was to follow; a second call has no effect."""
        if self._slot is not None:
            self._slot.release()
        self._slot = self._work = None
        self._lock.release(self.node, self.purpose)

    def save_and_release(self) -> None:
        """Store what is pending on the node and release the lock in the same UPDATE."""
        self._require_exclusive()

        def write(_connection: object) -> None:
            self.store.nodes.save_and_release(self.node)
            self._forget_lock_after_commit()

        self.store.run(write, repeatable=True)

    def _forget_lock_after_commit(self) -> None:
        """Forget the lock once the open transaction, in which it is released, is committed."""
        self.store.after_commit(functools.partial(self._lock.was_released, self.node, self.purpose))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Open a transaction on other tables for what belongs to the node; TakenOver when this task lost the node."""
        self._require_exclusive()
        with self.store.writing():
            self.store.nodes.require_held(self.node)
            yield

    def write(self, work: Callable[[], None]) -> None:
        """Call ``work`` in such a transaction, and again after a deadlock, as with a new port of the same group."""
        self._require_exclusive()
        self.store.nodes.run_held(self.node, work)

    def _require_exclusive(self) -> None:
        if self.shared:
            raise ExclusiveLockRequired(node=self.node.uuid)
        if not self.holds_lock:
            raise NodeNotLocked(node=self.node.uuid)

    def load_driver(self) -> None:
        """Build the driver from the node's fields as they are now; for a node whose interfaces have changed."""
        try:
            self.driver = self._factory.composition.driver_for(self.node)
        except BaseException:
            self._lock.release(self.node, self.purpose)
            raise

    # Work that follows

    def spawn_after(self, function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Run the function on a worker once the ``with`` block has ended without error; it keeps the lock meanwhile.

        The worker slot is taken at once: NoFreeConductorWorker comes before anything was changed.
        """
        self._work = functools.partial(function, *args, **kwargs)
        if self._slot is None:
            what = f"{self.purpose} of node {self.node.uuid}"
            party = party_of(self.node.owner, self.node.lessee)
            self._slot = self._factory.pool.take(what, party, background=self._mode.is_background)

    def set_spawn_error_hook(
        self, function: Callable[Concatenate[BaseException, P], object], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Call ``function(error, *args, **kwargs)``, with the lock held, when the work that follows can't start."""
        self._spawn_error_hook = lambda error: function(error, *args, **kwargs)

    # State moves

    def process_event(
        self,
        event: str,
        callback: Callable[..., object] | None = None,
        call_args: Sequence[object] | None = None,
        call_kwargs: Mapping[str, object] | None = None,
        err_handler: Callable[..., object] | None = None,
        target_state: str | None = None,
        last_error: str | None = None,
    ) -> None:
        """Move the node, storing all that is pending on it, and have the callback run after this task's block.

        With a callback the worker slot is taken before the move, and the move clears last_error. If the callback does
        not start although the move happened, ``err_handler(error, node, old_state, old_target)`` is called; without
        one the node takes event "fail", so that no node stays in a working state without work. Raises InvalidState,
        NoFreeConductorWorker and ConcurrentActionLimit.
        """
        move = self._decide(event, target_state, last_error, starts_work=callback is not None)
        if callback is not None and self._mode.is_periodic:
            # The work that starts now may take long: users who meet the lock shall not wait for its end.
            self.node.reservation_purpose = self.purpose
        if err_handler is not None:
            self.set_spawn_error_hook(err_handler, self.node, move.old, move.old_target)
        elif callback is not None:
            self.set_spawn_error_hook(self._fail_unstarted)
        if callback is not None:
            self.spawn_after(callback, *(call_args or ()), **(call_kwargs or {}))
        self._factory.recorder.perform(self.context, self.node, move)

    def finish(self, event: str, target_state: str | None = None, last_error: str | None = None) -> None:
        """Move the node and release the lock in the same UPDATE: the last act of a task."""
        move = self._decide(event, target_state, last_error, starts_work=False)

        def write(_connection: object) -> None:
            self._factory.recorder.perform(self.context, self.node, move, release=True)
            self._forget_lock_after_commit()

        self.store.run(write, repeatable=True)

    def _decide(self, event: str, target: str | None, last_error: str | None, *, starts_work: bool) -> transitions.Move:
        self._require_exclusive()
        return transitions.decide(self.node, event, target=target, last_error=last_error, clear_error=starts_work)

    def _fail_unstarted(self, error: BaseException) -> None:
        """Fail a node that was moved for work that then did not start."""
        if self.node.provision_state in states.WORKING:
            self.process_event("fail", last_error=f"The operation could not be started: {error}")

    # The end

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self._abandon_work(error)
        elif self._work is None:
            self.release_resources()
        else:
            slot, self._slot = self._slot, None
            assert slot is not None, "work that is to follow has its worker slot"
            try:
                slot.start(self._run_work, self._work)
            except NoFreeConductorWorker as refusal:
                self._abandon_work(refusal)
                raise

    def _abandon_work(self, error: BaseException) -> None:
        """End without the work that was to follow; ``error`` is raised to the caller, no other may replace it."""
        try:
            if self._work is not None and self._spawn_error_hook is not None:
                self._spawn_error_hook(error)
        except Exception:
            LOG.exception("Node %s: clean-up after %s failed", self.node.uuid, self.purpose)
        self._release_quietly()

    def _run_work(self, work: Callable[[], object]) -> None:
        """Do the work on a worker thread and release the lock, whatever happens."""
        try:
            work()
        except TakenOver as error:
            LOG.warning("Node %s: %s stopped: %s", self.node.uuid, self.purpose, error)
        except Exception as error:
            LOG.exception("Node %s: %s failed (request %s)", self.node.uuid, self.purpose, self.context.request_id)
            self._fail_abandoned(error)
        finally:
            self._release_quietly()

    def _fail_abandoned(self, error: Exception) -> None:
        """Fail a node whose work ended with an unexpected error; what the work had not saved is dropped."""
        try:
            self.node.refresh()
            if self.holds_lock and self.node.provision_state in states.WORKING:
                reason = f"{self.purpose} failed unexpectedly: {type(error).__name__}: {error}"
                transitions.set_fault(self.node, reason)
                self.process_event("fail", last_error=reason)
        except Exception:
            LOG.exception("Node %s: recording the failure of %s failed too", self.node.uuid, self.purpose)

    def _release_quietly(self) -> None:
        try:
            self.release_resources()
        except Exception:
            LOG.exception("Node %s could not be released after %s", self.node.uuid, self.purpose)


def require_exclusive_lock(function: Callable[P, R]) -> Callable[P, R]:
    """Raise ExclusiveLockRequired on a call with a shared task; decorates functions and methods that take a task."""

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        task: Any = next(argument for argument in args if hasattr(argument, "shared"))
        if task.shared:
            raise ExclusiveLockRequired(node=task.node.uuid)
        return function(*args, **kwargs)

    return checked
