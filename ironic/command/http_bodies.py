"""Memory for large request bodies: reserved by their length before they are read, with a share for each address.

A body that does not fit waits for its turn, and other addresses go on. An address without one gets room for any
length, so no body waits for ever.
"""

import asyncio
from collections import Counter

# Bytes of large bodies in memory, of all clients and of one address: the longest body that some route takes by default.
MOST_BODIES = 128 * 1024 * 1024
BODY_SHARE = 64 * 1024 * 1024


class BodyRoom:
    """Bytes that bodies reserve; every method runs in the thread of the event loop."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()
        self._waiting: list[tuple[str, int, asyncio.Future[None]]] = []

    @property
    def taken(self) -> int:
        """The bytes that are reserved."""
        return self._taken.total()

    async def take(self, address: str, size: int) -> None:
        """Reserve so many bytes for a body, as soon as they are there; raises TimeoutError as the caller sets it."""
        if self._fits(address, size):
            self._taken[address] += size
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((address, size, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.give_back(address, size)
            raise

    def give_back(self, address: str, size: int) -> None:
        """Give bytes back; who waits gets them, the address that has the fewest first."""
        self._taken[address] -= size
        if not self._taken[address]:
            del self._taken[address]
        self._waiting = [each for each in self._waiting if not each[2].cancelled()]
        for waiting in sorted(self._waiting, key=lambda each: self._taken[each[0]]):
            owner, wanted, turn = waiting
            if self._fits(owner, wanted):
                self._taken[owner] += wanted
                self._waiting.remove(waiting)
                turn.set_result(None)

    def _fits(self, address: str, size: int) -> bool:
        own, every = self._taken[address], self.taken
        return (not own or own + size <= BODY_SHARE) and (not every or every + size <= MOST_BODIES)
