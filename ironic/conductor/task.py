"""Who holds a node, and what is done with it.

A task is the only way to touch a machine: it takes the reservation in the node's row, builds the driver, and gives
both back whatever happens. Shared tasks read; exclusive tasks write. Work handed to ``spawn_after`` inherits the lock
and returns it when it ends. What is changed on the node and not saved is lost with the task: nothing is saved behind
the caller's back, except by a state move, which stores all that is pending.
"""

import functools
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Self, TypeVar

from ironic.conductor import faults, transitions
from ironic.conductor.workers import Place, Workers
from ironic.conf import CONF
from ironic.core import states
from ironic.core.context import RequestContext
from ironic.core.errors import ExclusiveLockRequired, NodeNotLocked, NoFreeConductorWorker, TakenOver

if TYPE_CHECKING:
    from ironic.db import NodeRecord, PortgroupRecord, PortRecord, Store
    from ironic.drivers.base import BareDriver
    from ironic.drivers.composition import Composition

LOG = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

# A lock held longer than this is worth a line in the log: it is what users meet as "node is locked".
LONG_HOLD_SECONDS: Final = 30.0

# How many times longer than a user's request internal work waits for a lock.
PATIENCE: Final = 10


@dataclass(frozen=True, slots=True)
class Workplace:
    """What all tasks of one conductor share."""

    store: "Store"
    composition: "Composition"
    pool: Workers
    host: str
    recorder: transitions.Recorder
    held: set[int]


