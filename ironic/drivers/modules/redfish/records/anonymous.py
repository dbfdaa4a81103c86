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
from ironic.drivers.modules.redfish.records.private_values import PrivateValues
from ironic.drivers.modules.redfish.records.stand_ins import OWN_HOST, Kind, StandIns, plain

_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
# Of these properties the form of a value means nothing.
_FORMLESS: Final = re.compile(r"etag$|@odata\.type$|@odata\.context$|\$schema$|\$ref$", re.IGNORECASE)
# How properties are spelt: a capital first, or a few capitals alone.
_PROPERTY: Final = re.compile(r"[A-Z][a-z]|[A-Z]{1,5}$|[A-Z]+[a-z]|.*[.@#]")


class Anonymiser:
    """Replaces what is private in all documents of one BMC at ``host``; ``login`` are texts that no record may have."""

    def __init__(self, host: str, login: Iterable[tuple[Kind, str]] = ()) -> None:
        self._host = host
        self.stand_ins = StandIns()
        self._versions: set[str] = set()
        self._addresses: set[str] = set()
        self._known: dict[tuple[str, bool, bool], list[Edit]] = {}
        self._everywhere = self._between = re.compile("(?!)")
        given = [(kind, text) for kind, text in login if text.strip()]
        self._values = PrivateValues(self.stand_ins, (text for kind, text in given if kind is Kind.SECRET))
        for kind, text in given:
            self._values.learn(kind, text)
        is_address = ":" in host or not host.strip("0123456789.")
        if not is_address and host != "localhost":
            self._values.learn(Kind.HOST, host)

    # The first pass

    def learn(self, text: str) -> None:
        """Learn what is private in a document, given as its text."""
        # The texts beside a leaf are complete when all leaves were read.
        for leaf in list(leaves(text, private_names.PLACES)):
            value = _value(leaf, text)
            if leaf.is_name:
                # Others are keys that a site has chosen.
                if _PROPERTY.match(value):
                    self._values.names.add(plain(value))
            elif private_names.is_version(leaf.name):
                self._versions.add(value)
            elif (kind := _kind(leaf, value)) is not None and not self._has_form(value):
                self._values.learn(kind, value)
            if private_names.has_address(leaf.name):
                self._addresses.add(value)
            if not _FORMLESS.search(leaf.name):
                self.learn_text(value, is_name=leaf.is_name)

    def learn_text(self, text: str, *, is_name: bool = False) -> None:
        """Learn what is private in a text of no document, such as a path."""
        for part in private_parts(text, self._host, is_name=is_name):
            self._values.learn(part.kind, text[part.start : part.end])

    def _has_form(self, value: str) -> bool:
        """Return whether all of a value has a private form, as an address has, which says more than its property."""
        span = len(value) - len(value.lstrip()), len(value.rstrip())
        return any((part.start, part.end) == span for part in private_parts(value, self._host))

    # The second pass

    def begin_replacing(self) -> None:
        """Begin the second pass: all documents were learned."""
        self._everywhere, self._between = self._values.patterns()

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
        if not leaf.is_quoted and value in ("true", "false", "null"):
            return []
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
                    found.append(Edit(*match.span(), self.stand_ins.of(self._values.kind_of(value), value)))
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
