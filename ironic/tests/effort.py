"""How much a test tries that draws its input: a part in every run, and all of it with IRONIC_FUZZ=1 (`make fuzz`)."""

import os
from typing import Final

IS_FULL: Final = "IRONIC_FUZZ" in os.environ
_SHARE: Final = 4


def examples(number: int) -> int:
    """Return how many examples this run draws of so many."""
    return number if IS_FULL else max(number // _SHARE, min(number, 15))
