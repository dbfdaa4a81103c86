"""Whether a BMC has stored a change that it has accepted: some accept everything, others show it a little later."""

from collections.abc import Callable
from typing import Final

from ironic.core.clock import CLOCK

_SECONDS: Final = 5.0
_SECONDS_BETWEEN_LOOKS: Final = 1.0


def is_stored_soon(is_shown: Callable[[], bool]) -> bool:
    """Return whether ``is_shown``, which reads the resource anew, becomes true within a few seconds."""
    return CLOCK.until(is_shown, timeout=_SECONDS, interval=_SECONDS_BETWEEN_LOOKS)
