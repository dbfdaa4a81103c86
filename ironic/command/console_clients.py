"""The clients of the console proxy: how many there may be, and which one is disconnected if there are too many.

A client with a session stays. Of the others the earliest of the address that has the most is disconnected (`victims`),
so that idle connections keep no one out.
"""

import logging
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from websockets.asyncio.server import ServerConnection

from ironic.api.rate_limit import bucket_of
from ironic.command.tls_listener import TlsListener
from ironic.command.victims import victim
from ironic.core.memory.console_tokens import ConsoleAccess

LOG = logging.getLogger(__name__)

MOST_CONNECTIONS: Final = 500
# Sessions at one console: a token that is passed on must not keep others from theirs.
MOST_VIEWERS: Final = 20
# Pages that are being sent.
MOST_PAGES: Final = 100
# Seconds between two equal warnings.
_QUIET_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Grant:
    """A session that a token opens: the node, its VNC server, and the seconds until the token expires."""

    uuid: str
    access: ConsoleAccess
    seconds: float


class Clients:
    """The clients of one proxy; all methods run in its event loop."""

    def __init__(self, listener: TlsListener | None) -> None:
        self._listener = listener
        # The earliest first.
        self._all: dict[Client, None] = {}
        self._warned_at: dict[str, float] = {}
        self._suppressed = Counter[str]()

    def add(self, client: "Client") -> None:
        """Register a client; if there are too many, disconnect one without a session."""
        if self._listener:
            self._listener.handshake_ended(client.transport.get_extra_info("socket").fileno())
        self._all[client] = None
        if len(self._all) > MOST_CONNECTIONS:
            self.warn("The proxy has %d connections; the earliest ones without a session are closed", MOST_CONNECTIONS)
            self._disconnect(self._victim(client, [each for each in self._all if each.grant is None]))

    def remove(self, client: "Client") -> None:
        """Forget a client."""
        client.is_disconnected = True
        self._all.pop(client, None)

    def begin_page(self, client: "Client") -> None:
        """Note that a client is sent a page; if there are too many, disconnect one, which may read slowly."""
        client.is_sent_page = True
        served = [each for each in self._all if each.is_sent_page]
        if len(served) > MOST_PAGES:
            self._disconnect(self._victim(client, served))

    def has_room_at(self, uuid: str) -> bool:
        """Return whether the console of a node may have one more viewer."""
        return sum(each.grant is not None and each.grant.uuid == uuid for each in self._all) < MOST_VIEWERS

    def warn(self, text: str, *values: object) -> None:
        """Log a warning about a client, at most one with the same text in some seconds."""
        now = time.monotonic()
        if now - self._warned_at.get(text, -_QUIET_SECONDS) < _QUIET_SECONDS:
            self._suppressed[text] += 1
            return
        self._warned_at[text] = now
        suppressed = self._suppressed.pop(text, 0)
        LOG.warning(text + (" (%d more before)" if suppressed else ""), *values, *([suppressed] if suppressed else []))

    @staticmethod
    def _victim(newcomer: "Client", among: list["Client"]) -> "Client":
        others = [each for each in among if each is not newcomer]
        return victim(newcomer, others, lambda each: each.bucket)

    def _disconnect(self, client: "Client") -> None:
        self.remove(client)
        client.transport.abort()


class Client(ServerConnection):
    """A client: what its token has opened, or whether it is sent a page."""

    def __init__(self, clients: Clients, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._clients = clients
        self.grant: Grant | None = None
        self.is_sent_page = self.is_disconnected = False
        self.bucket = ""

    @property
    def address(self) -> str:
        """The address that it comes from."""
        return str(self.remote_address[0]) if self.remote_address else "an unknown address"

    def connection_made(self, transport: Any) -> None:
        """Register the client."""
        super().connection_made(transport)
        self.bucket = bucket_of(self.address)
        self._clients.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client, and its page at once: frames and exceptions refer to one another."""
        self._clients.remove(self)
        super().connection_lost(exc)
        self.response = None
