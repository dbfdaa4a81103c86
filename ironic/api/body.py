"""Reading a request body within limits.

Size is checked before a byte is read, the number of values before the parser makes objects of them (an empty one takes
three bytes in JSON and sixty in memory), nesting right after it. What is not JSON is a 400; numbers that are none (NaN)
and broken text count as not JSON, as does what is compressed.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

from ironic.api.errors import Raw
from ironic.core.errors import Invalid

# The parser has a limit of its own and says so in words only; a test holds them.
_TOO_DEEP: Final = re.compile("depth|recursion", re.IGNORECASE)

# What stands before or after a value; each value but the first has one of its own.
_SIGNS: Final = (b",", b":", b"[", b"{")

# Most bodies have none of these, so that two searches are all they cost, about a microsecond for each kilobyte.
_ZERO: Final = rb"\u0000"
_ZERO_ITSELF: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_LONG: Final = b"0" * 19
_SLICE: Final = 65536
_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_MOST_DIGITS: Final = 20
# In a text that is JSON: a string, or a number with its fraction and exponent apart.
_STRING_OR_NUMBER: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|(-?[0-9]++)([.eE][0-9.eE+-]*+)?', re.DOTALL)
_CUT_OFF: Final = "The request body could not be read to its end."
_UNTYPED: Final = "A request body needs a Content-Type header: application/json."
_FORMS: Final = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
_TEXT: Final = "text/plain"
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
    if found:
        _check_type(environ)
    return found


def _check_type(environ: Mapping[str, Any]) -> None:
    """Refuse a body without a type, and those types that a web page may send to other sites without asking them."""
    kind = environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    # Programs send JSON as plain text, and the reference takes it; a browser names its page.
    is_form = kind in _FORMS or (kind == _TEXT and "HTTP_ORIGIN" in environ)
    if not kind or is_form:
        raise Invalid(_UNTYPED)


def _whole(stream: object, length: int) -> bytes:
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


def length_of(environ: Mapping[str, Any], max_bytes: int) -> int:
    """Return how many bytes a body may turn out to have: those announced, or as many as are allowed."""
    if environ.get("wsgi.input") is None:
        return 0
    length = _length(environ)
    if length is None:
        return max_bytes if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower() else 0
    return min(length, max_bytes)


def signs(raw: bytes, most: int) -> int:
    """Return how many commas, colons and opening brackets a body has, or refuse it if it has more than ``most``.

    There are about as many as values. Those inside of texts count only where that spares a closer look.
    """
    if (found := _counted(raw)) <= most:
        return found
    # Without escaped characters every quote begins or ends a text, so every other piece is outside of them.
    plain = raw.replace(rb"\\", b"").replace(rb"\"", b"")
    if 0 < plain.count(b'"') <= 2 * most and (found := _counted(b"".join(plain.split(b'"')[::2]))) <= most:
        return found
    raise Raw(400, f"The request body has more than the {most} values that are allowed here.")


def _counted(raw: bytes) -> int:
    return sum(map(raw.count, _SIGNS))


def parse(raw: bytes, max_depth: int) -> object:
    """Parse a body; an empty one counts as an empty object."""
    if not raw or raw.isspace():
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


def check_storable(raw: bytes) -> None:
    """Refuse what not every database and client can hold: numbers beyond 64 bits, the character with code 0.

    ``raw`` is JSON. The parser turns longer numbers into inexact ones, so they are looked for in the text itself.
    """
    if _ZERO in raw and _ZERO_ITSELF.search(raw):
        raise Invalid("The request body must not contain the character with code 0.")
    if _has_long_digits(raw):
        for found in _STRING_OR_NUMBER.finditer(raw):
            if found[1] is not None and found[2] is None:
                _check_integer(found[1])


def _has_long_digits(raw: bytes) -> bool:
    # Slice by slice, because the copy in which all digits are alike would be as large as the body.
    step = _SLICE - len(_LONG)
    return any(_LONG in raw[start : start + _SLICE].translate(_DIGITS) for start in range(0, len(raw), step))


def _check_integer(digits: bytes) -> None:
    value = int(digits) if len(digits) <= _MOST_DIGITS else _TOO_LARGE
    if not _SMALLEST <= value < _TOO_LARGE:
        raise Invalid("The request body has a number that does not fit into 64 bits.")


def _refuse_depth(max_depth: int) -> Raw:
    return Raw(400, f"The request body is nested deeper than the {max_depth} levels that are allowed.")


def is_deeper(document: object, levels: int) -> bool:
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
