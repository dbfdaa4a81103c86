"""Memory for large bodies: what an address may have, who is next, and how those that wait for each other end."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

import pytest

from ironic.command import http_bodies
from ironic.command.http_bodies import SMALLER, STEP, BodyRooms, Reserved

MIB = 1024 * 1024
MOST = http_bodies.MOST_BODIES


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 30))


async def is_refused(reserved: Reserved, size: int, seconds: float = 0.01) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await reserved.grow(size)
    except TimeoutError:
        return True
    return False


async def fill(rooms: BodyRooms, address: str) -> int:
    """Let an address take bodies of a step, as many as it may; return their bytes."""
    bodies: list[Reserved] = []
    while not await is_refused(body := rooms.of(address), STEP):
        bodies.append(body)
    return sum(body.size for body in bodies)


@pytest.mark.parametrize("addresses", [1, 2, 3, 6])
def test_the_more_others_have_the_less_an_address_gets_and_some_is_left(addresses: int) -> None:
    async def test() -> None:
        rooms = BodyRooms()
        taken = [await fill(rooms, f"192.0.2.{number}") for number in range(addresses)]
        assert taken[0] == 42 * MIB  # a third
        assert taken == sorted(taken, reverse=True)
        assert sum(taken) == rooms.taken < MOST
        late = rooms.of("198.51.100.1")
        assert not await is_refused(late, 10 * MIB)

    run(test())


def test_the_only_body_of_an_address_may_have_any_length() -> None:
    async def test() -> None:
        rooms = BodyRooms()
        in_one_piece, growing = rooms.of("192.0.2.1"), rooms.of("192.0.2.2")
        await in_one_piece.grow(64 * MIB)
        for size in range(STEP, 64 * MIB + STEP, STEP):
            await growing.grow(size)
        assert (growing.size, rooms.taken) == (64 * MIB, MOST)
        assert await is_refused(rooms.of("192.0.2.3"), STEP)
        assert await is_refused(growing, growing.size + STEP)
        with growing, in_one_piece:
            pass
        assert rooms.taken == 0
        # Longer than the room: where an option allows it, alone.
        longest = rooms.of("192.0.2.4")
        await longest.grow(2 * MOST)
        assert await is_refused(rooms.of("192.0.2.5"), STEP)

    run(test())


def test_large_bodies_leave_the_room_of_smaller_ones() -> None:
    async def test() -> None:
        rooms = BodyRooms()
        await rooms.of("192.0.2.1").grow(MOST)
        assert not await is_refused(smaller := rooms.of("192.0.2.2"), SMALLER)
        # One that outgrows it keeps what it has until there is room for all of it.
        assert await is_refused(smaller, STEP)
        assert (smaller.size, rooms.taken) == (SMALLER, MOST + SMALLER)

    run(test())


def test_a_body_that_moves_to_the_other_room_leaves_its_own() -> None:
    async def test() -> None:
        rooms = BodyRooms()
        with rooms.of("192.0.2.1") as body:
            for size in (SMALLER, STEP, 2 * STEP):
                await body.grow(size)
                assert rooms.taken == body.size == size
        assert rooms.taken == 0

    run(test())


def test_of_two_that_wait_for_each_other_one_gives_up_and_the_other_goes_on() -> None:
    async def test() -> None:
        rooms, ended = BodyRooms(), []

        async def upload(address: str, seconds: float) -> None:
            with rooms.of(address) as body:
                try:
                    await body.grow(MOST // 2)
                    await asyncio.sleep(0)
                    async with asyncio.timeout(seconds):
                        await body.grow(MOST)
                    ended.append((address, True))
                except TimeoutError:
                    ended.append((address, False))

        await asyncio.gather(upload("192.0.2.1", 0.05), upload("192.0.2.2", 20))
        assert ended == [("192.0.2.1", False), ("192.0.2.2", True)]
        assert rooms.taken == 0

    run(test())


def test_who_has_fewest_is_next_and_who_gave_up_gets_nothing() -> None:
    async def test() -> None:
        rooms, came = BodyRooms(), []
        first = rooms.of("192.0.2.1")
        await first.grow(MOST - 2 * STEP)
        await rooms.of("192.0.2.2").grow(2 * STEP)

        async def wait(address: str) -> None:
            await rooms.of(address).grow(2 * STEP)
            came.append(address)

        waiting = [asyncio.create_task(wait(address)) for address in ("192.0.2.2", "192.0.2.3", "192.0.2.4")]
        await asyncio.sleep(0)
        waiting[1].cancel()
        with first:
            pass
        await asyncio.wait(waiting)
        assert came == ["192.0.2.4", "192.0.2.2"]
        assert rooms.taken == 6 * STEP

    run(test())


class Uploads:
    """Bodies that have brought so many of their bytes, each of an address of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(http_bodies, "PATIENCE_SECONDS", 0.01)
        monkeypatch.setattr(http_bodies, "AGAIN_SECONDS", 0.01)
        monkeypatch.setattr(http_bodies, "FRESH_SECONDS", 0.0)
        monkeypatch.setattr(http_bodies, "PROMPT_SECONDS", 0.0)
        self.rooms, self.refused, self.tasks = BodyRooms(), list[str](), list[asyncio.Task[None]]()

    async def begin(self, name: str, size: int, arrived: int) -> None:
        begun = asyncio.Event()

        async def upload() -> None:
            with self.rooms.of(name, lambda: arrived) as body:
                await body.grow(size)
                try:
                    async with body.arriving():
                        begun.set()
                        await asyncio.Event().wait()
                except TimeoutError:
                    self.refused.append(name)

        self.tasks.append(asyncio.create_task(upload()))
        await begun.wait()

    def end(self) -> None:
        for task in self.tasks:
            task.cancel()


