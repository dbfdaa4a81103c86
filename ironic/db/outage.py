"""A database server that is away for a while: waited for a moment, told once, told again when it is back.

Connecting is tried again here: nothing has been sent then, so nothing can happen twice. What was under way when the
server went is the transactions' matter.
"""

import logging
import time
from typing import Final

from oslo_db.exception import DBConnectionError
from sqlalchemy.engine import Connection, Engine

from ironic.core.errors import TemporaryFailure
from ironic.core.permit import PERMIT

LOG = logging.getLogger(__name__)

_LOOK_SECONDS: Final = 0.5


class DatabaseUnreachable(TemporaryFailure):
    """There is no connection to the database."""

    text = "The database can't be reached at the moment, please retry."


class ConnectionCut(DatabaseUnreachable):
    """The connection was lost while something was under way; what was not committed is undone."""


class Outage:
    """Knows whether the server is away at the moment."""

    def __init__(self) -> None:
        self._since: float | None = None

    def noticed(self, reason: Exception) -> None:
        """Take note that the server does not answer."""
        if self._since is None:
            self._since = time.monotonic()
            LOG.error(
                "The database can't be reached; whatever needs it waits or is refused until it is back: %s", reason
            )

    def over(self) -> None:
        """Take note that the server has answered."""
        since, self._since = self._since, None
        if since is not None:
            LOG.info("The database is back after %.1f seconds", time.monotonic() - since)

    def connect(self, engine: Engine, patience: float) -> Connection:
        """Return a connection, waiting that many seconds for the server."""
        until = time.monotonic() + patience
        while True:
            try:
                connection = engine.connect()
            except DBConnectionError as reason:
                self.noticed(reason)
                if time.monotonic() >= until:
                    raise
                with PERMIT.waiting():
                    time.sleep(_LOOK_SECONDS)
            else:
                if self._since is not None:
                    self.over()
                return connection
