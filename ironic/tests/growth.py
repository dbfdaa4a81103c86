"""Whether the time that a text takes grows faster than the text: hostile texts are doubled and doubled again."""

import time
from collections.abc import Callable
from typing import Any, Final

# What takes less for the first text is not looked at closer; what takes as long for so short a text grows too fast.
_SECONDS: Final = 0.00015
_SHORT, _LONG_FOR_SHORT = 20, 0.005
_SIZE: Final = 1000
_LARGEST: Final = 60_000
# The factor for each doubling.
_MOST: Final = 2.5


def grows_too_fast(use: Callable[[Any], object], make: Callable[[int], Any], least: float = _SECONDS) -> bool:
    """Return whether the time of ``use`` grows faster than its text, which ``make`` makes of a size.

    Texts are made longer until they take ``least`` seconds.
    """
    if _seconds(use, make(_SHORT)) > _LONG_FOR_SHORT:
        return True
    size = _SIZE
    while _seconds(use, make(size)) < least:
        if least == _SECONDS or size > _LARGEST:
            return False
        size *= 2
    # Doubled twice: what grows by the square takes 16 times as long, which a busy machine does not hide.
    return not any(_seconds(use, make(4 * size)) < _MOST * _MOST * _seconds(use, make(size)) for _ in range(5))


def _seconds(use: Callable[[Any], object], text: Any) -> float:
    """Return the CPU time of this thread, the least of some runs where it takes long enough to matter."""
    taken = []
    for _ in range(3):
        begin = time.thread_time()
        use(text)
        taken.append(time.thread_time() - begin)
        if taken[0] < _SECONDS:
            break
    return min(taken)
