"""A task's hold on its node: taken in one statement, given back once, never for longer than anybody knows.

The row in the store is the truth. Beside it every process keeps the ids of the nodes its tasks hold, so that a lock
whose release was lost (the database was away just then) can be found and freed.
"""

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ironic.conf import CONF
from ironic.core.errors import NodeLocked
from ironic.core.lock_purpose import in_background, is_in_background

if TYPE_CHECKING:
    from ironic.db import NodeRecord, Store

LOG = logging.getLogger(__name__)

# A lock held longer than this is worth a line in the log: it is what users meet as "node is locked".
LONG_HOLD_SECONDS: Final = 30.0

# How many times longer than a user's request internal work waits for a lock, and a user for background work.
PATIENCE: Final = 10
# By how much the pauses of internal work grow from one attempt to the next.
BACK_OFF: Final = 1.5


@dataclass(frozen=True, slots=True)
class Hold:
    """One lock that is held: its token in the row, what for, and since when (monotonic seconds)."""

    token: str | None
    purpose: str
    since: float


@dataclass(slots=True)
class Locks:
    """What all locks of one conductor share: what they hold by row id, and which life of the conductor it is."""

    held: dict[int, Hold] = field(default_factory=dict)
    incarnation: str | None = None  # None until the conductor has begun; then only its newest life may take nodes

    def forget(self, node_id: int, hold: Hold | None) -> None:
        """Take note that this lock is held no longer; a later one of the same node stays."""
        if self.held.get(node_id) is hold:
            self.held.pop(node_id, None)


class Lock:
    """One task's claim to one node; not held until it is taken."""

    __slots__ = ("_background", "_hold", "_host", "_locks", "_store")

    def __init__(self, store: "Store", host: str, locks: Locks, *, background: bool = False) -> None:
        self._store, self._host, self._locks, self._background = store, host, locks, background
        self._hold: Hold | None = None

    @property
    def is_held(self) -> bool:
        """Tell whether the node is held right now."""
        return self._hold is not None

    def take(self, ident: str | int, purpose: str, *, retry: bool, patient: bool) -> "NodeRecord":
        """Reserve the node, waiting for it as the options say, or raise NodeLocked."""
        attempts = CONF.conductor.node_locked_retry_attempts if retry else 1
        times, growth = (PATIENCE, BACK_OFF) if patient else (1, 1.0)
        try:
            node = self._reserve(ident, purpose, attempts * times, growth)
        except NodeLocked as error:
            if not retry or not is_in_background(error):
                raise
            # Whoever asks for something does not hear of what goes on in the background; that ends soon.
            node = self._reserve(ident, purpose, attempts * PATIENCE)
        self._hold = self._locks.held[node.id] = Hold(node.held_token, purpose, time.monotonic())
        LOG.debug("Node %s is held for %s", node.uuid, purpose)
        return node

    def _reserve(self, ident: str | int, purpose: str, attempts: int, growth: float = 1) -> "NodeRecord":
        return self._store.nodes.reserve_waiting(
            ident,
            self._host,
            attempts=max(1, attempts),
            growth=growth,
            interval=CONF.conductor.node_locked_retry_interval,
            purpose=in_background(purpose) if self._background else purpose,
            incarnation=self._locks.incarnation,
        )

    def give_back(self, node: "NodeRecord", purpose: str) -> None:
        """Release the node if it is held."""
        if self.is_held:
            # First forgotten, then released: should the database be away, the conductor finds the lonely lock later.
            self.was_given_back(node, purpose)
            self._store.nodes.release(node, self._host)

    def was_given_back(self, node: "NodeRecord", purpose: str) -> None:
        """Take note that the node was released together with another change."""
        hold, self._hold = self._hold, None
        self._locks.forget(node.id, hold)
        held = time.monotonic() - (hold.since if hold else 0)
        level = logging.INFO if held > LONG_HOLD_SECONDS else logging.DEBUG
        LOG.log(level, "Node %s was held for %.1f seconds for %s", node.uuid, held, purpose)
