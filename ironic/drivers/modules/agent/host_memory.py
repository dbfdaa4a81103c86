"""Memory of this host: a conversion of an image begins only while enough of it is available.

Otherwise the system may end the conductor, and with it the work on all its nodes.
"""

import logging
import re
from pathlib import Path
from typing import Final

from ironic.conf import CONF
from ironic.core.clock import CLOCK
from ironic.core.errors.hardware_errors import InsufficientMemory

LOG = logging.getLogger(__name__)

_FACTS: Final = Path("/proc/meminfo")
_AVAILABLE: Final = re.compile(r"^MemAvailable: +([0-9]+) kB$", re.MULTILINE)


def await_enough() -> None:
    """Return once [DEFAULT]minimum_required_memory is available; InsufficientMemory if it is not in time."""
    looks = CONF.minimum_memory_wait_retries
    while (free := _available()) is not None and free < (required := CONF.minimum_required_memory):
        if CONF.minimum_memory_warning_only:
            LOG.warning("An image is converted with %d MiB of memory available; %d are asked for", free, required)
            return
        if looks <= 0 or not CLOCK.sleep(CONF.minimum_memory_wait_time):
            raise InsufficientMemory(free=free, required=required)
        LOG.warning("The conversion of an image waits for memory: %d MiB are available, %d needed", free, required)
        looks -= 1


def _available() -> int | None:
    """Return the MiB that programs may take; None where the system does not say it."""
    try:
        found = _AVAILABLE.search(_FACTS.read_text())
    except OSError:
        return None
    return int(found[1]) // 1024 if found else None
