"""What a program makes when it starts stays to its end, so nobody need look for garbage in it.

A full collection walks all that was imported and wired: a hundred thousand objects, a tenth of a second in which every
request waits, several times during the start and then whenever enough was made anew.
"""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# mallopt(3) of the GNU C library: blocks of so many bytes go back to the system once they are free. Left alone, the
# library raises the bound to the largest block that was ever freed, and large bodies leave holes in the heap behind.
_M_MMAP_THRESHOLD: Final = -3
_LARGE_BLOCK: Final = 1024 * 1024


@contextmanager
def lasting() -> Iterator[None]:
    """Collect no garbage within, and never again look at what was made by its end."""
    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
