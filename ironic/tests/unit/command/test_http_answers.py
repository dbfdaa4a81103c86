"""Answers leave in pieces: without a copy of what is long, in order, and in turns with what else the loop has to do."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from ironic.command.http_answers import PIECE, Answers


class Transport:
    """Takes all that is written at once, as for a client that reads as fast."""

    def __init__(self) -> None:
        self.written: list[Any] = []

    def is_closing(self) -> bool:
        return False

    def write(self, data: Any) -> None:
        self.written.append(data)


class Connection:
    address = "192.0.2.1"

    def __init__(self, transport: Transport, flow: object) -> None:
        self.transport, self.flow = transport, flow

    def end_answer(self, cycle: object) -> None:
        """Go on after an answer."""


def send(answer: list[bytes]) -> tuple[list[Any], int]:
    """Return what is written of an answer, and how often the loop does something else meanwhile."""
    transport, turns = Transport(), 0

    async def drain() -> None:
        """Return at once: nothing is left to write."""

    async def test() -> None:
        nonlocal turns
        flow = SimpleNamespace(write_paused=False, drain=drain)
        connection: Any = Connection(transport, flow)
        cycle: Any = SimpleNamespace(disconnected=False, more_body=False)
        sending = asyncio.create_task(Answers().send(connection, cycle, answer))
        while not sending.done():
            await asyncio.sleep(0)
            turns += 1

    asyncio.run(test())
    return transport.written, turns


HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ([HEAD + b"a"], 1),
        ([HEAD, b"a" * (PIECE + 1)], 3),
        ([HEAD, b"a" * PIECE, b",", b"b" * 10, b"]"], 3),
        ([HEAD, *[b"a" * 1000, b","] * 300], 3),
    ],
)
def test_pieces_are_even_and_in_order(answer: list[bytes], number: int) -> None:
    written, _ = send(answer)
    assert b"".join(written) == b"".join(answer)
    assert max(map(len, written)) <= PIECE
    assert len(written) == number


def test_a_long_answer_is_not_copied_and_leaves_turns_to_others() -> None:
    long = b"x" * (20 * PIECE)
    written, turns = send([HEAD, long])
    assert {id(piece.obj) for piece in written[1:]} == {id(long)}
    assert turns >= 20
