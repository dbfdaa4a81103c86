"""What a handler hands back: a status, an encoded body, perhaps a place to look next.

The application turns it into an HTTP response and adds the version headers; a handler never touches one. Documents are
encoded here, once, and long lists as a row of chunks.
"""

from dataclasses import dataclass
from typing import Final

import orjson

OPTIONS: Final = orjson.OPT_NON_STR_KEYS


@dataclass(slots=True, frozen=True)
class Answer:
    """One successful answer; without a body there is no content type either."""

    status: int = 200
    body: bytes | list[bytes] | None = None
    location: str | None = None
    content_type: str = "application/json"
    # Whether it holds what no cache on the way and no file of the client shall keep.
    is_secret: bool = False


NO_CONTENT: Final = Answer(204)


def document(value: object, status: int = 200, location: str | None = None) -> Answer:
    """Answer with a JSON document."""
    return Answer(status, orjson.dumps(value, option=OPTIONS), location)


def secret(value: object) -> Answer:
    """Answer with a JSON document that nothing on the way may keep."""
    return Answer(200, orjson.dumps(value, option=OPTIONS), is_secret=True)


def created(value: object, location: str) -> Answer:
    """Answer that something now exists, and where."""
    return document(value, 201, location)


def accepted(location: str | None = None) -> Answer:
    """Answer that work has begun; where its progress shows."""
    return Answer(202, None, location)