@pytest.mark.parametrize(("most", "newcomer"), [(MOST, 5 * STEP), (http_bodies.MOST_SMALLER, SMALLER)])
def test_the_slowest_bodies_of_many_addresses_are_refused_for_one_that_waits(
    monkeypatch: pytest.MonkeyPatch, most: int, newcomer: int
) -> None:
    async def test() -> None:
        uploads, size = Uploads(monkeypatch), newcomer
        for number in range(most // size):
            # One is as slow as it may be, one has hardly begun.
            await uploads.begin(f"192.0.2.{number}", size, {2: size // 50, 3: 1}.get(number, size - 1))
        await uploads.begin("198.51.100.1", newcomer, 0)
        assert uploads.refused == ["192.0.2.3"]
        await uploads.begin("198.51.100.2", newcomer, newcomer)
        assert uploads.refused[1:] == ["198.51.100.1"]
        await uploads.begin("198.51.100.3", newcomer, newcomer)
        assert uploads.refused[2:] == ["192.0.2.2"]
        uploads.end()

    run(test())


def test_bodies_that_are_prompt_or_new_or_complete_are_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        uploads = Uploads(monkeypatch)
        complete = uploads.rooms.of("192.0.2.1", lambda: 1)
        await complete.grow(MOST // 2)
        await uploads.begin("192.0.2.2", MOST // 2, 1)
        for name, seconds in (("PROMPT_SECONDS", 1e9), ("FRESH_SECONDS", 60.0)):
            with monkeypatch.context() as patch:
                patch.setattr(http_bodies, name, seconds)
                assert await is_refused(uploads.rooms.of("192.0.2.3"), STEP, 0.1)
        # What would not be enough is left alone.
        assert await is_refused(uploads.rooms.of("192.0.2.3"), MOST // 2 + STEP, 0.1)
        assert uploads.refused == []
        assert not await is_refused(uploads.rooms.of("192.0.2.3"), STEP, 20)
        assert uploads.refused == ["192.0.2.2"]
        uploads.end()

    run(test())


def test_none_is_refused_for_an_address_that_has_another_body(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        uploads = Uploads(monkeypatch)
        await uploads.begin("192.0.2.1", MOST - STEP, 1)
        await uploads.rooms.of("192.0.2.2").grow(STEP)
        assert await is_refused(uploads.rooms.of("192.0.2.2"), STEP, 0.1)
        assert uploads.refused == []
        uploads.end()

    run(test())


def test_what_is_given_back_for_one_is_not_taken_by_shorter_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        uploads, came = Uploads(monkeypatch), []
        for number in range(MOST // (8 * STEP)):
            await uploads.begin(f"192.0.2.{number}", 8 * STEP, 1)

        async def wait(name: str, size: int) -> None:
            await uploads.rooms.of(name).grow(size)
            came.append(name)

        long = asyncio.create_task(wait("198.51.100.1", 64 * STEP))
        await asyncio.wait((long,), timeout=0.005)
        monkeypatch.setattr(http_bodies, "PATIENCE_SECONDS", 60)
        short = [asyncio.create_task(wait(f"198.51.100.{number}", 2 * STEP)) for number in range(2, 30)]
        await asyncio.wait((long,), timeout=20)
        assert came[0] == "198.51.100.1"
        assert len(uploads.refused) == 8
        for task in short:
            task.cancel()
        uploads.end()

    run(test())


def test_two_that_wait_at_the_same_time_have_another_one_refused_each(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        uploads = Uploads(monkeypatch)
        for number in range(8):
            await uploads.begin(f"192.0.2.{number}", MOST // 8, 1)
        monkeypatch.setattr(http_bodies, "AGAIN_SECONDS", 60)
        late = [uploads.rooms.of(f"198.51.100.{number}") for number in range(2)]
        waiting = [asyncio.create_task(each.grow(MOST // 8)) for each in late]
        await asyncio.sleep(0)
        time.sleep(0.05)  # the loop finds both impatient at once
        await asyncio.gather(*waiting)
        assert len(uploads.refused) == len(set(uploads.refused)) == 2
        uploads.end()

    run(test())
