"""Turns: a limited number of places, given to one client address after another.

However many requests an address has waiting, another address waits for one request of each, not for all of them. An
address may have a share of the places at most, so that those that take long leave some to others.
"""

import asyncio
from collections import OrderedDict, defaultdict, deque


class Turns:
    """So many places; every method runs in the thread of the event loop."""

    def __init__(self, places: int, share: int | None = None) -> None:
        """Take the number of places, and how many of them one address may have (None: all)."""
        self._free, self._share = places, share or places
        self._taken: defaultdict[str, int] = defaultdict(int)
        # Those who wait, by address; the address whose turn is next comes first.
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def are_taken(self, address: str) -> bool:
        """Return whether the address would have to wait."""
        return not self._free or self._taken.get(address, 0) >= self._share

    def take_now(self, address: str) -> bool:
        """Take a place if the address need not wait for it; return whether it has one."""
        has_one = not self._waiting and not self.are_taken(address)
        if has_one:
            self._give(address)
        return has_one

    async def take(self, address: str) -> None:
        """Take a place, as soon as it is the turn of the address."""
        if self.take_now(address):
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(address, deque()).append(place)
        self._hand_out()
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                self.give_back(address)
            raise

    def give_back(self, address: str) -> None:
        """Give a place back, for the next one."""
        self._free += 1
        self._taken[address] -= 1
        if not self._taken[address]:
            del self._taken[address]
        if self._waiting:
            self._hand_out()

    def _give(self, address: str) -> None:
        self._free -= 1
        self._taken[address] += 1

    def _hand_out(self) -> None:
        while self._free:
            address = next((each for each in self._waiting if self._taken.get(each, 0) < self._share), None)
            if address is None:
                return
            line = self._waiting.pop(address)
            place = line.popleft()
            if line:
                self._waiting[address] = line
            if not place.cancelled():
                self._give(address)
                place.set_result(None)
