"""Reading a request body within limits.

Size is checked before a byte is read, nesting right after the parser (which has a limit of its own), so neither costs
more than the limits allow. What is not JSON is a 400; numbers that are none (NaN) and broken text count as not JSON.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from ironic.api.errors import Raw
from ironic.core.errors import Invalid

# The parser has a limit of its own and says so in words only; a test holds them.
_TOO_DEEP: Final = re.compile("depth|recursion", re.IGNORECASE)

# Most bodies have none of these, so that two searches are all they cost, about a microsecond for each kilobyte.
_ZERO: Final = rb"\u0000"
_LONG: Final = b"0" * 19
_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_MOST_DIGITS: Final = 20
_CUT_OFF: Final = "The request body could not be read to its end."
_UNTYPED: Final = "A request body needs a Content-Type header: application/json."
_SMALLEST: Final = -(2**63)
_TOO_LARGE: Final = 2**64


def read(environ: Mapping[str, Any], max_bytes: int) -> bytes:
    """Return the body's bytes, or refuse it with 413."""
    stream = environ.get("wsgi.input")
    length = _length(environ)
    if stream is None or length == 0:
        return b""
    if length is not None:
        found = _whole(stream, length) if length <= max_bytes else _too_large(max_bytes)
    elif "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
        found = _received(stream, max_bytes + 1)
    else:
        return b""
    if len(found) > max_bytes:
        _too_large(max_bytes)
    # What the type says does not matter; without any, clients count on a refusal and nobody on losing the body.
    if found and not environ.get("CONTENT_TYPE"):
        raise Invalid(_UNTYPED)
    return found


def _whole(stream: Any, length: int) -> bytes:
    if len(found := _received(stream, length)) < length:
        raise Invalid(_CUT_OFF)
    return found


def _received(stream: Any, size: int) -> bytes:
    try:
        return bytes(stream.read(size))
    except (ValueError, OverflowError, OSError):
        # Servers say by these that chunks are malformed or too large, or that the client stopped in the middle.
        raise Invalid(_CUT_OFF) from None


def _length(environ: Mapping[str, Any]) -> int | None:
    if not (given := environ.get("CONTENT_LENGTH")):
        return None
    if not (given.isascii() and given.isdigit()):
        raise Invalid("The Content-Length header has to be a number.")
    return int(given[:_MOST_DIGITS])


def _too_large(max_bytes: int) -> bytes:
    raise Raw(413, f"The request body is larger than the {max_bytes} bytes that are allowed here.")


def parse(raw: bytes, max_depth: int) -> Any:
    """Parse a body; an empty one counts as an empty object."""
    if not raw.strip():
        return {}
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if _TOO_DEEP.search(error.msg):
            raise _refuse_depth(max_depth) from None
        # The parser's message quotes nothing of the body, only where it stopped.
        raise Invalid(f"The request body is no valid JSON (line {error.lineno}, column {error.colno}).") from None
    if raw.count(b"[") + raw.count(b"{") > max_depth and is_deeper(document, max_depth):
        raise _refuse_depth(max_depth)
    return document


def check_storable(raw: bytes, document: Any) -> None:
    """Refuse what not every database and client can hold: numbers beyond 64 bits, the character with code 0.

    The parser turns longer numbers into inexact ones, so they have to be looked for in the text itself.
    """
    if _ZERO in raw or _LONG in raw.translate(_DIGITS):
        json.loads(raw, parse_int=_integer)
        if any("\0" in text for text in _texts(document)):
            raise Invalid("The request body must not contain the character with code 0.")


def _integer(digits: str) -> int:
    value = int(digits) if len(digits) <= _MOST_DIGITS else _TOO_LARGE
    if not _SMALLEST <= value < _TOO_LARGE:
        raise Invalid("The request body has a number that does not fit into 64 bits.")
    return value


def _texts(document: Any) -> Iterator[str]:
    left = [document]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, list):
            left += one


def _refuse_depth(max_depth: int) -> Raw:
    return Raw(400, f"The request body is nested deeper than the {max_depth} levels that are allowed.")


def is_deeper(document: Any, levels: int) -> bool:
    """Tell whether objects and lists are nested in more than this many levels."""
    layer = [document] if isinstance(document, (dict, list)) else []
    while layer and levels:
        layer = [
            inner
            for outer in layer
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        levels -= 1
    return bool(layer)
