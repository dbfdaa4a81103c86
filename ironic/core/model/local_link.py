"""Where a port is plugged in: the document `local_link_connection`.

Owns its form: which keys there are in which version, which of them belong together, how the id of a switch is spelled.
What a network makes of it is the driver's. Source: doc/contract/fields.md#local-link-connection.
"""

import re
from bisect import bisect
from collections.abc import Mapping
from typing import Final, NamedTuple

import orjson

from ironic.core.errors import NotAcceptable
from ironic.core.values import Enum, Mac, Object, Shown, Text, ValueType

_DATAPATH: Final = re.compile(r"[0-9a-fA-F]{16}|[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){7}")
_UNMANAGED: Final = "unmanaged"
_VTEP: Final = frozenset({"vtep-logical-switch", "vtep-physical-switch"})


class SwitchId(Mac):
    """A MAC address or a datapath id; stored in lower case."""

    def validate(self, value: object) -> str:
        """Check the syntax."""
        if isinstance(value, str) and _DATAPATH.fullmatch(value):
            return value.lower()
        try:
            return super().validate(value)
        except ValueError:
            raise ValueError("must be a MAC address or a datapath id of 16 digits") from None


class Key(NamedTuple):
    """A key of the document: its value, the first version that has it and the first that has it no more."""

    type: ValueType
    since: int = 1
    until: int | None = None

    def is_known(self, minor: int) -> bool:
        """Tell whether a version has it."""
        return self.since <= minor and (self.until is None or minor < self.until)


_VTEP_KEY: Final = Key(Text(None), since=90, until=105)
_KEYS: Final[Mapping[str, Key]] = {
    "port_id": Key(Text(None)),
    "switch_id": Key(SwitchId()),
    "switch_info": Key(Text(None)),
    "hostname": Key(Text(None), since=53),
    "network_type": Key(Enum("managed", _UNMANAGED), since=64),
} | dict.fromkeys(sorted(_VTEP), _VTEP_KEY)


class LocalLink(Object):
    """Empty, or a port of a switch, of a smart card by its host or of a tunnel's end, or said to be unmanaged."""

    noun = "a local link connection"

    def __init__(self, minor: int) -> None:
        self.minor = minor

    def at(self, minor: int) -> ValueType:
        """Return the form that a version has."""
        return _FORMS[bisect(_FORMS, minor, key=lambda form: form.minor) - 1]

    def validate(self, value: object) -> dict[str, object]:
        """Check the keys and their values, and spell the id of the switch in lower case."""
        given = dict(super().validate(value))
        if given.keys() - _KEYS.keys():
            known = (name for name, key in _KEYS.items() if key.is_known(self.minor))
            raise ValueError(f"must have no other keys than {', '.join(known)}")
        for name in given:
            given[name] = self._checked(name, given[name])
        if given and not _is_complete(given):
            raise ValueError("must be {}, or have port_id and switch_id or hostname, or network_type unmanaged")
        return given

    def _checked(self, name: str, value: object) -> object:
        key, what = _KEYS[name], f"The key {name} of local_link_connection"
        if self.minor < key.since:
            raise NotAcceptable(what=what, since=f"1.{key.since}")
        if not key.is_known(self.minor):
            raise NotAcceptable(f"{what} is known before API version 1.{key.until} only.")
        try:
            return key.type.validate(value)
        except ValueError as error:
            raise ValueError(f"has a {name} that {error}") from None


def _is_complete(given: Mapping[str, object]) -> bool:
    is_plugged = "port_id" in given and ("switch_id" in given or "hostname" in given)
    return is_plugged or given.get("network_type") == _UNMANAGED or given.keys() >= _VTEP


# One for all versions between two changes: types are compared by what they are, not by what they hold.
_FORMS: Final = [
    LocalLink(minor) for minor in sorted({change for key in _KEYS.values() for change in (key.since, key.until or 1)})
]
LOCAL_LINK: Final = _FORMS[-1]


def of_version(minor: int) -> Shown | None:
    """Return how a version shows a stored document: one with keys that it lacks as if there were none."""
    return None if _VTEP_KEY.is_known(minor) else _without_vtep


_NOTHING: Final = orjson.Fragment(b"{}")


def _without_vtep(text: str | None) -> object:
    # Nearly none has such a key, so nearly none is parsed.
    if text is None or ('"vtep-' in text and orjson.loads(text).keys() & _VTEP):
        return _NOTHING
    return orjson.Fragment(text)
