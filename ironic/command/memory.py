"""Memory that a crowd of clients leaves behind.

What was freed stays with the process: the C library keeps it between what is still in use. Where it can (glibc), it
gives it back to the system when asked, which takes some milliseconds.
"""

import ctypes
import gc

# So many clients are a crowd.
CROWD = 100


def give_back() -> None:
    """Collect garbage, and give free memory back to the system where that is possible."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class AfterCrowds:
    """Gives memory back once most of many clients have gone."""

    def __init__(self) -> None:
        self._most = 0

    def note(self, present: int) -> None:
        """Take the present number of clients."""
        self._most = max(self._most, present)
        if self._most >= CROWD and present * 10 <= self._most:
            self._most = present
            give_back()
