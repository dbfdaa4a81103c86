"""Regular expressions whose work grows with the text and never faster.

RE2 matches in time linear in the text, whatever the expression, so neither a rule nor what a machine reports can keep
a conductor busy. The price: no back-references and no look-around; a rule that has them is refused when posted.
"""

import functools
from typing import Any, Final

import re2  # type: ignore[import-untyped]

_MEMORY: Final = 4 * 1024 * 1024  # bytes for one compiled expression
_LONGEST: Final = 4096  # characters


class BadPattern(ValueError):
    """Text that is no regular expression of the supported kind."""


class Pattern:
    """A compiled regular expression."""

    __slots__ = ("_expression", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._expression = re2.compile(text, _options())
        except (re2.error, UnicodeError) as error:
            raise BadPattern(f"no regular expression of the supported kind (RE2): {_reason(error)}") from None

    def __str__(self) -> str:
        return self.text

    def found_in(self, text: str) -> bool:
        """Tell whether it matches somewhere in the text."""
        return self._expression.search(_encodable(text)) is not None

    def covers(self, text: str) -> bool:
        """Tell whether it matches the whole text."""
        return self._expression.fullmatch(_encodable(text)) is not None


@functools.lru_cache(maxsize=1024)
def compiled(text: str) -> Pattern:
    """Return the expression made ready, or raise BadPattern."""
    if len(text) > _LONGEST:
        raise BadPattern(f"a regular expression is longer than {_LONGEST} characters")
    return Pattern(text)


@functools.cache
def _options() -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    return options


def _encodable(text: str) -> str:
    """Return the text without lone surrogates, which no encoding can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _reason(error: Exception) -> str:
    detail = error.args[0] if error.args else error
    return detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
