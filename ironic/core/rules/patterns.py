"""Regular expressions with a limited matching time.

RE2 matches every expression in time linear in the text and in the size of the compiled expression, and lets other
threads run meanwhile. Both sizes and their product are limited. RE2 has no back-references and no look-around; a rule
with them is refused when it is posted.
"""

import functools
import re
from typing import Final

import re2

from ironic.core.rules.limits import VERDICT, TooMuchWork

_MEMORY: Final = 1024 * 1024  # bytes for one compiled expression
_LONGEST: Final = 4096  # characters
_LARGEST: Final = 16_384  # instructions of one compiled expression
# Compiling a Unicode class takes a quarter of a millisecond.
_MOST_CLASSES: Final = 64
_CLASS: Final = re.compile(r"\\[pP]")
_STEPS_PER_CLASS: Final = 250
_STEPS_PER_CHARACTER: Final = 4

# The instructions that one byte passes in a step (a microsecond) at worst. An expression with few instructions has so
# few states that RE2 caches all of them, so each byte is a single transition.
_INSTRUCTIONS_PER_STEP: Final = 100
_FEW: Final = 10


class BadPattern(ValueError):
    """Text that is no regular expression of the supported kind."""


class Pattern:
    """A compiled regular expression."""

    __slots__ = ("_expression", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > _LONGEST:
            raise BadPattern(f"a regular expression is longer than {_LONGEST} characters")
        if len(_CLASS.findall(text)) > _MOST_CLASSES:
            raise BadPattern(f"a regular expression has more than {_MOST_CLASSES} Unicode classes")
        try:
            self._expression = re2.compile(text, _options())
        except (re2.error, UnicodeError) as error:
            detail = error.args[0] if error.args else error
            reason = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
            raise BadPattern(f"not a regular expression of the supported kind (RE2): {reason}") from None
        if self._expression.programsize > _LARGEST:
            raise BadPattern("the regular expression is too large: use smaller repetitions and classes")

    def __str__(self) -> str:
        return self.text

    def steps(self, length: int) -> int:
        """Return the largest number of steps for a text of ``length`` bytes."""
        size: int = self._expression.programsize
        return length * (1 if size <= _FEW else size) // _INSTRUCTIONS_PER_STEP

    def found_in(self, text: str) -> bool:
        """Return whether it matches somewhere in the text."""
        return self._expression.search(self._bounded(text)) is not None

    def covers(self, text: str) -> bool:
        """Return whether it matches the whole text."""
        return self._expression.fullmatch(self._bounded(text)) is not None

    def _bounded(self, text: str) -> bytes:
        # Lone surrogates can't be encoded, so they are replaced.
        encoded = text.encode("utf-8", "replace")
        if self.steps(len(encoded)) > VERDICT:
            raise TooMuchWork(
                f"a text of {len(encoded)} bytes and this regular expression would need more than the {VERDICT} steps "
                "that one comparison may take: match a part of the text, or use a smaller expression"
            )
        return encoded


@functools.lru_cache(maxsize=64)
def compiled(text: str) -> Pattern:
    """Return the compiled expression, or raise BadPattern."""
    return Pattern(text)


def steps_to_compile(text: str) -> int:
    """Return the largest number of steps for compiling an expression."""
    if len(text) > _LONGEST:
        return 0
    return len(text) * _STEPS_PER_CHARACTER + len(_CLASS.findall(text)) * _STEPS_PER_CLASS


def literal(text: str) -> str:
    """Return an expression that matches this text and nothing else."""
    return re.escape(text)


@functools.cache
def _options() -> object:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    options.never_capture = True
    return options
