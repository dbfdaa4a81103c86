"""One LLDP frame, made readable: named facts about a switch and the port that a machine is connected to.

Lists collect what several values say; of anything else the first one wins, so a hostile tail changes nothing.
Source: doc/contract/inspection.md#lldp.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ironic.inspection.lldp import identifiers, organizations
from ironic.inspection.lldp.frames import lenient
from ironic.inspection.lldp.organizations import Facts

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
# The first bit of the standard stands for "other".
_FIRST_CAPABILITY: Final = 1
_END: Final = 0
_LONGEST_LIST: Final = 256


def parse(frame: Sequence[object]) -> Facts:
    """Return the facts of a frame as it was reported; what can't be read is left out."""
    facts: Facts = {}
    for value in lenient(frame):
        if value.kind == _END:
            break
        for name, found in _READERS.get(value.kind, _nothing)(value.data).items():
            _add(facts, name, found)
    return facts


def capabilities(data: bytes) -> Facts:
    """Read what a switch can do and what of it is switched on."""
    if len(data) < 4:
        return {}
    return {
        "switch_capabilities_support": _words(data[:2]),
        "switch_capabilities_enabled": _words(data[2:4]),
    }


def _words(data: bytes) -> list[str]:
    bits = int.from_bytes(data, "big")
    return [word for bit, word in enumerate(CAPABILITIES, _FIRST_CAPABILITY) if bits & 1 << bit]


def _add(facts: Facts, name: str, found: Any) -> None:
    known = facts.setdefault(name, found)
    if known is not found and name in _COLLECTED and len(known) < _LONGEST_LIST:
        facts[name] = known + [one for one in found if one not in known]


def _named(name: str, read: Callable[[bytes], object]) -> Callable[[bytes], Facts]:
    def reader(data: bytes) -> Facts:
        found = read(data)
        return {} if found is None else {name: found}

    return reader


def _management_addresses(data: bytes) -> list[str] | None:
    found = identifiers.management_address(data)
    return None if found is None else [found]


def _nothing(data: bytes) -> Facts:
    return {}


_COLLECTED: Final = frozenset(
    {
        "switch_mgmt_addresses",
        "switch_port_protocol_vlan_ids",
        "switch_port_vlans",
        "switch_protocol_identities",
    }
)

_READERS: Final[Mapping[int, Callable[[bytes], Facts]]] = {
    1: _named("switch_chassis_id", identifiers.chassis),
    2: _named("switch_port_id", identifiers.port),
    4: _named("switch_port_description", identifiers.text),
    5: _named("switch_system_name", identifiers.text),
    6: _named("switch_system_description", identifiers.text),
    7: capabilities,
    8: _named("switch_mgmt_addresses", _management_addresses),
    127: organizations.read,
}
