"""Places are given to one client address after another, and an address has its share of them."""

import asyncio

from ironic.command.http_turns import Turns

GREEDY, OTHER = "192.0.2.1", "192.0.2.2"


def order_of(turns: Turns, addresses: list[str]) -> list[str]:
    """Return in which order those get their places that ask in this one; each gives its place back at once."""
    found: list[str] = []

    async def ask(address: str) -> None:
        await turns.take(address)
        found.append(address)
        await asyncio.sleep(0)
        turns.give_back(address)

    async def all_of_them() -> None:
        await asyncio.gather(*map(ask, addresses))

    asyncio.run(all_of_them())
    return found


def test_who_comes_after_a_crowd_of_one_address_is_next() -> None:
    found = order_of(Turns(1), [GREEDY] * 100 + [OTHER])
    assert found.index(OTHER) <= 2
    assert len(found) == 101


def test_addresses_alternate() -> None:
    assert order_of(Turns(1), [GREEDY] * 3 + [OTHER] * 3)[1:] == [GREEDY, OTHER] * 2 + [OTHER]


def test_an_address_leaves_places_to_others() -> None:
    async def ask() -> None:
        turns = Turns(4, share=3)
        for _ in range(3):
            await turns.take(GREEDY)
        assert turns.are_taken(GREEDY) and not turns.are_taken(OTHER)
        fourth = asyncio.create_task(turns.take(GREEDY))
        await asyncio.sleep(0)
        await asyncio.wait_for(turns.take(OTHER), 30)
        assert not fourth.done()
        turns.give_back(GREEDY)
        await asyncio.wait_for(fourth, 30)

    asyncio.run(ask())


def test_who_stops_waiting_leaves_the_place_to_the_next() -> None:
    async def ask() -> None:
        turns = Turns(1)
        await turns.take(GREEDY)
        first, second = (asyncio.create_task(turns.take(address)) for address in (GREEDY, OTHER))
        await asyncio.sleep(0)
        turns.give_back(GREEDY)
        first.cancel()  # it has the place already, and does not know yet
        await asyncio.wait_for(second, 30)
        turns.give_back(OTHER)
        third = asyncio.create_task(turns.take(OTHER))
        await asyncio.wait_for(third, 30)

    asyncio.run(ask())


def test_who_stopped_waiting_before_is_passed_over() -> None:
    async def ask() -> None:
        turns = Turns(1)
        await turns.take(GREEDY)
        gone = asyncio.create_task(turns.take(OTHER))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        turns.give_back(GREEDY)
        await asyncio.wait_for(turns.take(GREEDY), 30)

    asyncio.run(ask())
