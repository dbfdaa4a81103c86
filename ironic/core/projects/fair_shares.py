"""Shares of a limited number of places, so that no project takes all that others need.

A party is a project, None is the site: the project that a node belongs to (its owner, or its lessee if it has no
owner), or that of a caller. A party may hold a percentage of the places that the others leave: the first one two
thirds, another one two thirds of the rest. So something is free for the party that comes next, and parties that want
much end with equal shares. Nothing is kept from a party that is alone.
"""

import threading
from collections import Counter, deque
from typing import Generic, TypeVar

T = TypeVar("T")

Party = str | None


def party_of(owner: str | None, lessee: str | None) -> Party:
    """Return the party of a node; its owner could name any lessee, so the owner counts first."""
    return owner or lessee or None


def has_room(held: int, free: int, percentage: int) -> bool:
    """Return whether a party that holds so many places may take one of those that are free."""
    return free > 0 and held * 100 < percentage * (held + free)


class FairQueue(Generic[T]):
    """Items that wait, by party; the party that has the fewest items in hand comes next."""

    def __init__(self) -> None:
        self._waiting: dict[Party, deque[T]] = {}
        self._in_hand: Counter[Party] = Counter()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        with self._lock:
            return sum(map(len, self._waiting.values()))

    def put(self, party: Party, item: T) -> None:
        """Add an item of a party."""
        with self._lock:
            self._waiting.setdefault(party, deque()).append(item)

    def take(self) -> tuple[Party, T] | None:
        """Return the next item and its party, None without one."""
        with self._lock:
            if not self._waiting:
                return None
            party = min(self._waiting, key=lambda each: self._in_hand[each])
            line = self._waiting.pop(party)
            item = line.popleft()
            if line:  # behind those that have as many in hand
                self._waiting[party] = line
            self._in_hand[party] += 1
            return party, item

    def done(self, party: Party) -> None:
        """Record that an item of a party is not in hand any more."""
        with self._lock:
            self._in_hand[party] -= 1
            if not self._in_hand[party]:
                del self._in_hand[party]
