"""The port and the port group, field by field, and the form of local_link_connection.

`local_link_connection` says where a port is plugged in. Defined here: its keys in each version, which of them are
needed together, and the spelling of a switch's id; network interfaces interpret the values. Whether the state of the
node allows a change is decided by `ironic.core.node_rules`. Sources: doc/contract/fields.md#local-link-connection,
doc/contract/fields.md#port, doc/contract/fields.md#port-group.
"""

import re
from bisect import bisect
from collections.abc import Mapping
from typing import ClassVar, Final, NamedTuple

import orjson

from ironic.core.errors import NotAcceptable
from ironic.core.errors.resource_errors import PortgroupNotFound, PortNotFound
from ironic.core.model.fields import ANYONE, CREATE, EVERY, NEVER, PATCH, REQUIRED, Belongs, Field, Filter, Resource
from ironic.core.secrets import masking
from ironic.core.values.value_types import (
    Bool,
    Datetime,
    Enum,
    Links,
    LogicalName,
    Mac,
    NameOrUuid,
    Object,
    Shown,
    StrictBool,
    Text,
    Uuid,
    ValueType,
    Words,
)

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
    """A key of the document: its type, the first version that has it and the first one that no longer has it."""

    type: ValueType
    since: int = 1
    until: int | None = None

    def is_known(self, minor: int) -> bool:
        """Return whether a version has the key."""
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
    """The port of a switch or a tunnel's end, the host of a smart NIC, an unmanaged connection, or empty."""

    noun = "a local link connection"

    def __init__(self, minor: int) -> None:
        self.minor = minor

    def at(self, minor: int) -> ValueType:
        """Return the type as a version has it."""
        return _FORMS[bisect(_FORMS, minor, key=lambda form: form.minor) - 1]

    def validate(self, value: object) -> dict[str, object]:
        """Check the keys and their values; return them with the id of the switch in lower case."""
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


# One instance for all versions between two changes: types are compared by identity.
_FORMS: Final = [
    LocalLink(minor) for minor in sorted({change for key in _KEYS.values() for change in (key.since, key.until or 1)})
]
LOCAL_LINK: Final = _FORMS[-1]


def of_version(minor: int) -> Shown | None:
    """Return how a version shows a stored document; None: unchanged. One with keys that the version lacks is empty."""
    return None if _VTEP_KEY.is_known(minor) else _without_vtep


_EMPTY: Final = orjson.Fragment(b"{}")


def _without_vtep(text: str | None) -> object:
    # Hardly any document has such a key, so the text is searched before it is parsed.
    if text is None or ('"vtep-' in text and orjson.loads(text).keys() & _VTEP):
        return _EMPTY
    return orjson.Fragment(text)


class Port(Resource):
    """A network card of a machine."""

    collection = "ports"
    singular = "port"
    word = "port"
    listed_since = 1
    has_name = True
    has_dotted_name = True
    belongs = Belongs.TO_NODE
    not_found = PortNotFound
    payload_version = "1.8"
    removes_newer = False
    marker: ClassVar[ValueType] = Uuid()
    own_filters = (
        Filter("node", Text(), store=None),
        Filter("node_uuid", Uuid()),
        Filter("address", Mac()),
        Filter("portgroup", NameOrUuid(), since=24, store=None),
        Filter("shard", Words(), since=82),
        Filter("conductor_groups", Words()),
        Filter("description_contains", Text(4096)),
    )

    uuid = Field(Uuid(), write=CREATE, plain=True, notified=EVERY)
    created_at = Field(Datetime(), write=NEVER)
    updated_at = Field(Datetime(), write=NEVER)
    address = Field(Mac(), nullable=False, empty=REQUIRED, plain=True, notified=EVERY)
    extra = Field(Object(), empty={}, notified=EVERY)
    internal_info = Field(Object(), since=18, named_early=True, write=NEVER, mask=masking.masked)
    is_smartnic = Field(Bool(), since=53, empty=False, notified=EVERY)
    local_link_connection = Field(LOCAL_LINK, since=19, empty={}, render=of_version, by_rules=Object(), notified=EVERY)
    physical_network = Field(Text(64, 1), since=34, notified=EVERY)
    pxe_enabled = Field(Bool(), since=19, empty=True, notified=EVERY)
    node_uuid = Field(Uuid(), write=CREATE | PATCH, nullable=False, sort=False, notified=EVERY)
    # Any text; a port whose name can't be part of a path is found by its UUID only.
    name = Field(Text(), since=88, ungated=PATCH, notified=EVERY)
    description = Field(Text(), since=97, ungated=PATCH, notified=EVERY)
    vendor = Field(Text(32), since=100, ungated=PATCH, notified=EVERY)
    category = Field(Text(80), since=101, ungated=PATCH, notified=EVERY)
    available_for_dynamic_portgroup = Field(StrictBool(), since=111, ungated=PATCH, empty=True, notified=EVERY)
    links = Field(Links("ports/{}"), write=NEVER, plain=True)
    portgroup_uuid = Field(Uuid(), since=24, write=CREATE | PATCH, sort=False, notified=EVERY)
    # The name or UUID of the node, in place of node_uuid.
    node_ident = Field(Text(255, 1), since=94, write=CREATE, column=None, hidden=True)


class Portgroup(Resource):
    """Several network cards of a machine that work as one."""

    collection = "portgroups"
    singular = "port group"
    word = "portgroup"
    listed_since = 23
    has_name = True
    has_dotted_name = True
    aborts = True
    belongs = Belongs.TO_NODE
    not_found = PortgroupNotFound
    payload_version = "1.3"
    removes_newer = False
    marker: ClassVar[ValueType] = Uuid()
    own_filters = (
        Filter("node", Text(), store=None),
        Filter("address", Mac()),
        Filter("shard", Words(), since=106),
        Filter("conductor_groups", Words()),
    )

    uuid = Field(Uuid(), since=23, write=CREATE, plain=True, notified=EVERY)
    created_at = Field(Datetime(), since=23, write=NEVER)
    updated_at = Field(Datetime(), since=23, write=NEVER)
    address = Field(Mac(), since=23, plain=True, notified=EVERY)
    extra = Field(Object(), since=23, empty={}, notified=EVERY)
    internal_info = Field(Object(), since=23, write=NEVER, mask=masking.masked)
    mode = Field(Text(), since=26, removed_since=None, notified=EVERY)
    name = Field(LogicalName(), since=23, plain=True, notified=EVERY)
    properties = Field(Object(), since=26, empty={}, notified=EVERY)
    standalone_ports_supported = Field(Bool(), since=23, empty=True, notified=EVERY)
    node_uuid = Field(Uuid(), since=23, nullable=False, empty=REQUIRED, sort=False, notified=EVERY)
    physical_network = Field(Text(64), since=102, named_early=True, ungated=ANYONE, notified=EVERY)
    category = Field(Text(80), since=103, named_early=True, ungated=ANYONE, notified=EVERY)
    dynamic_portgroup = Field(Bool(), since=111, write=NEVER, notified=EVERY)
    links = Field(Links("portgroups/{}"), since=23, write=NEVER, plain=True)
    ports = Field(Links("portgroups/{}/ports"), since=23, write=NEVER)
