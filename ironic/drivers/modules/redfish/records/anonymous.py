"""Documents of a BMC without what must not leave the site, in the texts that the BMC sent.

It takes two passes. The first learns all private values, by the names of properties and by their forms. The second
replaces them: where they were found, and wherever else they stand, so that a resource that has a serial number in its
path is still found by the links to it. Nothing else changes, down to the blanks.

A value that could be any word ("root", "1") is replaced only where a property says what it is.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ironic.drivers.modules.redfish.records import private_names
from ironic.drivers.modules.redfish.records.json_leaves import Edit, Leaf, edited, leaves, unescaped, with_edits
from ironic.drivers.modules.redfish.records.private_forms import Taken, own_hosts, private_parts
from ironic.drivers.modules.redfish.records.stand_ins import OWN_HOST, Kind, StandIns, hex_digits, plain

_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
# Of these properties the form of a value means nothing.
_FORMLESS: Final = re.compile(r"etag$|@odata\.type$|@odata\.context$|\$schema$|\$ref$", re.IGNORECASE)
# Values of other lengths are replaced only where they were found.
_SHORTEST, _LONGEST = 4, 64
# As long as this, and with a digit, they are replaced within words, too.
_NO_WORD: Final = re.compile(r"[0-9.-]")
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

# How properties are spelt: a capital first, or a few capitals alone.
_PROPERTY: Final = re.compile(r"[A-Z][a-z]|[A-Z]{1,5}$|[A-Z]+[a-z]|.*[.@#]")
# Parts of a serial number that some places leave out.
_JOINTS: Final = re.compile(r"[\s_-]+")

# A tree of words by their characters; an empty text is the end of one.
_Branches = dict[str, "_Branches"]


class Anonymiser:
    """Replaces what is private in all documents of one BMC at ``host``; ``login`` are texts that no record may have."""

    def __init__(self, host: str, login: Iterable[tuple[Kind, str]] = ()) -> None:
        self._host = host
        self.stand_ins = StandIns()
        # By the form in which values are compared.
        self._values: dict[str, Kind] = {}
        self._names: set[str] = set()
        self._versions: set[str] = set()
        self._addresses: set[str] = set()
        self._known: dict[tuple[str, bool, bool], list[Edit]] = {}
        self._everywhere = self._between = re.compile("(?!)")
        self._secrets = {plain(text) for kind, text in login if kind is Kind.SECRET and text.strip()}
        for kind, text in login:
            if text.strip():
                self._learn(kind, text)
        if not re.fullmatch(r"[\d.]*|.*:.*|localhost", host):
            self._learn(Kind.HOST, host)

    # The first pass

    def learn(self, text: str) -> None:
        """Learn what is private in a document, given as its text."""
        # The texts beside a leaf are complete when all leaves were read.
        for leaf in list(leaves(text, private_names.PLACES)):
            value = _value(leaf, text)
            if leaf.is_name:
                # Others are keys that a site has chosen.
                if _PROPERTY.match(value):
                    self._names.add(plain(value))
            elif private_names.is_version(leaf.name):
                self._versions.add(value)
            elif (kind := _kind(leaf, value)) is not None and not self._has_form(value):
                self._learn(kind, value)
            if private_names.has_address(leaf.name):
                self._addresses.add(value)
            if not _FORMLESS.search(leaf.name):
                self.learn_text(value, is_name=leaf.is_name)

    def learn_text(self, text: str, *, is_name: bool = False) -> None:
        """Learn what is private in a text of no document, such as a path."""
        for part in private_parts(text, self._host, is_name=is_name):
            self._learn(part.kind, text[part.start : part.end])

    def _has_form(self, value: str) -> bool:
        """Return whether all of a value has a private form, as an address has, which says more than its property."""
        span = len(value) - len(value.lstrip()), len(value.rstrip())
        return any((part.start, part.end) == span for part in private_parts(value, self._host))

    def _learn(self, kind: Kind, value: str) -> None:
        value = value.strip()
        self.stand_ins.know(kind, value)
        # Words for places and companies are in many texts.
        if kind not in (Kind.URL, Kind.ADDRESS, Kind.PLACE):
            self._values.setdefault(plain(value), kind)
        if kind is Kind.HARDWARE and len(digits := hex_digits(value)) >= _BARE_DIGITS:
            self._values[digits] = kind
        bare = _JOINTS.sub("", value)
        if kind is Kind.NUMBER and bare != value and len(bare) >= _DISTINCT and any(each.isdigit() for each in bare):
            self.stand_ins.know(kind, bare)
            self._values.setdefault(plain(bare), kind)
        first, _, domain = value.partition(".")
        if kind is Kind.HOST and domain:
            # Each stands alone as well.
            for part in (first, domain) if "." in domain else (first,):
                # A first part such as "names" is a word.
                if _NO_WORD.search(part):
                    self.stand_ins.know(kind, part)
                    self._values.setdefault(plain(part), kind)

    def begin_replacing(self) -> None:
        """Begin the second pass: all documents were learned."""
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
        self._everywhere = re.compile(
            rf"{_any_of(distinct).pattern}|(?<![0-9])(?:{_any_of(digits).pattern})(?![0-9])", re.IGNORECASE
        )
        self._between = re.compile(rf"(?<![0-9A-Za-z])(?:{_any_of(words).pattern})(?![0-9A-Za-z])", re.IGNORECASE)

    def _is_word(self, value: str) -> bool:
        """Return whether a value may stand for something else in other places."""
        return value in _WORDS or value in self._names or not private_names.says_something(value)

    # The second pass

    def document(self, text: str) -> str:
        """Return the text of a document with stand-ins."""
        parts, last = list[str](), 0
        for leaf in list(leaves(text, private_names.PLACES)):
            value = _value(leaf, text)
            if edits := self._edits_of(leaf, value):
                raw = text[leaf.start : leaf.end]
                parts += [text[last : leaf.start], edited(raw, edits)]
                last = leaf.end
        return "".join([*parts, text[last:]])

    def text(self, text: str) -> str:
        """Return a text of no document, such as a path, with stand-ins."""
        return with_edits(text, self._edits(text, is_name=False, is_formless=False))

    def tag(self, text: str) -> str:
        """Return an ETag with stand-ins for what is known to be private: it means nothing by its form."""
        return with_edits(text, self._edits(text, is_name=False, is_formless=True))

    def _edits_of(self, leaf: Leaf, value: str) -> list[Edit]:
        kind = None if leaf.is_name else _kind(leaf, value)
        edits = self._edits(value, is_name=leaf.is_name, is_formless=_FORMLESS.search(leaf.name) is not None)
        if _NUMBER.fullmatch(value) and not leaf.is_quoted and not leaf.is_name:
            return [Edit(0, len(value), self.stand_ins.of_number(value))] if edits or kind else []
        if kind is None:
            return edits
        if self._has_form(value):
            return edits
        start, end = len(value) - len(value.lstrip()), len(value.rstrip())
        return [Edit(start, end, self.stand_ins.of(kind, value[start:end]))]

    def _edits(self, text: str, *, is_name: bool, is_formless: bool) -> list[Edit]:
        key = text, is_name, is_formless
        if key not in self._known:
            found = sorted(self._found(text, is_name=is_name, is_formless=is_formless))
            self._known[key] = found
        return self._known[key]

    def _found(self, text: str, *, is_name: bool, is_formless: bool) -> list[Edit]:
        found, taken = list[Edit](), Taken(len(text))
        if "://" in text:
            hosts = own_hosts(text, self._host)
            found += [Edit(start, end, OWN_HOST) for start, end in hosts if taken.take(start, end)]
        if not is_formless:
            for part in private_parts(text, self._host, is_name=is_name):
                value = text[part.start : part.end]
                is_version = part.kind is Kind.ADDRESS and value in self._versions - self._addresses
                if not is_version and taken.take(part.start, part.end):
                    found.append(Edit(part.start, part.end, self.stand_ins.of(part.kind, value)))
        is_part = is_formless or (is_name and not self._between.fullmatch(text))
        for pattern in (self._everywhere,) if is_part else (self._everywhere, self._between):
            for start, end in _gaps(found, len(text)):
                for match in pattern.finditer(text, start, end):
                    value = match[0]
                    kind = self._values.get(plain(value), Kind.NUMBER)
                    found.append(Edit(*match.span(), self.stand_ins.of(kind, value)))
        return found


def _value(leaf: Leaf, text: str) -> str:
    raw = text[leaf.start : leaf.end]
    return unescaped(raw) if leaf.is_quoted or leaf.is_name else raw


def _kind(leaf: Leaf, value: str) -> Kind | None:
    """Return what a leaf has, None where it says nothing private."""
    if not leaf.is_quoted and not _NUMBER.fullmatch(value):
        return None
    if not private_names.says_something(value):
        return None
    found = private_names.kind_of(leaf, value)
    # A number of users, or of hosts.
    return None if found in (Kind.USER, Kind.HOST, Kind.URL) and not leaf.is_quoted else found


def _gaps(edits: Iterable[Edit], length: int) -> Iterator[tuple[int, int]]:
    last = 0
    for edit in sorted(edits):
        yield last, edit.start
        last = edit.end
    yield last, length


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
