"""The parts of a service process: database, message bus, conductor, API server.

Each comes up and goes down by itself and knows nothing of the others; `ironic.command.wiring` makes them from the
options and `ironic.command.lifecycle` runs them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from oslo_db import exception as db_errors

from ironic.command.serving import ApiServer, Application, Listening
from ironic.conductor.service import Conductor
from ironic.core.errors import IronicError
from ironic.db import Store

if TYPE_CHECKING:
    from ironic.rpc.message_bus import MessageBus

Close = Callable[[], None]


class SchemaMissing(IronicError):
    """The database was never set up."""

    text = "The database has no tables yet. Run `ironic-dbsync upgrade` with the same configuration, then start again."


class Database:
    """The store; other parts hold it, this one looks at it first and closes it last."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def start(self) -> None:
        """Make sure that there is something to work with."""
        try:
            self._store.conductors.alive(0)
        except db_errors.DBNonExistentTable as fault:
            raise SchemaMissing() from fault

    def stop(self) -> None:
        """Close every connection."""
        self._store.close()

    def reload(self) -> None:
        """Nothing here can change while it runs."""


class Bus:
    """The connection to the message bus; only there when conductors are asked over one."""

    def __init__(self, bus: "MessageBus") -> None:
        self._bus = bus

    def start(self) -> None:
        """Connections are made when they are needed."""

    def stop(self) -> None:
        """Leave the bus."""
        self._bus.close()

    def reload(self) -> None:
        """Nothing here can change while it runs."""


class ConductorPart:
    """A conductor and the ear through which it is asked."""

    def __init__(self, conductor: Conductor, listen: Callable[[], Close]) -> None:
        """Put both together; ``listen`` begins to take calls and returns what ends that."""
        self._conductor, self._listen = conductor, listen
        self._close: Close | None = None

    def start(self) -> None:
        """Start the conductor, then take calls: its start frees locks of an earlier life, which no call may meet."""
        self._conductor.start()
        try:
            self._close = self._listen()
        except BaseException:
            self._conductor.stop()
            raise

    def stop(self) -> None:
        """Take no more calls, then let the work end."""
        if self._close:
            self._close()
        self._conductor.stop()

    def reload(self) -> None:
        """The conductor reads options when it needs them."""


class Api:
    """The API behind its server."""

    def __init__(self, build: Callable[[], Application], listening: Listening) -> None:
        """Take what makes the application, because new options make a new one."""
        self._build = build
        self._server = ApiServer(build(), listening)

    @property
    def url(self) -> str:
        """Where it listens, once started."""
        return self._server.url

    def start(self) -> None:
        """Listen."""
        self._server.start()

    def stop(self) -> None:
        """Finish running requests and close."""
        self._server.stop()

    def reload(self) -> None:
        """Serve later requests by the new options."""
        self._server.replace(self._build())
