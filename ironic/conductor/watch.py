"""The end of work that does not end: a look at what runs and at what is held, from a thread that never waits for any.

Every wait of ours has its own end. A driver may have one without, and then neither a worker nor a node may be gone for
ever. The look can't be a periodic job: those need a worker themselves.
"""

import logging
import threading
from collections.abc import Callable
from typing import Final

from ironic.conf import CONF

LOG = logging.getLogger(__name__)

_LONGEST_PAUSE: Final = 60.0
# How often in the time that work has somebody looks.
_LOOKS: Final = 10


class Watch:
    """Calls ``look(limit)`` from time to time, while [conductor]work_deadline sets a limit."""

    def __init__(self, look: Callable[[int], None]) -> None:
        self._look = look
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="conductor-watch", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; nothing is looked at after this has returned."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(_pause()):
            self._once()

    def _once(self) -> None:
        limit = CONF.conductor.work_deadline
        try:
            if limit:
                self._look(limit)
        except Exception:
            LOG.exception("Work that does not end could not be given up; trying again in %s seconds", _pause())


def _pause() -> float:
    return min(_LONGEST_PAUSE, (CONF.conductor.work_deadline or _LONGEST_PAUSE * _LOOKS) / _LOOKS)
