"""What a program makes when it starts stays to its end, so nobody need look for garbage in it.

A full collection walks all that was imported and wired: a hundred thousand objects, a tenth of a second in which every
request waits, several times during the start and then whenever enough was made anew.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def lasting() -> Iterator[None]:
    """Collect no garbage within, and never again look at what was made by its end."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
