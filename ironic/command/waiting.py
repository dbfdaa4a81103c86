"""Waiting for what a service can't do without: the database when it starts, the message broker when it takes calls.

Services are started in any order, and servers come back when they do. What is waited for is said at once, then every
few seconds, never more often; a signal ends the wait.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from oslo_config import cfg
from oslo_db import exception as db_errors
from sqlalchemy.engine import Engine

from ironic.command.lifecycle import ToldToEnd
from ironic.command.signals import Pause

LOG = logging.getLogger(__name__)

# How often it is looked, and how often that is said.
_LOOK_SECONDS: Final = 1.0
_SAY_SECONDS: Final = 10.0

FOR_EVER: Final = float("inf")


def until(here: Callable[[], Exception | None], what: str, pause: Pause, *, patience: float = FOR_EVER) -> None:
    """Wait until ``here`` returns None; after that many seconds raise what it returns instead."""
    began = time.monotonic()
    said: float | None = None
    while (reason := here()) is not None:
        now = time.monotonic()
        if now - began >= patience:
            raise reason
        if said is None or now - said >= _SAY_SECONDS:
            LOG.warning("Waiting for %s (%.0f seconds so far): %s", what, now - began, reason)
            said = now
        if pause(_LOOK_SECONDS):
            raise ToldToEnd
    if said is not None:
        LOG.info("After %.1f seconds there is %s", time.monotonic() - began, what)


def for_database(engine: Engine, conf: cfg.ConfigOpts, pause: Pause) -> None:
    """Wait for the database as long as [database]max_retries and retry_interval say."""

    def here() -> Exception | None:
        try:
            engine.connect().close()
        except db_errors.DBConnectionError as reason:
            return ConnectionError(str(reason).partition("\n")[0])  # what follows is a link to a library's pages
        return None

    retries = conf.database.max_retries
    patience = FOR_EVER if retries < 0 else retries * conf.database.retry_interval
    until(here, f"the database at {_shown(engine)}", pause, patience=patience)


def for_broker(is_open: Callable[[float], bool], address: str, pause: Pause) -> None:
    """Wait for the message broker, however long it takes."""

    def here() -> Exception | None:
        # The library needs a moment even where the broker is there.
        return None if is_open(_LOOK_SECONDS) else ConnectionError("it does not answer, or refuses the login")

    until(here, f"the message broker at {address}", pause)


def _shown(engine: Engine) -> str:
    """Return where a database is, for log lines: without user and password."""
    url = engine.url
    return f"{url.get_backend_name()}://{url.host or ''}{f':{url.port}' if url.port else ''}/{url.database or ''}"
