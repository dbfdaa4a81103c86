"""A resource as the suite sees it: where it is, how one is made, and the texts and values that are sent to it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from ironic.core.model.fields import Resource

# Percent-encoded: no text (a zero, a lone surrogate, half a character), too much of it, injections, other alphabets.
HOSTILE_TEXTS: Final = {
    "zero": "%00",
    "zero inside": "a%00b",
    "surrogate": "%ED%A0%80",
    "half a character": "%ff",
    "long": "a" * 70_000,
    "line break": "a%0D%0AX:%20y",
    "statement": quote("' OR 1=1; --"),
    "path": quote("../../etc/passwd", safe=""),
    "number": "9" * 400,
    "negative number": "-1",
    "fraction": "1.5",
    "exponent": "1e400",
    "umlaut": "%C3%BC",
    "nothing": "",
    "space": "%20",
}

# JSON as it is sent; none of these may ever be stored.
UNSTORABLE: Final = {
    "zero": r'"a\u0000b"',
    "surrogate": r'"\ud800"',
    "two surrogates the wrong way round": r'"\udc00\ud800"',
    "zero in an object": r'{"a": ["\u0000"]}',
    "zero in a key": r'{"\u0000": 1}',
    "surrogate in an object": r'{"a": "\udfff"}',
    "number of 400 digits": "9" * 400,
    "number of 65 bits": "18446744073709551616",
    "negative number of 65 bits": "-9223372036854775809",
    "number of 65 bits in an object": '{"a": 18446744073709551616}',
    "infinity": "1e999",
    "no number": "NaN",
}

# Values of every kind; a suite can exclude them.
ODD: Final = {
    "true": "true",
    "number": "7",
    "number of 33 bits": "8589934592",
    "negative number": "-7",
    "number of 64 bits": "9223372036854775808",
    "fraction": "1.5",
    "large fraction": "1e300",
    "text": '"x"',
    "empty text": '""',
    "long text": f'"{"x" * 100_000}"',
    "umlaut": '"\\u00fc"',
    "rare letter": '"\\ud83d\\ude00"',
    "line break": '"a\\nb"',
    "list": "[]",
    "list of lists": "[[[]]]",
    "list of numbers": "[1, 2]",
    "object": "{}",
    "odd object": '{"": null, "a b": [{}]}',
    "null": "null",
}

BAD_BODIES: Final = {
    "nothing closed": "{",
    "two documents": "{} {}",
    "quotes": "{'a': 1}",
    "a list": '[{"a": 1}]',
    "a number": "1",
    "a text": '"x"',
    "null": "null",
    "an unknown key": '{"no_such_key": 1}',
    "a key of zero": r'{"\u0000": 1}',
    "a surrogate key": r'{"\ud800": 1}',
    "a long key": '{"' + "k" * 10_000 + '": 1}',
    "too deep": '{"extra": ' + "[" * 30 + "]" * 30 + "}",
    "far too deep": "[" * 50_000,
    "too large": '{"extra": "' + "x" * 1024 * 1024 + '"}',
}


@dataclass(frozen=True)
class Sample:
    """One resource, and what callers send to make one of it."""

    resource: type[Resource]
    # The body that makes the n-th one; None: callers make none, `item` is there from the start.
    body: Callable[[int], dict[str, Any]] | None = None
    item: str = ""
    # The path below /v1, when it is not the name of the collection.
    path: str = ""
    # Whether there are pages.
    paged: bool = True
    # What reading one of them is answered with, and whether fields of one can be chosen.
    one: int = 200
    chooses: bool = True
    # The store's name for them, when it is not made of the path.
    stored: str = ""

    @property
    def repository(self) -> str:
        """What the store calls them."""
        return self.stored or (self.path or self.resource.collection).replace("/", "_")

    @property
    def collection(self) -> str:
        """The path of the list."""
        return f"/v1/{self.path or self.resource.collection}"

    def __str__(self) -> str:
        return self.resource.__name__
