"""A resource as the suite sees it: where it is, how one is made, and the texts and values that are sent to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from ironic.api.fields import Resource

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

# Values of every kind; whoever doesn't want them says so.
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
    """One resource; `body` makes one more of it each time, None: callers make none."""

    resource: type[Resource]
    body: Mapping[str, Any] | None = None
    # The path of the collection, when it is not that of the resource.
    path: str = ""
    # What names an item that is there from the start.
    item: str = ""
    paged: bool = True
    # Whether there is a path to one of them.
    single: bool = True
    # Fields that can't be written although the table says so, with what the others need.
    without: frozenset[str] = field(default_factory=frozenset)

    @property
    def collection(self) -> str:
        """The path of the list."""
        return f"/v1/{self.path or self.resource.collection}"

    @property
    def name(self) -> str:
        """What tests are called by."""
        return self.resource.__name__
