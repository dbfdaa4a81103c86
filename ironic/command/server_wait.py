"""Wait for the database and the message broker until they accept connections.

Services start in any order, and servers restart. The first failure is logged at once, later ones every few seconds; a
signal ends the wait.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from oslo_config import cfg
from oslo_db import exception as db_errors
from sqlalchemy.engine import Engine

from ironic.command.lifecycle import Pause, StopRequested
from ironic.db import engines

LOG = logging.getLogger(__name__)

_RETRY_SECONDS: Final = 1.0
_LOG_SECONDS: Final = 10.0

FOR_EVER: Final = float("inf")


def until(check: Callable[[], Exception | None], what: str, pause: Pause, *, timeout: float = FOR_EVER) -> None:
    """Wait until ``check`` returns None; after ``timeout`` seconds raise what it returns.

    ``what`` names the server in log messages. Raises StopRequested when ``pause`` reports that the process shall end.
    """
    began = time.monotonic()
    logged: float | None = None
    while (reason := check()) is not None:
        now = time.monotonic()
        if now - began >= timeout:
            raise reason
        if logged is None or now - logged >= _LOG_SECONDS:
            LOG.warning("Waiting for %s (%.0f seconds so far): %s", what, now - began, reason)
            logged = now
        if pause(_RETRY_SECONDS):
            raise StopRequested
    if logged is not None:
        LOG.info("Connected to %s after %.1f seconds", what, time.monotonic() - began)


def for_database(engine: Engine, conf: cfg.ConfigOpts, pause: Pause) -> None:
    """Wait for the database, for max_retries times retry_interval of [database]; then raise ConnectionError."""

    def check() -> Exception | None:
        try:
            engine.connect().close()
        except db_errors.DBConnectionError as reason:
            return ConnectionError(str(reason).partition("\n")[0])  # the rest is a link to the library's documentation
        return None

    retries = conf.database.max_retries
    timeout = FOR_EVER if retries < 0 else retries * conf.database.retry_interval
    until(check, f"the database at {engines.shown(engine.url)}", pause, timeout=timeout)


def for_broker(is_open: Callable[[float], bool], address: str, pause: Pause) -> None:
    """Wait for the message broker without a limit."""

    def check() -> Exception | None:
        # The library needs a moment even if the broker is up.
        return None if is_open(_RETRY_SECONDS) else ConnectionError("it does not answer, or refuses the login")

    until(check, f"the message broker at {address}", pause)
