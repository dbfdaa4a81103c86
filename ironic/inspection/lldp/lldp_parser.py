"""Parse LLDP frames that a ramdisk captured into named facts about the switch and its port.

A ramdisk reports a frame as a list of [type, hexadecimal value]. A machine may send anything, so there are limits on
interfaces, on values per frame (S94) and on the length of each. Malformed values are left out, and cost no other value.
Facts that are lists collect several values; of other facts the first value counts, so a hostile tail changes nothing.
Source: doc/contract/inspection.md#lldp.
"""

import itertools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeGuard

from ironic.inspection.lldp import lldp_values
from ironic.inspection.lldp.lldp_values import Facts
from ironic.inspection.reported_data import list_at, text_at, value_at

LOG = logging.getLogger(__name__)

MOST_INTERFACES: Final = 64
# A frame fits into one Ethernet packet: 1500 bytes, two of which begin each value.
MOST_VALUES: Final = 750
LONGEST_VALUE: Final = 511
_LARGEST_TYPE: Final = 127
_END: Final = 0
_LONGEST_LIST: Final = 256

CAPABILITIES: Final = (
    "Repeater",
    "Bridge",
    "WLAN",
    "Router",
    "Telephone",
    "DOCSIS cable device",
    "Station only",
    "C-Vlan",
    "S-Vlan",
    "TPMR",
)
# Bit 0 means "other".
_FIRST_CAPABILITY: Final = 1


class Value(NamedTuple):
    """One value (TLV) of a frame: its type, and the bytes after the header."""

    kind: int
    data: bytes


class MalformedValue(ValueError):
    """A value of a frame is not [type, hexadecimal text], or too long."""


def frames_of(inventory: Mapping[str, object], plugin_data: Mapping[str, object]) -> dict[str, list[object]]:
    """Return the raw frames by interface name: those of the LLDP collector, else those in the inventory."""
    collected = value_at(plugin_data, "lldp_raw")
    raw = collected if isinstance(collected, Mapping) else {}
    frames = {
        name: next(filter(_is_frame, (raw.get(name), value_at(one, "lldp"))), None)
        for one in list_at(inventory, "interfaces")
        if (name := text_at(one, "name"))
    }
    found = {name: frame for name, frame in {**raw, **frames}.items() if _is_frame(frame)}
    if len(found) > MOST_INTERFACES:
        LOG.warning(
            "LLDP data of %d interfaces are reported; only those of the first %d are used", len(found), MOST_INTERFACES
        )
    return dict(itertools.islice(found.items(), MOST_INTERFACES))


def _is_frame(found: object) -> TypeGuard[list[object]]:
    return isinstance(found, list) and bool(found)


def decode(frame: Sequence[object]) -> Iterator[Value]:
    """Iterate over the values of a frame up to its end; malformed ones are left out."""
    for item in itertools.islice(frame, MOST_VALUES):
        try:
            value = _value(item)
        except MalformedValue as error:
            LOG.info("A value of an LLDP frame is left out: %s", error)
            continue
        if value.kind == _END:
            return
        yield value


def _value(item: object) -> Value:
    if not isinstance(item, list | tuple) or len(item) != 2:
        raise MalformedValue("it is no pair of a type and a value")
    kind, text = item
    if not isinstance(kind, int) or isinstance(kind, bool) or not 0 <= kind <= _LARGEST_TYPE:
        raise MalformedValue("its type is no number from 0 to 127")
    if not isinstance(text, str) or len(text) > 2 * LONGEST_VALUE:
        raise MalformedValue(f"value of type {kind} is no text or longer than {LONGEST_VALUE} bytes")
    try:
        return Value(kind, bytes.fromhex(text))
    except ValueError:
        raise MalformedValue(f"value of type {kind} is not hexadecimal") from None


def parse_frame(frame: Sequence[object]) -> Facts:
    """Return the facts of a frame as it was reported; malformed and unknown values are left out."""
    facts: Facts = {}
    for value in decode(frame):
        read = _READERS.get(value.kind)
        for name, found in read(value.data).items() if read else ():
            known: Any = facts.setdefault(name, found)
            if known is not found and name in _COLLECTED and len(known) < _LONGEST_LIST:
                facts[name] = known + [one for one in found if one not in known]
    return facts


def capabilities(data: bytes) -> Facts:
    """Return the capabilities that a switch supports, and those that are enabled."""
    if len(data) < 4:
        return {}
    return {
        "switch_capabilities_support": _words(data[:2]),
        "switch_capabilities_enabled": _words(data[2:4]),
    }


def _words(data: bytes) -> list[str]:
    bits = int.from_bytes(data, "big")
    return [word for bit, word in enumerate(CAPABILITIES, _FIRST_CAPABILITY) if bits & 1 << bit]


def _named(name: str, read: Callable[[bytes], object]) -> Callable[[bytes], Facts]:
    def reader(data: bytes) -> Facts:
        found = read(data)
        return {} if found is None else {name: found}

    return reader


_COLLECTED: Final = frozenset(
    {
        "switch_mgmt_addresses",
        "switch_port_protocol_vlan_ids",
        "switch_port_vlans",
        "switch_protocol_identities",
    }
)

_READERS: Final[Mapping[int, Callable[[bytes], Facts]]] = {
    1: _named("switch_chassis_id", lldp_values.chassis_id),
    2: _named("switch_port_id", lldp_values.port_id),
    4: _named("switch_port_description", lldp_values.plain_text),
    5: _named("switch_system_name", lldp_values.plain_text),
    6: _named("switch_system_description", lldp_values.plain_text),
    7: capabilities,
    8: lldp_values.management_addresses,
    127: lldp_values.read_organization_value,
}
