"""Answers of handlers: status, body, location, and the ETag of a conditional GET.

A handler returns an `Answer`; the application turns it into an HTTP response and adds the version headers. Documents
are encoded here, once, and long lists as a sequence of chunks.

Every document that is not secret carries an ETag, and a client that sends it back gets 304 without a body. The tag is a
hash of the body, so it needs no query and is right whatever the document is made of. It saves transfer and the client's
parsing, not the service's own work.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

OPTIONS: Final = orjson.OPT_NON_STR_KEYS


@dataclass(slots=True, frozen=True)
class Answer:
    """A successful answer; without a body it has no content type either."""

    status: int = 200
    body: bytes | list[bytes] | None = None
    location: str | None = None
    content_type: str = "application/json"
    # Whether caches must not store it, because it holds secrets.
    is_secret: bool = False
    # The ETag of a document that is kept ready-made; otherwise it is made of the body.
    tag: str | None = None


NO_CONTENT: Final = Answer(204)


def document(value: object, status: int = 200, location: str | None = None) -> Answer:
    """Return a JSON document as an answer."""
    return Answer(status, orjson.dumps(value, option=OPTIONS), location)


def ready_made(body: bytes) -> Answer:
    """Return a document that is kept as the answer to many requests."""
    return Answer(200, body, tag=etag(body))


def secret(value: object) -> Answer:
    """Return a JSON document that caches must not store as an answer."""
    return Answer(200, orjson.dumps(value, option=OPTIONS), is_secret=True)


def created(value: object, location: str) -> Answer:
    """Return the answer 201 with the document that was created and its URL."""
    return document(value, 201, location)


def accepted(location: str | None = None) -> Answer:
    """Return the answer 202; ``location`` is the URL that shows the progress."""
    return Answer(202, None, location)


# The request headers that a document depends on besides its URL.
VARY: Final = ("Vary", "X-OpenStack-Ironic-API-Version, OpenStack-API-Version, X-Auth-Token, Authorization")
# For answers with secrets, which get no ETag either.
NO_STORE: Final = ("Cache-Control", "no-store")

_TAGS: Final = re.compile(r'(?:W/)?"([^"]*)"')


# Bytes of the longest answer with an ETag: to hash a page of 16 MiB costs a third of its CPU time.
LONGEST_TAGGED: Final = 4 * 1024 * 1024


def etag(body: bytes | Sequence[bytes]) -> str | None:
    """Return the ETag of a document, without its quotes; None for a very long one."""
    chunks = (body,) if isinstance(body, bytes) else body
    if sum(map(len, chunks)) > LONGEST_TAGGED:
        return None
    found = hashlib.blake2b(digest_size=16)
    for chunk in chunks:
        found.update(chunk)
    return found.hexdigest()


def etag_matches(environ: Mapping[str, Any], current: str) -> bool:
    """Return whether If-None-Match of the request names the current ETag."""
    held = environ.get("HTTP_IF_NONE_MATCH")
    if held is None:
        return False
    return held.strip() == "*" or current in _TAGS.findall(held)
