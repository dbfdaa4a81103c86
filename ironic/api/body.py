"""Reading a request body within limits.

Size is checked before a byte is read, nesting right after the parser (which has a limit of its own), so neither costs
more than the limits allow. What is not JSON is a 400; numbers that are none (NaN) and broken text count as not JSON.
"""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from ironic.api.errors import Raw
from ironic.core.errors import Invalid

# The parser has a limit of its own and says so in words only; a test holds them.
_TOO_DEEP = re.compile("depth|recursion", re.IGNORECASE)


def read(environ: Mapping[str, Any], max_bytes: int) -> bytes:
    """Return the body's bytes, or refuse it with 413."""
    stream = environ.get("wsgi.input")
    length = _length(environ)
    # A body without any content type always counted as none; what the type says does not matter.
    if stream is None or length == 0 or not environ.get("CONTENT_TYPE"):
        return b""
    if length is not None:
        return bytes(stream.read(length)) if length <= max_bytes else _too_large(max_bytes)
    if "chunked" not in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
        return b""
    found = bytes(stream.read(max_bytes + 1))
    return found if len(found) <= max_bytes else _too_large(max_bytes)


def _length(environ: Mapping[str, Any]) -> int | None:
    given = environ.get("CONTENT_LENGTH") or ""
    return int(given) if given.isascii() and given.isdigit() and len(given) < 19 else None


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
