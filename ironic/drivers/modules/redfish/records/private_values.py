"""Private values of one BMC, learned from its documents, and where they are replaced."""

import re
from collections.abc import Iterable
from typing import Final

from ironic.drivers.modules.redfish.records import private_names
from ironic.drivers.modules.redfish.records.stand_ins import Kind, StandIns, hex_digits, plain

# Values of other lengths are replaced only where they were found.
_SHORTEST, _LONGEST = 4, 64
_NO_WORD: Final = re.compile(r"[0-9.-]")
# As long as this, and with a digit, they are replaced within words, too.
_DISTINCT: Final = 6
_BARE_DIGITS: Final = 12
_DIGITS: Final = 8
_WORDS: Final = frozenset(
    {
        "account", "accounts", "action", "admin", "administrator", "bios", "chassis", "code", "default",
        "dell", "embedded", "error", "guest", "host", "idrac", "ipmi", "lenovo", "manager", "managers",
        "memory", "message", "name", "oem", "operator", "password", "power", "private", "public", "readonly",
        "redfish", "registries", "root", "self", "server", "service", "sessions", "sessionservice", "storage",
        "supermicro", "system", "systems", "target", "test", "thermal", "title", "update", "updateservice",
        "user", "users",
    }
)  # fmt: skip

# Parts of a serial number that some places leave out.
_JOINTS: Final = re.compile(r"[\s_-]+")

# A tree of words by their characters; an empty text is the end of one.
_Branches = dict[str, "_Branches"]


class PrivateValues:
    """The values, by the form in which they are compared; ``secrets`` are replaced wherever they stand."""

    def __init__(self, stand_ins: StandIns, secrets: Iterable[str]) -> None:
        self._stand_ins, self._secrets = stand_ins, {plain(text) for text in secrets}
        self._values: dict[str, Kind] = {}
        # Names of properties, which are no private values.
        self.names: set[str] = set()

    def learn(self, kind: Kind, value: str) -> None:
        """Learn a value, and the parts of it that stand alone elsewhere."""
        value = value.strip()
        self._stand_ins.know(kind, value)
        # Words for places and companies are in many texts.
        if kind not in (Kind.URL, Kind.ADDRESS, Kind.PLACE):
            self._values.setdefault(plain(value), kind)
        if kind is Kind.HARDWARE and len(digits := hex_digits(value)) >= _BARE_DIGITS:
            self._values[digits] = kind
        bare = _JOINTS.sub("", value)
        if kind is Kind.NUMBER and bare != value and len(bare) >= _DISTINCT and any(each.isdigit() for each in bare):
            self._stand_ins.know(kind, bare)
            self._values.setdefault(plain(bare), kind)
        first, _, domain = value.partition(".")
        if kind is Kind.HOST and domain:
            # Each stands alone as well.
            for part in (first, domain) if "." in domain else (first,):
                # A first part such as "names" is a word.
                if _NO_WORD.search(part):
                    self._stand_ins.know(kind, part)
                    self._values.setdefault(plain(part), kind)

    def kind_of(self, value: str) -> Kind:
        """Return what a value is that was found."""
        return self._values.get(plain(value), Kind.NUMBER)

    def patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """Return what finds the values anywhere, within words too, and what finds them between words."""
        long = [value for value in self._values if len(value) <= _LONGEST]
        distinct = {
            value
            for value in long
            if len(value) >= _DISTINCT
            and any(each.isdigit() for each in value)
            and (any(each.isalpha() for each in value) or value in self._secrets)
        }
        words = {
            value
            for value in long
            if value in self._secrets
            or (
                len(value) >= _SHORTEST
                and not (value.isdigit() and len(value) < _DISTINCT)
                and not self._is_word(value)
            )
        }
        # A number within a word has no more digits beside it.
        digits = {value for value in long if value.isdecimal() and len(value) >= _DIGITS}
        everywhere = re.compile(
            rf"{_any_of(distinct).pattern}|(?<![0-9])(?:{_any_of(digits).pattern})(?![0-9])", re.IGNORECASE
        )
        between = re.compile(rf"(?<![0-9A-Za-z])(?:{_any_of(words).pattern})(?![0-9A-Za-z])", re.IGNORECASE)
        return everywhere, between

    def _is_word(self, value: str) -> bool:
        """Return whether a value may stand for something else in other places."""
        return value in _WORDS or value in self.names or not private_names.says_something(value)


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of many words, whose time does not grow with their number: longer words come first."""
    root: _Branches = {}
    for word in words:
        place = root
        for each in word:
            place = place.setdefault(each, {})
        place[""] = {}
    return re.compile(_branches(root) if root else "(?!)", re.IGNORECASE)


def _branches(place: _Branches) -> str:
    ends = "" in place
    found = [f"{re.escape(each)}{_branches(below)}" for each, below in place.items() if each]
    if not found:
        return ""
    if len(found) == 1 and not ends:
        return found[0]
    return f"(?:{'|'.join(found)}){'?' if ends else ''}"
