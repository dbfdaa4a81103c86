"""Who holds a node, and what is done with it.

A task is the only way to touch a machine: it takes the reservation in the node's row, builds the driver, and gives
both back whatever happens. Shared tasks read; exclusive tasks write. Work handed to ``spawn_after`` inherits the lock
and returns it when it ends. What is changed on the node and not saved is lost with the task: nothing is saved behind
the caller's back, except by a state move or a power change, which store all that is pending.
"""

import functools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from ironic.conductor import faults, moves, power, transitions
from ironic.conductor.followup import FollowUp, Job
from ironic.conductor.lock import Lock, Locks
from ironic.conductor.workers import Place, Workers
from ironic.core import states
from ironic.core.context import RequestContext
from ironic.core.errors import ExclusiveLockRequired, NodeNotLocked, TakenOver
from ironic.drivers import task as drivers

if TYPE_CHECKING:
    from ironic.db import NodeRecord, PortgroupRecord, PortRecord, Store
    from ironic.drivers.bare_driver import BareDriver
    from ironic.drivers.composition import Composition
    from ironic.drivers.interfaces import BaseInterface

LOG = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
Interface = TypeVar("Interface", bound="BaseInterface")


@dataclass(frozen=True, slots=True)
class Workplace:
    """What all tasks of one conductor share."""

    store: "Store"
    composition: "Composition"
    pool: Workers
    host: str
    recorder: transitions.Recorder
    locks: Locks
    consoles: set[int] = field(default_factory=set)


