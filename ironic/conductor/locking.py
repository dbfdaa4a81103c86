"""Node locks: one UPDATE takes the lock of a node for a task, one releases it.

``LockMode`` says how a task takes its node: with or without the lock, how long it waits for a lock that is taken, which
workers its work may use, and whether users wait for its end. ``Lock`` is one task's lock, ``Locks`` are those of a
process. The row in the store is the truth; every process also keeps the ids of the nodes that its tasks hold, so that a
lock whose release was lost, because the database was away just then, is found and freed (`takeover`).
"""

import enum
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironic.conf import CONF
from ironic.core.context import background_purpose, is_background_lock
from ironic.core.errors import NodeLocked

if TYPE_CHECKING:
    from ironic.db import NodeRecord, Store

LOG = logging.getLogger(__name__)

# A lock held longer than this is logged at level INFO: it is what users meet as "node is locked".
LONG_HOLD_SECONDS: Final = 30.0

# How many times more often than usual a patient task tries, and a user's request when a periodic task has the node.
_PATIENCE_FACTOR: Final = 10
# Factor by which the pauses of a patient task grow from one attempt to the next.
_PATIENCE_GROWTH: Final = 1.5


class LockMode(enum.Enum):
    """How a task takes its node."""

    EXCLUSIVE = enum.auto()  # a user's request; it waits as [conductor]node_locked_retry_attempts and _interval say
    SHARED = enum.auto()  # a user's request that only reads; it takes no lock
    REPORT = enum.auto()  # a report of an agent or of a driver that polls; it waits as a user's request does
    PATIENT = enum.auto()  # a further node that a user's work under way needs; it waits ten times as long
    PATIENT_REPORT = enum.auto()  # the same for work that a report has started
    PERIODIC = enum.auto()  # a periodic task; a node that is locked is skipped
    PERIODIC_SHARED = enum.auto()  # a periodic task that only reads

    @property
    def is_shared(self) -> bool:
        """Return whether the task takes no lock and only reads."""
        return self in {LockMode.SHARED, LockMode.PERIODIC_SHARED}

    @property
    def is_patient(self) -> bool:
        """Return whether the task tries ten times as often as a user's request, with growing pauses."""
        return self in {LockMode.PATIENT, LockMode.PATIENT_REPORT}

    @property
    def is_periodic(self) -> bool:
        """Return whether the lock is marked as one that is soon released: it is not retried, and users wait for it."""
        return self in {LockMode.PERIODIC, LockMode.PERIODIC_SHARED}

    @property
    def is_background(self) -> bool:
        """Return whether work of the task can't have the workers that are reserved for users' requests."""
        return self.is_periodic or self in {LockMode.REPORT, LockMode.PATIENT_REPORT}


@dataclass(frozen=True, slots=True)
class Hold:
    """One lock that is held: its token in the row, what for, and since when (monotonic seconds)."""

    token: str | None
    purpose: str
    since: float


@dataclass(slots=True)
class Locks:
    """The locks of one conductor by row id of the node, and the number of its incarnation."""

    held: dict[int, Hold] = field(default_factory=dict)
    incarnation: str | None = None  # None until the conductor has started; then only the newest one may take nodes

    def forget(self, node_id: int, hold: Hold | None) -> None:
        """Remove a lock that is held no longer; a later one of the same node stays."""
        if self.held.get(node_id) is hold:
            self.held.pop(node_id, None)


class Lock:
    """One task's lock on one node; not held until it is taken."""

    __slots__ = ("_hold", "_host", "_locks", "_mode", "_store")

    def __init__(self, store: "Store", host: str, locks: Locks, mode: LockMode) -> None:
        self._store, self._host, self._locks, self._mode = store, host, locks, mode
        self._hold: Hold | None = None

    @property
    def is_held(self) -> bool:
        """Return whether the node is held now."""
        return self._hold is not None

    def take(self, ident: str | int, purpose: str, *, retries: bool) -> "NodeRecord":
        """Reserve the node, waiting for it as the mode says, or raise NodeLocked; NodeNotFound when it is gone."""
        attempts = CONF.conductor.node_locked_retry_attempts if retries else 1
        factor, growth = (_PATIENCE_FACTOR, _PATIENCE_GROWTH) if self._mode.is_patient else (1, 1.0)
        try:
            node = self._reserve(ident, purpose, attempts * factor, growth)
        except NodeLocked as error:
            if not retries or not is_background_lock(error):
                raise
            # A periodic task ends soon, and no user has asked for it: a user's request waits for its end.
            node = self._reserve(ident, purpose, attempts * _PATIENCE_FACTOR)
        self._hold = self._locks.held[node.id] = Hold(node.held_token, purpose, self._store.clock.monotonic())
        LOG.debug("Node %s is locked for %s", node.uuid, purpose)
        return node

    def _reserve(self, ident: str | int, purpose: str, attempts: int, growth: float = 1) -> "NodeRecord":
        return self._store.nodes.reserve_waiting(
            ident,
            self._host,
            attempts=max(1, attempts),
            growth=growth,
            interval=CONF.conductor.node_locked_retry_interval,
            purpose=background_purpose(purpose) if self._mode.is_periodic else purpose,
            incarnation=self._locks.incarnation,
        )

    def release(self, node: "NodeRecord", purpose: str) -> None:
        """Release the node if it is held."""
        if self.is_held:
            # Forgotten before it is released: if the database is away, the conductor finds the lost lock later.
            self.was_released(node, purpose)
            self._store.nodes.release(node, self._host)

    def was_released(self, node: "NodeRecord", purpose: str) -> None:
        """Forget the lock of a node that was released together with another change."""
        hold, self._hold = self._hold, None
        self._locks.forget(node.id, hold)
        held = self._store.clock.monotonic() - (hold.since if hold else 0)
        level = logging.INFO if held > LONG_HOLD_SECONDS else logging.DEBUG
        LOG.log(level, "Node %s was held for %.1f seconds for %s", node.uuid, held, purpose)
