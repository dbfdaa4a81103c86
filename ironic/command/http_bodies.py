"""Memory for large request bodies: reserved before they are read, with a share for each address.

A body of known length reserves all of it, one in chunks reserves more as it arrives. Bodies of up to 256 KiB have a
room of their own, so small reports go on while large ones fill the other.

An address may have half as much as it leaves free: a third if it is alone, and less the more others have, so that some
is left for the next one. The only body of an address gets room for any length, so many addresses together may fill a
room. While the only body of an address waits for such a room, bodies that arrive slowly are refused: those first that
would hold the most memory for the longest. While none waits, a body may be as slow as `http_connection` allows.

The caller sets a time for the wait, so that two bodies that wait for each other come to an end.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

# Bytes of large bodies in memory, and of those that are not so large; the longest of these.
MOST_BODIES = 128 * 1024 * 1024
MOST_SMALLER = 16 * 1024 * 1024
SMALLER = 256 * 1024
# Bytes by which the room of a body in chunks grows.
STEP = 1024 * 1024
# Seconds for which a body waits before slow ones are refused for it, and until it is tried again.
PATIENCE_SECONDS, AGAIN_SECONDS = 1.0, 0.5
# A body that arrives in so many seconds is not slow, nor is one that has had its room for a shorter time than this.
PROMPT_SECONDS, FRESH_SECONDS = 2.0, 0.5


@dataclass(eq=False)
class _Waiting:
    """A body that waits for so many more bytes than it holds."""

    address: str
    size: int
    held: int
    turn: asyncio.Future[None]
    # Others were refused for it, so it gets what they give back.
    is_next: bool = False


class _Room:
    """Bytes that bodies reserve; every method runs in the thread of the event loop."""

    def __init__(self, most: int) -> None:
        self._most, self._taken = most, Counter[str]()
        self._waiting: list[_Waiting] = []
        # Bodies that have room here, and may be arriving.
        self.bodies = dict[Reserved, None]()

    @property
    def taken(self) -> int:
        """The bytes that are reserved."""
        return self._taken.total()

    async def take(self, address: str, size: int, held: int = 0) -> None:
        """Reserve so many bytes for a body that has ``held`` bytes, as soon as they are there."""
        if self._fits(address, size, held) and not any(each.is_next for each in self._waiting):
            self._taken[address] += size
            return
        waiting = _Waiting(address, size, held, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        try:
            pause = PATIENCE_SECONDS
            while not (await asyncio.wait((waiting.turn,), timeout=pause))[0]:
                pause = AGAIN_SECONDS
                self._refuse_slow(waiting)
        except asyncio.CancelledError:
            if waiting.turn.done():
                self.give_back(address, size)
            else:
                self._waiting.remove(waiting)
                if waiting.is_next:
                    self._hand_out()
            raise

    def give_back(self, address: str, size: int) -> None:
        """Give bytes back; what waits gets them, of the address that has the fewest first, and the shortest first."""
        self._taken[address] -= size
        if not self._taken[address]:
            del self._taken[address]
        self._hand_out()

    def _hand_out(self) -> None:
        for each in sorted(
            self._waiting, key=lambda each: (not each.is_next, self._taken.get(each.address, 0), each.size)
        ):
            if self._fits(each.address, each.size, each.held):
                self._taken[each.address] += each.size
                self._waiting.remove(each)
                each.turn.set_result(None)
            elif each.is_next:
                return

    def _fits(self, address: str, size: int, held: int) -> bool:
        own, every = self._taken.get(address, 0) + size, self.taken + size
        is_only_one, is_only_one_of_all = own == held + size, every == held + size
        return (is_only_one or 2 * own <= self._most - every) and (is_only_one_of_all or every <= self._most)

    def _refuse_slow(self, waiting: _Waiting) -> None:
        """Refuse slow bodies until there is room for one that is the only one of its address; none if that fails."""
        waiting.is_next = False
        lacking = self.taken + waiting.size - self._most
        if lacking <= 0 or self._taken.get(waiting.address, 0) > waiting.held:
            self._hand_out()
            return
        slow = [each for each in self.bodies if each.address != waiting.address and each.seconds > PROMPT_SECONDS]
        refused = list[Reserved]()
        for each in sorted(slow, key=lambda each: each.size * each.seconds, reverse=True):
            refused.append(each)
            lacking -= each.size
            if lacking <= 0:
                waiting.is_next = True
                for one in refused:
                    one.refuse()
                return
        self._hand_out()


class Reserved:
    """The memory of one body; a context manager that gives it back."""

    def __init__(self, rooms: "BodyRooms", address: str, arrived: Callable[[], int]) -> None:
        self._rooms, self.address, self._arrived = rooms, address, arrived
        self._room: _Room | None = None
        self._limit: asyncio.Timeout | None = None
        self._since = 0.0
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    @asynccontextmanager
    async def arriving(self, seconds: float | None = None) -> AsyncIterator[None]:
        """Raise TimeoutError after so many seconds, or if the body is refused because it is slow and others wait."""
        async with asyncio.timeout(seconds) as self._limit:
            try:
                yield
            finally:
                self._limit = None

    @property
    def seconds(self) -> float:
        """How long it takes for what it holds to arrive, at the rate until now; 0 if it is new or does not arrive."""
        age = asyncio.get_running_loop().time() - self._since
        return age * self.size / max(self._arrived(), 1) if self._limit is not None and age >= FRESH_SECONDS else 0.0

    def refuse(self) -> None:
        """End its arrival."""
        if self._limit is not None:
            self._limit.reschedule(0)
            self._limit = None

    async def grow(self, size: int) -> None:
        """Have room for so many bytes in all; raises TimeoutError as the caller sets it."""
        room = self._rooms.room_for(size)
        if room is self._room:
            await room.take(self.address, size - self.size, self.size)
        else:
            await room.take(self.address, size)
            self.release()
        if not self._since:
            self._since = asyncio.get_running_loop().time()
        self._room, self.size = room, size
        room.bodies[self] = None

    def release(self) -> None:
        """Give back what it has."""
        if self._room:
            del self._room.bodies[self]
            self._room.give_back(self.address, self.size)
            self._room = None


class BodyRooms:
    """The rooms for bodies; every method runs in the thread of the event loop."""

    def __init__(self) -> None:
        self._large, self._smaller = _Room(MOST_BODIES), _Room(MOST_SMALLER)

    @property
    def taken(self) -> int:
        """The bytes that are reserved."""
        return self._large.taken + self._smaller.taken

    def room_for(self, size: int) -> _Room:
        """Return the room of a body of so many bytes."""
        return self._smaller if size <= SMALLER else self._large

    def of(self, address: str, arrived: Callable[[], int] = lambda: 0) -> Reserved:
        """Return what a body of this address has: nothing yet; ``arrived`` returns how many of its bytes have come."""
        return Reserved(self, address, arrived)
