"""What drivers hold open at machines between two operations, to be closed when the service ends."""

import logging
from collections.abc import Callable
from typing import Final

LOG = logging.getLogger(__name__)

# Seconds for all of them; a dead machine must not delay the end of the service.
_SECONDS: Final = 10.0

_closers: list[Callable[[float], None]] = []


def at_end(close: Callable[[float], None]) -> None:
    """Have a function called at the end of the service, with the seconds that it may take."""
    _closers.append(close)


def close_all() -> None:
    """Close all that is open; what fails is logged."""
    for close in _closers:
        try:
            close(_SECONDS)
        except Exception:
            LOG.exception("What a driver holds open at machines could not be closed")
