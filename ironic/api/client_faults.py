"""What known clients can't take in an answer, by a word of their user agent: one table."""

from collections.abc import Mapping
from typing import Final

Headers = list[tuple[str, str]]

# Headers that a client must not get, in lower case.
_KEPT_FROM: Final[Mapping[str, frozenset[str]]] = {
    # Instead of an error that has the header it shows a TypeError, unless it is a 413. Without the header it shows the
    # text, and repeats the request by itself after a 409 or 503.
    "ironicclient": frozenset({"retry-after"}),
}


def unusable_headers(user_agent: str) -> frozenset[str]:
    """Return the names of headers that a client with this user agent must not get."""
    known = user_agent.lower()
    return frozenset[str]().union(*(names for word, names in _KEPT_FROM.items() if word in known))


def without(headers: Headers, unusable: frozenset[str]) -> Headers:
    """Return the headers of an answer without these."""
    return [(name, value) for name, value in headers if name.lower() not in unusable] if unusable else headers
