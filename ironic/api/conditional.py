"""Conditional GET: every document carries a tag, and a client that has it already gets 304 and no body.

The tag is a hash of the body, so it needs nothing from the store and is right whatever a document is made of; it saves
the way to the client and the client's parsing, not our own work. Clients that know nothing of tags see two headers
more.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

# What a document depends on besides its URL.
VARY: Final = ("Vary", "X-OpenStack-Ironic-API-Version, OpenStack-API-Version, X-Auth-Token, Authorization")
# For answers with secrets, which get no tag either: who has one again and again fetches it again.
NO_STORE: Final = ("Cache-Control", "no-store")

_TAGS: Final = re.compile(r'(?:W/)?"([^"]*)"')


def tag(body: bytes | Sequence[bytes]) -> str:
    """Return the tag of a document, as it stands between the quotes."""
    found = hashlib.blake2b(digest_size=16)
    for chunk in (body,) if isinstance(body, bytes) else body:
        found.update(chunk)
    return found.hexdigest()


def is_held(environ: Mapping[str, Any], current: str) -> bool:
    """Tell whether the client says that it has the document with this tag."""
    held = environ.get("HTTP_IF_NONE_MATCH")
    if held is None:
        return False
    return held.strip() == "*" or current in _TAGS.findall(held)
