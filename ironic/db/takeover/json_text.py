"""JSON text of the reference in the form in which this service stores it.

The reference writes with Python's json: escapes, NaN and Infinity, integers of any size, halves of surrogate pairs.
This service copies stored text into answers, so it has to be JSON that every reader takes.
"""

import json
import math
import re
from typing import Any, Final

import orjson

_LEAST, _MOST = -(2**63), 2**64 - 1
# What orjson reads as a float that has lost digits, or as infinite.
_UNUSUAL: Final = re.compile(r"\d{19}|\d[eE]\+?\d{3}")

_TOO_DEEP: Final = "is JSON with more levels, one in the other, than can be stored"


class NoJson(ValueError):
    """The text is no JSON, or none that can be stored; its text says which, to be put behind the name of a column."""


def recoded(text: str) -> tuple[Any, str, bool, bool]:
    """Return value and text, and whether numbers or characters were replaced; raises NoJson."""
    if not _UNUSUAL.search(text):
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            pass
        else:
            return value, _encoded(value), False, False
    replaced = _Replacing()
    try:
        value = replaced.of(json.loads(text))
    except RecursionError:
        raise NoJson(_TOO_DEEP) from None
    except ValueError:
        raise NoJson("is no JSON") from None
    return value, _encoded(value), replaced.numbers, replaced.text


def _encoded(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        # Of what was read from JSON nothing else is refused: orjson writes fewer levels than it reads.
        raise NoJson(_TOO_DEEP) from None


class _Replacing:
    def __init__(self) -> None:
        self.numbers = self.text = False

    def of(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self.of(key): self.of(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.of(item) for item in value]
        if isinstance(value, str):
            whole = value.encode(errors="replace").decode()
            self.text |= whole != value
            return whole
        if isinstance(value, float) and not math.isfinite(value):
            self.numbers = True
            return None
        if isinstance(value, int) and not _LEAST <= value <= _MOST:
            self.numbers = True
            return str(value)
        return value
