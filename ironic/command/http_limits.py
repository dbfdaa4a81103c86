"""What all connections of the API server may hold together, and which of them goes when there is no more room.

A client costs a descriptor, the bytes of its body, and the bytes of an answer that it does not take. All three are
bounded; who has waited longest without getting on makes room for others.
"""

import asyncio
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from ironic.command.wsgi_call import HttpRequest

# Bytes of bodies that are held at the same time. Small bodies are read all the same.
MOST_BODIES = 64 * 1024 * 1024
SMALL_BODY = 65536
# Bytes of answers that wait for clients to take them.
MOST_UNSENT = 64 * 1024 * 1024


class Client(Protocol):
    """What is asked of a connection here."""

    transport: asyncio.Transport
    abort: Callable[[], object]


C = TypeVar("C", bound=Client)


class Traffic(Generic[C]):
    """The connections, by what they are at. Used in the thread of the event loop only."""

    def __init__(
        self,
        begin: Callable[[C, HttpRequest], None],
        *,
        threads: int,
        body_limit: int,
        most_connections: int,
    ) -> None:
        """Hand complete requests to ``begin``, with their connection, as many at the same time as there are threads."""
        self.body_limit, self.is_stopping = body_limit, False
        # All, and those that have no request under way, the one that has waited longest first.
        self.connections: dict[C, None] = {}
        self._waiting: dict[C, None] = {}
        # Those in the middle of a large body, the earliest first; those that don't take their answer.
        self._large: dict[C, None] = {}
        self._unsent: dict[C, int] = {}
        # Complete requests that wait for a thread.
        self._lined_up: dict[C, HttpRequest] = {}
        self._begin, self._most, self._idle_threads = begin, most_connections, threads
        self._held = 0

    def admit(self, connection: C) -> None:
        """Count a new connection in; if there are too many, another one goes."""
        self.connections[connection] = self._waiting[connection] = None
        if len(self.connections) > self._most:
            self.make_room()

    def make_room(self) -> None:
        """End the connection that has waited longest for a request, or else for its client to take an answer."""
        for victim in (*self._waiting, *self._unsent):
            self.forget(victim)
            victim.abort()
            return

    def forget(self, connection: C) -> None:
        """Count a connection out; what it has asked for and no thread has begun is not done."""
        self.connections.pop(connection, None)
        self._waiting.pop(connection, None)
        if request := self._lined_up.pop(connection, None):
            self.release(connection, request.size)
        self.unstall(connection)

    def wait(self, connection: C) -> None:
        """Note that the connection waits for its next request."""
        self._waiting[connection] = None

    def begin(self, connection: C, request: HttpRequest) -> None:
        """Have a request answered."""
        self._waiting.pop(connection, None)
        self._lined_up[connection] = request
        self._hand_out()

    def end(self) -> None:
        """Note that a request was answered."""
        self._idle_threads += 1
        self._hand_out()

    def _hand_out(self) -> None:
        while self._lined_up and self._idle_threads:
            connection = next(iter(self._lined_up))
            self._idle_threads -= 1
            self._begin(connection, self._lined_up.pop(connection))

    def hold(self, connection: C, amount: int, size: int) -> None:
        """Count in more of a body, which has ``size`` bytes by now.

        Beyond the bound only the earliest of the large bodies is read on, so that one after the other is complete.
        """
        self._held += amount
        if size > SMALL_BODY:
            self._large[connection] = None
            if self._held > MOST_BODIES and next(iter(self._large)) is not connection:
                connection.transport.pause_reading()

    def has_all(self, connection: C) -> None:
        """Note that the body is complete."""
        self.release(connection, 0)

    def release(self, connection: C, amount: int) -> None:
        """Count out bytes of bodies, and go on with bodies that waited for it."""
        self._held -= amount
        self._large.pop(connection, None)
        for each in list(self._large):
            each.transport.resume_reading()
            if self._held > MOST_BODIES:
                break

    def stall(self, connection: C, amount: int) -> None:
        """Count in an answer that its client does not take at once."""
        self._unsent[connection] = amount
        while sum(self._unsent.values()) > MOST_UNSENT:
            next(iter(self._unsent)).abort()
            self.unstall(next(iter(self._unsent)))

    def unstall(self, connection: C) -> None:
        """Count it out."""
        self._unsent.pop(connection, None)