@dataclass(frozen=True, slots=True)
class _Job:
    """A function with its arguments, to be called later."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def __call__(self, *before: Any) -> Any:
        return self.function(*before, *self.args, **self.kwargs)


class Task:
    """One piece of work on one node; a context manager that gives the node back at the end."""

    __slots__ = (
        "_background",
        "_error_hook",
        "_followup",
        "_held_since",
        "_place",
        "_portgroups",
        "_ports",
        "_with_driver",
        "_workplace",
        "context",
        "driver",
        "node",
        "node_id",
        "purpose",
        "shared",
    )

    node: "NodeRecord"
    driver: "BareDriver"

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
    ) -> None:
        self._workplace = workplace
        self.context, self.shared, self.purpose = context, shared, purpose
        self._with_driver, self._background = load_driver, background
        self._ports: list[PortRecord] | None = None
        self._portgroups: list[PortgroupRecord] | None = None
        self._place: Place | None = None
        self._followup: _Job | None = None
        self._error_hook: _Job | None = None
        self._held_since: float | None = None
        self.node = self.store.nodes.get(ident) if shared else self._reserve(ident, retry, patient)
        self.node_id = self.node.id
        self._load_driver()

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
    def holds_lock(self) -> bool:
        """Tell whether this task holds the node exclusively right now."""
        return self._held_since is not None

    # The lock

    def upgrade_lock(self, purpose: str | None = None, retry: bool | None = None) -> None:
        """Make a shared task exclusive; the node is read again, so what was decided before must be checked again."""
        self.purpose = purpose or self.purpose
        if not self.shared:
            return
        self._reserve(self.node_id, retry is not False, patient=False)
        self.node.held_by = self.host
        self.shared = False
        self.node.refresh()
        self._ports = self._portgroups = None
        self._load_driver()

    def downgrade_lock(self) -> None:
        """Let others have the node while this task goes on reading."""
        self._require_exclusive()
        self._release()
        self.shared = True

    def release_resources(self) -> None:
        """Give the node back, and with it the place of work that was to follow; doing so twice is harmless."""
        if self._place is not None:
            self._place.give_back()
        self._place = self._followup = None
        self._release()

    def _reserve(self, ident: str | int, retry: bool, patient: bool) -> "NodeRecord":
        attempts = CONF.conductor.node_locked_retry_attempts if retry else 1
        node = self.store.nodes.reserve_waiting(
            ident,
            self.host,
            attempts=max(1, attempts * (PATIENCE if patient else 1)),
            interval=CONF.conductor.node_locked_retry_interval,
        )
        self._held_since = time.monotonic()
        self._workplace.held.add(node.id)
        LOG.debug("Node %s is reserved for %s (request %s)", node.uuid, self.purpose, self.context.request_id)
        return node

    def _release(self) -> None:
        if self._held_since is not None:
            # First forgotten, then released: should the database be away, the conductor finds the lonely lock later.
            self._note_release()
            self.store.nodes.release(self.node, self.host)

    def _note_release(self) -> None:
        held = time.monotonic() - (self._held_since or 0)
        self._held_since = None
        self._workplace.held.discard(self.node.id)
        level = logging.INFO if held > LONG_HOLD_SECONDS else logging.DEBUG
        LOG.log(level, "Node %s was held for %.1f seconds for %s", self.node.uuid, held, self.purpose)

    def _require_exclusive(self) -> None:
        if self.shared:
            raise ExclusiveLockRequired(node=self.node.uuid)
        if not self.holds_lock:
            raise NodeNotLocked(node=self.node.uuid)

    def _load_driver(self) -> None:
        if not self._with_driver:
            return
        try:
            self.driver = self._workplace.composition.driver_for(self.node)
        except BaseException:
            self._release()
            raise

    # Work that follows

    def spawn_after(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Run the function on a worker once the ``with`` block has ended well; the lock is held until it returns.

        The place among the workers is taken at once: NoFreeConductorWorker comes before anything was changed.
        """
        self._followup = _Job(function, args, kwargs)
        if self._place is None:
            purpose = f"{self.purpose} of node {self.node.uuid}"
            self._place = self._workplace.pool.take(purpose, background=self._background)

    def set_spawn_error_hook(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Have ``function(error, *args, **kwargs)`` called, with the lock held, when the follow-up can't start."""
        self._error_hook = _Job(function, args, kwargs)

    # State moves

    def process_event(
        self,
        event: str,
        callback: Callable[..., Any] | None = None,
        call_args: Sequence[Any] | None = None,
        call_kwargs: Mapping[str, Any] | None = None,
        err_handler: Callable[..., Any] | None = None,
        target_state: str | None = None,
        last_error: str | None = None,
    ) -> None:
        """Move the node, storing all that is pending on it, and have the callback run after this task's block.

        With a callback the place among the workers is taken before the move, and last_error is cleared by it. Should
        the callback not start although the move happened, ``err_handler(error, node, old_state, old_target)`` is
        called; without one the node takes event "fail", so that it is never left in a state nobody works on.
        """
        self._require_exclusive()
        move = self._decide(event, target_state, last_error, starts_work=callback is not None)
        self._set_handler(move, callback is not None, err_handler)
        if callback is not None:
            self.spawn_after(callback, *(call_args or ()), **(call_kwargs or {}))
        self._workplace.recorder.perform(self.context, self.node, move)

    def finish(self, event: str, target_state: str | None = None, last_error: str | None = None) -> None:
        """Move the node and give the lock back in the same UPDATE: the last act of a task."""
        self._require_exclusive()
        move = self._decide(event, target_state, last_error, starts_work=False)
        self._workplace.recorder.perform(self.context, self.node, move, release=True)
        self._note_release()

    def save_and_release(self) -> None:
        """Store what is pending on the node and give the lock back in the same UPDATE."""
        self._require_exclusive()
        self.store.nodes.save_and_release(self.node)
        self._note_release()

    def _decide(self, event: str, target: str | None, last_error: str | None, *, starts_work: bool) -> transitions.Move:
        return transitions.decide(self.node, event, target=target, last_error=last_error, clear_error=starts_work)

    def _set_handler(self, move: transitions.Move, starts_work: bool, handler: Callable[..., Any] | None) -> None:
        if handler is not None:
            self.set_spawn_error_hook(handler, self.node, move.old, move.old_target)
        elif starts_work:
            self.set_spawn_error_hook(self._fail_unstarted)

    def _fail_unstarted(self, error: BaseException) -> None:
        """Fail a node that was moved for work which then never started."""
        if self.node.provision_state in states.WORKING:
            self.process_event("fail", last_error=f"The operation could not be started: {error}")

    # Begin and end

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self._give_up(error)
        elif self._followup is None:
            self.release_resources()
        elif refusal := self._start_followup():
            self._give_up(refusal)
            raise refusal

    def _start_followup(self) -> Exception | None:
        """Hand lock and work over to a worker; return the error if there is none."""
        place, job = self._place, self._followup
        assert place is not None and job is not None, "a follow-up has its place"
        self._place = None
        try:
            place.start(self._follow_up, job)
        except NoFreeConductorWorker as refusal:
            return refusal
        return None

    def _give_up(self, error: BaseException) -> None:
        """End without the follow-up; ``error`` is on its way to the caller and must not be covered by another."""
        if self._followup is not None and self._error_hook is not None:
            try:
                self._error_hook(error)
            except Exception:
                LOG.exception("Node %s: clearing up after %s failed", self.node.uuid, self.purpose)
        self._release_quietly()

    def _follow_up(self, job: _Job) -> None:
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


def require_exclusive_lock(function: Callable[Concatenate[Any, Task, P], R]) -> Callable[Concatenate[Any, Task, P], R]:
    """Refuse a call of a driver's method with a shared task."""

    @functools.wraps(function)
    def checked(self: Any, task: Task, *args: P.args, **kwargs: P.kwargs) -> R:
        if task.shared:
            raise ExclusiveLockRequired(node=task.node.uuid)
        return function(self, task, *args, **kwargs)

    return checked
