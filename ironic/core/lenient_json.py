"""JSON as machines write it: read what can be read.

Raw control characters, bytes that are no UTF-8, byte order marks, NaN and numbers without end are all found in answers
of real BMCs; ramdisks pass on what they read from devices. Each takes away its own value at most. Texts that come out
of here can be stored and sent on: halves of characters and NULs are replaced.
"""

import json
import math
from typing import Any, Final

_REPLACEMENT: Final = "\ufffd"
# A number with more digits means nothing, and converting it takes long.
_MOST_DIGITS: Final = 40


def parse(content: bytes, *, takes_nan: bool = True) -> Any:
    """Return the document; raise ValueError for what has not the structure of JSON, or is nested too deeply.

    NaN and Infinity, which are no JSON, are null, or refused as well.
    """
    text = content.decode(json.detect_encoding(content), errors="replace")
    decoder = json.JSONDecoder(
        strict=False,
        parse_int=_whole,
        parse_float=_number,
        parse_constant=(lambda _name: None) if takes_nan else _refuse,
    )
    try:
        return storable(decoder.decode(text.rstrip("\0")))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def storable(value: Any) -> Any:
    """Return a value with texts that databases and other services take."""
    if isinstance(value, str):
        return value if value.isascii() and "\0" not in value else _storable_text(value)
    if isinstance(value, list):
        return [storable(item) for item in value]
    if isinstance(value, dict):
        return {storable(name): storable(item) for name, item in value.items()}
    return value


def _storable_text(text: str) -> str:
    # JSON escapes characters beyond the first plane as two halves, which have been joined by now.
    return text.encode("utf-8", errors="surrogatepass").decode("utf-8", errors="replace").replace("\0", _REPLACEMENT)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no value of JSON")


def _whole(digits: str) -> int | None:
    return int(digits) if len(digits) <= _MOST_DIGITS else None


def _number(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None
