"""What may be stored as text, and JSON as text.

Engines differ in what they refuse (PostgreSQL has no NUL character, none can encode half a surrogate pair), and they
refuse in the words of their drivers. Here both are refused alike, before any statement, as a fault of the value.
JSON is written by orjson only, so stored text may be spliced into an answer without being read.
"""

from typing import Any

import orjson

from ironic.core.errors import InvalidParameterValue


class JsonText(str):
    """Text that our own encoder has written; the only kind of text a JSON column takes."""

    __slots__ = ()


def check_text(value: str, what: str = "A value") -> str:
    """Return the text, or raise InvalidParameterValue when some engine could not hold it."""
    if "\0" in value:
        raise InvalidParameterValue(err=f"{what} contains a NUL character, which can't be stored.")
    if not value.isascii():
        _check_encodable(value, what)
    return value


def _check_encodable(value: str, what: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidParameterValue(
            err=f"{what} contains half of a surrogate pair, which is no character and can't be stored."
        ) from None


def encode(value: object, what: str = "A value") -> JsonText:
    """Return the value as JSON text, or raise InvalidParameterValue when it has no JSON form."""
    try:
        return JsonText(orjson.dumps(value).decode())
    except TypeError as error:
        raise InvalidParameterValue(err=f"{what} can't be stored as JSON: {error}.") from None


def decode(text: str) -> Any:
    """Return the value that stored JSON text stands for."""
    return orjson.loads(str(text))  # orjson takes no subclass of str
