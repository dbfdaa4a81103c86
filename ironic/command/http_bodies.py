"""Memory for large request bodies: reserved before they are read, with a share for each address.

A body of known length reserves all of it, one in chunks reserves more as it arrives. Bodies of up to 256 KiB have a
room of their own, so small reports go on while large ones fill the other.

An address may have half as much as it leaves free: a third if it is alone, and less the more others have, so that some
is left for the next one. The only body of an address gets room for any length. The caller sets a time for the wait, so
that two bodies that wait for each other come to an end.
"""

import asyncio
from collections import Counter
from types import TracebackType
from typing import Self

# Bytes of large bodies in memory, and of those that are not so large; the longest of these.
MOST_BODIES = 128 * 1024 * 1024
MOST_SMALLER = 16 * 1024 * 1024
SMALLER = 256 * 1024
# Bytes by which the room of a body in chunks grows.
STEP = 1024 * 1024


class _Room:
    """Bytes that bodies reserve; every method runs in the thread of the event loop."""

    def __init__(self, most: int) -> None:
        self._most, self._taken = most, Counter[str]()
        self._waiting: list[tuple[str, int, int, asyncio.Future[None]]] = []

    @property
    def taken(self) -> int:
        """The bytes that are reserved."""
        return self._taken.total()

    async def take(self, address: str, size: int, held: int = 0) -> None:
        """Reserve so many bytes for a body that has ``held`` bytes, as soon as they are there."""
        if self._fits(address, size, held):
            self._taken[address] += size
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((address, size, held, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.give_back(address, size)
            raise

    def give_back(self, address: str, size: int) -> None:
        """Give bytes back; what waits gets them, of the address that has the fewest first."""
        self._taken[address] -= size
        if not self._taken[address]:
            del self._taken[address]
        self._waiting = [each for each in self._waiting if not each[-1].cancelled()]
        for waiting in sorted(self._waiting, key=lambda each: self._taken[each[0]]):
            owner, wanted, held, turn = waiting
            if self._fits(owner, wanted, held):
                self._taken[owner] += wanted
                self._waiting.remove(waiting)
                turn.set_result(None)

    def _fits(self, address: str, size: int, held: int) -> bool:
        own, every = self._taken[address] + size, self.taken + size
        is_only_one, is_only_one_of_all = own == held + size, every == held + size
        return (is_only_one or 2 * own <= self._most - every) and (is_only_one_of_all or every <= self._most)


class Reserved:
    """The memory of one body; a context manager that gives it back."""

    def __init__(self, rooms: "BodyRooms", address: str) -> None:
        self._rooms, self._address = rooms, address
        self._room: _Room | None = None
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    async def grow(self, size: int) -> None:
        """Have room for so many bytes in all; raises TimeoutError as the caller sets it."""
        room = self._rooms.room_for(size)
        if room is self._room:
            await room.take(self._address, size - self.size, self.size)
        else:
            await room.take(self._address, size)
            self.release()
        self._room, self.size = room, size

    def release(self) -> None:
        """Give back what it has."""
        if self._room:
            self._room.give_back(self._address, self.size)
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

    def of(self, address: str) -> Reserved:
        """Return what a body of this address has: nothing yet."""
        return Reserved(self, address)
