"""Send answers, and bound the memory of those that clients do not read.

The next request of a connection is begun when the answer before has left for the client's socket. What has not left is
counted, whatever its size. Beyond the bound the earliest slow client is cut off of the address that holds the most.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from ironic.command.http_connection import Connection

# Bytes of answers that have not left, and of the pieces in which long ones are written.
MOST_UNSENT = 64 * 1024 * 1024
PIECE: Final = 128 * 1024


def _even(answer: Sequence[bytes]) -> Iterator[bytes | memoryview]:
    """Return the bytes of an answer in pieces that are not longer than a limit, and few."""
    short, size = list[bytes](), 0
    for each in answer:
        if short and size + len(each) > PIECE:
            yield b"".join(short)
            short, size = [], 0
        if len(each) > PIECE:
            whole = memoryview(each)
            yield from (whole[start : start + PIECE] for start in range(0, len(each), PIECE))
        else:
            short.append(each)
            size += len(each)
    if short:
        yield b"".join(short)


class Answers:
    """Sends answers; every method runs in the thread of the event loop."""

    def __init__(self) -> None:
        # Bytes of the answers that have not left, by connection and by address; the earliest connection comes first.
        self.unsent: dict[Connection, int] = {}
        self._of_address: Counter[str] = Counter()

    async def send(self, connection: Connection, cycle: RequestResponseCycle, answer: Sequence[bytes]) -> None:
        """Send an answer, and return when it has left or the client has gone.

        A long one takes turns with what else the loop has to do, also if its client reads as fast as it is written.
        """
        if cycle.disconnected and cycle.more_body:
            return  # it was refused meanwhile, because of its body
        cycle.response_started = True
        transport, flow = connection.transport, connection.flow
        written, size = _even(answer), sum(map(len, answer))
        if not transport.is_closing():
            transport.write(next(written))
        if flow.write_paused or size > PIECE:
            self._count(connection, size)
            try:
                await flow.drain()
                for piece in written:
                    await asyncio.sleep(0)
                    if transport.is_closing():
                        break
                    transport.write(piece)
                    await flow.drain()
            finally:
                self._forget(connection)
        cycle.response_complete = True
        connection.end_answer(cycle)

    def _count(self, connection: Connection, size: int) -> None:
        self.unsent[connection] = size
        self._of_address[connection.address] += size
        while self._of_address.total() > MOST_UNSENT:
            (address, _), *_ = self._of_address.most_common(1)
            earliest = next(each for each in self.unsent if each.address == address)
            self._forget(earliest)
            earliest.transport.abort()

    def _forget(self, connection: Connection) -> None:
        self._of_address[connection.address] -= self.unsent.pop(connection, 0)
        if not self._of_address[connection.address]:
            del self._of_address[connection.address]
