"""Send answers, and bound the memory of those that clients do not read.

The next request of a connection is begun when the answer before has left for the client's socket. What has not left is
counted, whatever its size. Beyond the bound the earliest slow client is cut off of the address that holds the most.
"""

from collections import Counter
from typing import Final

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from ironic.command.http_connection import Connection

# Bytes of answers that have not left, and of the pieces in which long ones are written.
MOST_UNSENT = 64 * 1024 * 1024
PIECE: Final = 128 * 1024


class Answers:
    """Sends answers; every method runs in the thread of the event loop."""

    def __init__(self) -> None:
        # Bytes of the answers that have not left, by connection and by address; the earliest connection comes first.
        self.unsent: dict[Connection, int] = {}
        self._of_address: Counter[str] = Counter()

    async def send(self, connection: Connection, cycle: RequestResponseCycle, answer: bytes) -> None:
        """Send an answer, and return when it has left or the client has gone."""
        if cycle.disconnected and cycle.more_body:
            return  # it was refused meanwhile, because of its body
        cycle.response_started = True
        transport, flow = connection.transport, connection.flow
        if not transport.is_closing():
            transport.write(answer if len(answer) <= PIECE else answer[:PIECE])
        if flow.write_paused or len(answer) > PIECE:
            self._count(connection, len(answer))
            try:
                await flow.drain()
                for start in range(PIECE, len(answer), PIECE):
                    if transport.is_closing():
                        break
                    transport.write(answer[start : start + PIECE])
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