class Task(drivers.Task):
    """One piece of work on one node; a context manager that gives the node back at the end."""

    __slots__ = (
        "_background",
        "_followup",
        "_lock",
        "_portgroups",
        "_ports",
        "_unasked",
        "_with_driver",
        "_workplace",
        "context",
        "driver",
        "node",
        "node_id",
        "purpose",
        "shared",
    )

    context: RequestContext
    node: "NodeRecord"
    driver: "BareDriver"
    shared: bool

    def __init__(
        self,
        workplace: Workplace,
        context: RequestContext,
        ident: str | int,
        *,
        shared: bool,
        purpose: str,
        retry: bool,
        patient: bool,
        load_driver: bool,
        background: bool,
        unasked: bool = False,
        record: "NodeRecord | None" = None,
    ) -> None:
        self._workplace = workplace
        self.context, self.shared, self.purpose = context, shared, purpose
        self._with_driver, self._background, self._unasked = load_driver, background, unasked
        self._ports: list[PortRecord] | None = None
        self._portgroups: list[PortgroupRecord] | None = None
        self._followup = FollowUp()
        self._lock = Lock(workplace.store, workplace.host, workplace.locks, background=unasked)
        if shared:
            self.node = record or self.store.nodes.get(ident)
        else:
            self.node = self._lock.take(ident, purpose, retry=retry, patient=patient)
        self.node_id = self.node.id
        self.load_driver()

    # What a task offers to look at

    @property
    def store(self) -> "Store":
        """The conductor's store."""
        return self._workplace.store

    @property
    def host(self) -> str:
        """Name of the conductor this task runs on."""
        return self._workplace.host

    @property
    def ports(self) -> "list[PortRecord]":
        """The node's ports, read at the first look."""
        if self._ports is None:
            self._ports = self.store.ports.find(node_id=self.node_id)
        return self._ports

    @ports.setter
    def ports(self, ports: "Sequence[PortRecord] | None") -> None:
        """Put other ports in their place; None has them read again at the next look."""
        self._ports = None if ports is None else list(ports)

    @property
    def portgroups(self) -> "list[PortgroupRecord]":
        """The node's port groups, read at the first look."""
        if self._portgroups is None:
            self._portgroups = self.store.portgroups.find(node_id=self.node_id)
        return self._portgroups

    @portgroups.setter
    def portgroups(self, portgroups: "Sequence[PortgroupRecord] | None") -> None:
        """Put other port groups in their place; None has them read again at the next look."""
        self._portgroups = None if portgroups is None else list(portgroups)

    @property
    def consoles(self) -> set[int]:
        """Row ids of the nodes whose consoles were opened by this process."""
        return self._workplace.consoles

    @property
    def holds_lock(self) -> bool:
        """Tell whether this task holds the node exclusively right now."""
        return self._lock.is_held

    def beside(self, ident: str | int, purpose: str, *, shared: bool = False) -> "Task":
        """Take another node that this piece of work concerns too, patiently; to be used in a ``with`` statement."""
        return Task(
            self._workplace,
            self.context,
            ident,
            shared=shared,
            purpose=purpose,
            retry=True,
            patient=True,
            load_driver=True,
            background=self._background,
        )

    def validated(self, interface: Interface) -> Interface:
        """Return an interface of the node, such as ``task.power``, or raise what the node lacks for it."""
        interface.validate(self)
        return interface

    def alternative(self, kind: str, name: str) -> "BaseInterface":
        """Return another implementation of a kind that the node could have here, or raise why it can't."""
        return self._workplace.composition.implementation(self.node.driver, kind, name)

    def change_power(self, target: str, timeout: int | None = None) -> None:
        """Bring the machine to a power state; see `ironic.drivers.task`."""
        self._require_exclusive()
        power.change(self, target, timeout)

    # The lock

    def upgrade_lock(self, purpose: str | None = None, retry: bool | None = None) -> None:
        """Make a shared task exclusive; the node is read again, so what was decided before must be checked again."""
        self.purpose = purpose or self.purpose
        if not self.shared:
            return
        taken = self._lock.take(self.node_id, self.purpose, retry=retry is not False, patient=False)
        self.node.held_by, self.node.held_token = taken.held_by, taken.held_token
        self.shared = False
        self.node.refresh()
        self._ports = self._portgroups = None
        self.load_driver()

    def downgrade_lock(self) -> None:
        """Let others have the node while this task goes on reading."""
        self._require_exclusive()
        self._lock.give_back(self.node, self.purpose)
        self.shared = True

    def release_resources(self) -> None:
        """Give the node back, and with it the place of work that was to follow; doing so twice is harmless."""
        self._followup.drop()
        self._lock.give_back(self.node, self.purpose)

    def save_and_release(self) -> None:
        """Store what is pending on the node and give the lock back in the same UPDATE."""
        self._require_exclusive()
        self.store.run(self._save_and_release, repeatable=True)

    def _save_and_release(self, _connection: object) -> None:
        self.store.nodes.save_and_release(self.node)
        self._note_given_back()

    def _note_given_back(self) -> None:
        """Forget the lock once its release is certain; part of the transaction in which it is given back."""
        self.store.after_commit(functools.partial(self._lock.was_given_back, self.node, self.purpose))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Open a transaction for what belongs to the node in other tables; TakenOver when the node is not ours now."""
        self._require_exclusive()
        with self.store.writing():
            self.store.nodes.require_held(self.node)
            yield

    def _require_exclusive(self) -> None:
        if self.shared:
            raise ExclusiveLockRequired(node=self.node.uuid)
        if not self.holds_lock:
            raise NodeNotLocked(node=self.node.uuid)

    def load_driver(self) -> None:
        """Build the driver from what the node says now; for one whose interfaces have changed."""
        if not self._with_driver:
            return
        try:
            self.driver = self._workplace.composition.driver_for(self.node)
        except BaseException:
            self._lock.give_back(self.node, self.purpose)
            raise

    # Work that follows

    def spawn_after(self, function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Run the function on a worker once the ``with`` block has ended well; the lock is held until it returns.

        The place among the workers is taken at once: NoFreeConductorWorker comes before anything was changed.
        """
        self._followup.plan(Job(function, args, kwargs), self._take_place)

    def set_spawn_error_hook(
        self, function: Callable[Concatenate[BaseException, P], object], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Have ``function(error, *args, **kwargs)`` called, with the lock held, when what follows can't start."""
        self._followup.on_error(Job(function, args, kwargs))

    def _take_place(self) -> Place:
        return self._workplace.pool.take(f"{self.purpose} of node {self.node.uuid}", background=self._background)

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

        With a callback the place among the workers is taken before the move, and last_error is cleared by it. Should
        the callback not start although the move happened, ``err_handler(error, node, old_state, old_target)`` is
        called; without one the node takes event "fail", so that it is never left in a state nobody works on.
        """
        move = self._decide(event, target_state, last_error, starts_work=callback is not None)
        if callback is not None and self._unasked:
            # What begins now is no matter of moments any more; whoever meets the lock shall not wait for its end.
            self.node.reservation_purpose = self.purpose
        if err_handler is not None:
            self.set_spawn_error_hook(err_handler, self.node, move.old, move.old_target)
        elif callback is not None:
            self.set_spawn_error_hook(self._fail_unstarted)
        if callback is not None:
            self.spawn_after(callback, *(call_args or ()), **(call_kwargs or {}))
        self._workplace.recorder.perform(self.context, self.node, move)

    def finish(self, event: str, target_state: str | None = None, last_error: str | None = None) -> None:
        """Move the node and give the lock back in the same UPDATE: the last act of a task."""
        move = self._decide(event, target_state, last_error, starts_work=False)
        self.store.run(functools.partial(self._finish, move), repeatable=True)

    def _finish(self, move: moves.Move, _connection: object) -> None:
        self._workplace.recorder.perform(self.context, self.node, move, release=True)
        self._note_given_back()

    def _decide(self, event: str, target: str | None, last_error: str | None, *, starts_work: bool) -> moves.Move:
        self._require_exclusive()
        return moves.decide(self.node, event, target=target, last_error=last_error, clear_error=starts_work)

    def _fail_unstarted(self, error: BaseException) -> None:
        """Fail a node that was moved for work which then never started."""
        if self.node.provision_state in states.WORKING:
            self.process_event("fail", last_error=f"The operation could not be started: {error}")

    # The end

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self._give_up(error)
        elif not self._followup.is_planned:
            self.release_resources()
        elif refusal := self._followup.start(self._follow_up):
            self._give_up(refusal)
            raise refusal

    def _give_up(self, error: BaseException) -> None:
        """End without what was to follow; ``error`` is on its way to the caller, no other may cover it."""
        try:
            self._followup.refuse(error)
        except Exception:
            LOG.exception("Node %s: clearing up after %s failed", self.node.uuid, self.purpose)
        self._release_quietly()

    def _follow_up(self, job: Job) -> None:
        """Do the work on a worker thread; whatever happens, the lock comes back."""
        try:
            job()
        except TakenOver as error:
            LOG.warning("Node %s: %s stopped: %s", self.node.uuid, self.purpose, error)
        except Exception as error:
            LOG.exception("Node %s: %s failed (request %s)", self.node.uuid, self.purpose, self.context.request_id)
            self._fail_abandoned(error)
        finally:
            self._release_quietly()

    def _fail_abandoned(self, error: Exception) -> None:
        """Fail a node whose work died without saying so; what it had not saved is dropped."""
        try:
            self.node.refresh()
            if self.holds_lock and self.node.provision_state in states.WORKING:
                reason = f"{self.purpose} failed unexpectedly: {type(error).__name__}: {error}"
                faults.mark(self.node, reason)
                self.process_event("fail", last_error=reason)
        except Exception:
            LOG.exception("Node %s: recording the failure of %s failed too", self.node.uuid, self.purpose)

    def _release_quietly(self) -> None:
        try:
            self.release_resources()
        except Exception:
            LOG.exception("Node %s could not be released after %s", self.node.uuid, self.purpose)


def require_exclusive_lock(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse calls with a shared task; for functions whose first argument is the task, and for methods."""

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        task: Any = next(argument for argument in args if hasattr(argument, "shared"))
        if task.shared:
            raise ExclusiveLockRequired(node=task.node.uuid)
        return function(*args, **kwargs)

    return checked
