"""Read a request body within limits of size, number of values, depth and memory.

Size is checked before a byte is read, the number of values before the parser creates objects for them (an empty object
takes three bytes in JSON and sixty in memory), nesting right after parsing. A body that is not JSON is a 400; so are
NaN, a compressed body, and broken text other than in reports of machines.

Large bodies of one process share a limited amount of memory. A body's share is reserved before it is read, by the most
that its length can need; once its bytes are known the share shrinks. It never grows, so two requests can't wait for
each other. A request that does not get its share soon is answered 503, because a waiting thread serves no other
request.
"""

import codecs
import re
import threading
from collections.abc import Mapping
from typing import Any, Final

import orjson

from ironic.api.error_responses import RETRY_SOON, Raw, Refused
from ironic.core.errors import Invalid
from ironic.core.texts import lenient_json

# Bodies of up to so many bytes need no share: a thread has one at a time, and it needs a few MiB at most.
SMALL: Final = 64 * 1024

# Memory, at most, of a value other than a long text: an object of one key has 232 bytes and two or three signs in JSON.
_BYTES_PER_SIGN: Final = 120

# The bytes themselves, and a copy that the server or the parser makes.
_COPIES: Final = 2

# Text with one character beyond Latin-1 takes four bytes for each character.
_WIDEST: Final = 4

# Seconds that a request waits for its share, and how many may wait at once, so that most threads stay free.
_MEMORY_TIMEOUT: Final = 2.0
_MOST_WAITING: Final = 4


def most_of(length: int, most_signs: int) -> int:
    """Return the most memory, in bytes, that a body of this length can need."""
    return length * (_COPIES + _WIDEST) + min(length, most_signs) * _BYTES_PER_SIGN


def taken_by(raw: bytes, signs: int) -> int:
    """Return the memory, in bytes, that a body needs with its texts and values, and a copy of both for a conductor."""
    letters = len(raw) * (1 if raw.isascii() and b"\\u" not in raw else _WIDEST)
    return len(raw) * _COPIES + 2 * (letters + signs * _BYTES_PER_SIGN)


class BodyMemory:
    """An amount of memory, in bytes, that the bodies of several threads share."""

    def __init__(self, most: int, timeout: float = _MEMORY_TIMEOUT) -> None:
        self._most, self._timeout = most, timeout
        self._left, self._waiting = most, 0
        self._freed = threading.Condition()

    def take(self, size: int) -> int:
        """Reserve bytes and return how many: never more than there are in all. Raises a 503 after a timeout."""
        size = min(size, self._most)
        with self._freed:
            if self._left < size:
                is_free = False
                if self._waiting < _MOST_WAITING:
                    self._waiting += 1
                    try:
                        is_free = self._freed.wait_for(lambda: self._left >= size, self._timeout)
                    finally:
                        self._waiting -= 1
                if not is_free:
                    raise Refused(503, "Too many large requests are in progress. Try again later.", RETRY_SOON)
            self._left -= size
        return size

    def shrink(self, taken: int, size: int) -> int:
        """Release the part of a share that is not needed; return the size of the rest."""
        if size >= taken:
            return taken
        self.give_back(taken - size)
        return size

    def give_back(self, size: int) -> None:
        """Release bytes for other requests."""
        with self._freed:
            self._left += size
            self._freed.notify_all()


# The parser has a depth limit of its own, which only the text of its error reveals; a test checks the text.
_TOO_DEEP: Final = re.compile("depth|recursion", re.IGNORECASE)

# The signs before or after a value; each value but the first has one of its own.
_SIGNS: Final = (b",", b":", b"[", b"{")

# Most bodies contain neither, so they cost two searches, about a microsecond per kilobyte.
_ZERO: Final = rb"\u0000"
_ZERO_ITSELF: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_LONG: Final = b"0" * 19
_SLICE: Final = 65536
_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_MOST_DIGITS: Final = 20
# A string or a number in JSON; the fraction and exponent of a number are a group of their own. Only a string without
# an end could lack the second quote: without it as well, it is not read again from within.
_STRING_OR_NUMBER: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|(-?[0-9]++)([.eE][0-9.eE+-]*+)?', re.DOTALL)
_CUT_OFF: Final = "The request body could not be read to its end."
_UNREADABLE: Final = "uWSGI passes on no body in chunks: send one with a Content-Length header."
_UNTYPED: Final = "A request body needs a Content-Type header: application/json."
_FORMS: Final = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
_TEXT: Final = "text/plain"
_SMALLEST: Final = -(2**63)
_TOO_LARGE: Final = 2**64


def read(environ: Mapping[str, object], max_bytes: int, *, of_ramdisk: bool = False) -> bytes:
    """Return the bytes of the body; raises 413 for a large one, 411 for one that the server keeps back.

    A truncated or untyped one raises Invalid.

    Agents of former years send their reports without a type.
    """
    stream = environ.get("wsgi.input")
    length = _length(environ)
    if stream is None or length == 0:
        return b""
    if length is not None and length > max_bytes:
        raise _too_large(max_bytes)
    if length is not None:
        # Before it is read: the body may not have arrived yet.
        _check_type(environ, of_ramdisk)
        found = _received(stream, length)
        if len(found) < length:
            raise Invalid(_CUT_OFF)
    elif "chunked" in str(environ.get("HTTP_TRANSFER_ENCODING", "")).lower():
        if "uwsgi.version" in environ:
            # uWSGI gives applications nothing to read then, as if the body were empty.
            raise Raw(411, _UNREADABLE)
        found = _received(stream, max_bytes + 1)
    else:
        return b""
    if len(found) > max_bytes:
        raise _too_large(max_bytes)
    if found and length is None:
        _check_type(environ, of_ramdisk)
    return found


