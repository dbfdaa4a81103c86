"""How much memory large request bodies, and what is made of them, may take at once in this process.

A body's share is set aside before it is read, by the most that its length can come to; once its bytes are known the
share shrinks to what they say. It never grows, so two bodies can't wait for each other. What can't be had soon is
refused, because the thread that waits serves nobody else.
"""

import threading
from typing import Final

from ironic.api.errors import Raw

# Bodies of up to so many bytes need no share: a thread has one at a time, and it comes to a few MiB at most.
SMALL: Final = 64 * 1024

# What a value takes, at most, that is no long text: an object of one key has 232 bytes and two or three signs in JSON.
_BYTES_PER_SIGN: Final = 120

# The bytes themselves, and once more as the server or the parser puts them together.
_OF_BYTES: Final = 2

# Text with one letter beyond Latin takes four bytes for each letter.
_WIDEST: Final = 4

# Seconds; and how many may wait at once, so that most threads of the server stay free.
_PATIENCE: Final = 2.0
_MOST_WAITING: Final = 4
_RETRY_AFTER: Final = [("Retry-After", "5")]


def most_of(length: int, most_signs: int) -> int:
    """Return the most memory, in bytes, that a body of this length can take."""
    return length * (_OF_BYTES + _WIDEST) + min(length, most_signs) * _BYTES_PER_SIGN


def taken_by(raw: bytes, signs: int) -> int:
    """Return the memory that a body takes with its text and values, and a copy of both for a conductor."""
    letters = len(raw) * (1 if raw.isascii() and b"\\u" not in raw else _WIDEST)
    return len(raw) * _OF_BYTES + 2 * (letters + signs * _BYTES_PER_SIGN)


class BodyMemory:
    """A number of bytes that several threads share."""

    def __init__(self, most: int, patience: float = _PATIENCE) -> None:
        self._most, self._patience = most, patience
        self._left, self._waiting = most, 0
        self._freed = threading.Condition()

    def take(self, size: int) -> int:
        """Set bytes aside and return how many; what is larger than all there is gets all. Raises a 503."""
        size = min(size, self._most)
        with self._freed:
            if self._left < size and not self._comes_free(size):
                text = "Too many large requests are being worked on, please retry after a moment."
                raise Raw(503, text, _RETRY_AFTER)
            self._left -= size
        return size

    def _comes_free(self, size: int) -> bool:
        if self._waiting >= _MOST_WAITING:
            return False
        self._waiting += 1
        try:
            return self._freed.wait_for(lambda: self._left >= size, self._patience)
        finally:
            self._waiting -= 1

    def shrink(self, taken: int, size: int) -> int:
        """Give back what is not needed of a share; return what is left of it."""
        if size >= taken:
            return taken
        self.give_back(taken - size)
        return size

    def give_back(self, size: int) -> None:
        """Let others have these bytes."""
        with self._freed:
            self._left += size
            self._freed.notify_all()
