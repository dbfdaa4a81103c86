"""JSON as machines write it: read what can be read.

Raw control characters, bytes that are no UTF-8, byte order marks, NaN and numbers without end are all found in answers
of real BMCs; ramdisks pass on what they read from devices. Each takes away its own value at most. So does a part of an
answer of a BMC that breaks the rules where the meaning of the rest is plain: null stands for it, as nothing is made up.
A document that breaks off is none. Texts that come out of here can be stored and sent on: halves of characters and NULs
are replaced.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

_REPLACEMENT: Final = "\ufffd"
# A number with more digits means nothing, and converting it takes long.
_MOST_DIGITS: Final = 40
# A text with its end if it has one; what has no quotes; a blank; a sign.
_PART: Final = re.compile(r'"((?:[^"\\]|\\.)*)("?)|([^"{}\[\],:\s]+)|\s+|(.)', re.DOTALL)
_ESCAPE: Final = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})|\\.', re.DOTALL)
_PLAIN: Final = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|true|false|null|-?Infinity|NaN")
_OPENS, _ENDS = "{[", "}]"
_NULL: Final = "null"


def parse(content: bytes, *, mends: bool = True) -> Any:
    """Return the document; raise ValueError for what has not the structure of JSON, or is nested too deeply.

    NaN and Infinity, which are no JSON, are null, and so are values that are left out, numbers with zeros before them
    and words that are none of JSON. A backslash that begins no escape stays in its text; a comma before an end, and
    what follows the end of the document, are left out. Without ``mends`` all these are refused. The time grows with the
    length.
    """
    text = content.decode(json.detect_encoding(content), errors="replace").rstrip("\0")
    decoder = json.JSONDecoder(
        strict=False,
        parse_int=_whole,
        parse_float=_number,
        parse_constant=(lambda _name: None) if mends else _refuse,
    )
    try:
        try:
            document = decoder.decode(text)
        except ValueError:
            if not mends:
                raise
            document = decoder.decode("".join(_mended(text)))
        return document if _is_plain(content) else storable(document)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _is_plain(content: bytes) -> bool:
    """Return whether no text of a document can have a character that is not storable: most have none."""
    return content.isascii() and b"\\u" not in content and b"\0" not in content


def _mended(text: str) -> Iterator[str]:
    """Yield the parts of a document that keep the rules, until its end; raise ValueError where the text breaks off."""
    opened: list[str] = []
    # The sign before, and whether a comma has not been written yet.
    before, is_open = "", False
    for found in _PART.finditer(text.lstrip("\ufeff")):
        sign = found[4] or ""
        if not opened and not found[0].isspace() and sign not in ("{", "["):
            raise ValueError("it does not begin as a document")
        if found[1] is not None and not found[2]:
            raise ValueError("it breaks off in a text")
        if found[0].isspace():
            continue
        is_empty = before == ":" or (before in (",", "[") and sign == "," and opened[-1] == "[")
        if is_empty and sign in (",", "}", "]"):
            yield f",{_NULL}" if is_open else _NULL
            is_open = False
        if sign == ",":
            is_open = is_open or before not in ("{", "[")
        else:
            if is_open and sign not in ("}", "]"):
                yield ","
            is_open = False
            yield sign or _value(found)
        if sign and sign in _OPENS:
            opened.append(sign)
        elif sign and sign in _ENDS:
            opened.pop()
            if not opened:
                _check_rest(text, found.end())
                return
        before = sign


def _value(found: re.Match[str]) -> str:
    """Return a text with its backslashes escaped that escape nothing, or another value; null for one that is odd."""
    if found[1] is not None:
        return '"' + _ESCAPE.sub(lambda found: found[0] if len(found[0]) > 1 else r"\\", found[1]) + '"'
    return found[3] if _PLAIN.fullmatch(found[3]) else _NULL


def _check_rest(text: str, end: int) -> None:
    if "{" in text[end + (text[:1] == "\ufeff") :]:
        raise ValueError("another document follows")


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