def _check_type(environ: Mapping[str, object], of_ramdisk: bool) -> None:
    """Raise Invalid for a body without a type, or of a type that a page may send without a preflight."""
    if of_ramdisk and not environ.get("CONTENT_TYPE") and "HTTP_ORIGIN" not in environ:
        return
    kind = str(environ.get("CONTENT_TYPE", "")).partition(";")[0].strip().lower()
    # Programs send JSON as plain text, and the reference accepts it; a browser adds the origin of its page.
    is_form = kind in _FORMS or (kind == _TEXT and "HTTP_ORIGIN" in environ)
    if not kind or is_form:
        raise Invalid(_UNTYPED)


def _received(stream: Any, size: int) -> bytes:
    try:
        return bytes(stream.read(size))
    except (ValueError, OverflowError, OSError):
        # Servers raise these for malformed or too large chunks, and for a client that stopped halfway.
        raise Invalid(_CUT_OFF) from None


def _length(environ: Mapping[str, Any]) -> int | None:
    if not (given := environ.get("CONTENT_LENGTH")):
        return None
    if not (given.isascii() and given.isdigit()):
        raise Invalid("The Content-Length header has to be a number.")
    return int(given[:_MOST_DIGITS])


def _too_large(max_bytes: int) -> Raw:
    return Raw(413, f"The request body is larger than the limit of {max_bytes} bytes.")


def length_of(environ: Mapping[str, Any], max_bytes: int) -> int:
    """Return the most bytes that the body can have: its announced length or the limit."""
    if environ.get("wsgi.input") is None:
        return 0
    length = _length(environ)
    if length is None:
        return max_bytes if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower() else 0
    return min(length, max_bytes)


def signs(raw: bytes, most: int) -> int:
    """Return the number of commas, colons and opening brackets of a body; raises 400 if there are more than ``most``.

    It is about the number of values. Signs inside of strings count only where that saves a second pass.
    """
    if (found := _counted(raw)) <= most:
        return found
    # Without escaped characters every quote begins or ends a string, so every other piece is outside of strings.
    plain = raw.replace(rb"\\", b"").replace(rb"\"", b"")
    if 0 < plain.count(b'"') <= 2 * most and (found := _counted(b"".join(plain.split(b'"')[::2]))) <= most:
        return found
    raise Raw(400, f"The request body has more than the allowed {most} values.")


def _counted(raw: bytes) -> int:
    return sum(map(raw.count, _SIGNS))


def parse(raw: bytes, max_depth: int, *, of_machine: bool = False) -> object:
    """Return the parsed body, {} for an empty one; raises 400 for one that is no JSON or too deep.

    The mark with which some editors begin a text is no part of it.

    In the report ``of_machine`` broken text, as devices have it, is replaced: its machine could not send a better one.
    """
    if not raw or raw.isspace():
        return {}
    try:
        # A view: a copy of a large body would not be counted.
        marked = raw.startswith(codecs.BOM_UTF8)
        document = orjson.loads(memoryview(raw)[len(codecs.BOM_UTF8) :] if marked else raw)
    except orjson.JSONDecodeError as error:
        if _TOO_DEEP.search(error.msg):
            raise _refuse_depth(max_depth) from None
        # The parser's error contains the position, and nothing of the body.
        fault = Invalid(f"The request body is not valid JSON (line {error.lineno}, column {error.colno}).")
        if not of_machine:
            raise fault from None
        try:
            document = lenient_json.parse(raw, mends=False)
        except ValueError:
            raise fault from None
    if raw.count(b"[") + raw.count(b"{") > max_depth and is_deeper(document, max_depth):
        raise _refuse_depth(max_depth)
    return document


def check_storable(raw: bytes) -> None:
    """Raise Invalid for values that not every database and client can hold: integers beyond 64 bits, character 0.

    ``raw`` is JSON. The parser turns longer integers into inexact numbers, so they are searched in the text itself.
    """
    if _ZERO in raw and _ZERO_ITSELF.search(raw):
        raise Invalid("The request body must not contain the character with code 0.")
    # Slice by slice, because the copy in which all digits are alike would be as large as the body.
    step = _SLICE - len(_LONG)
    if not any(_LONG in raw[start : start + _SLICE].translate(_DIGITS) for start in range(0, len(raw), step)):
        return
    for found in _STRING_OR_NUMBER.finditer(raw):
        digits = found[1]
        if digits is not None and found[2] is None:
            value = int(digits) if len(digits) <= _MOST_DIGITS else _TOO_LARGE
            if not _SMALLEST <= value < _TOO_LARGE:
                raise Invalid("The request body has a number that does not fit into 64 bits.")


def _refuse_depth(max_depth: int) -> Raw:
    return Raw(400, f"The request body is nested deeper than the {max_depth} levels that are allowed.")


def is_deeper(document: object, levels: int) -> bool:
    """Return whether objects and lists are nested in more than this many levels."""
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
