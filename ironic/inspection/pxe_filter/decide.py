"""Who is served and who is not; a pure function of what is in the database and in the directory.

A file never goes: dnsmasq keeps the rule of a deleted file. What a MAC address is that no port has any more, unknown
hosts are. Source: doc/contract/inspection.md#pxe-filter.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from ironic.core import syntax

UNKNOWN_HOSTS: Final = "unknown_hosts_filter"

_ANY: Final = "*:*:*:*:*:*"


def is_ours(name: str) -> bool:
    """Tell whether a file of this name is one of the filter's."""
    return name == UNKNOWN_HOSTS or syntax.mac_of(name) == name


def rule(host: str, *, served: bool) -> str:
    """Return what dnsmasq is told of a host."""
    return f"{host}\n" if served else f"{host},ignore\n"


def wanted(ports: Mapping[str, bool], present: Iterable[str], *, unknown_served: bool) -> dict[str, str]:
    """Return the contents of all files; ``ports`` says by MAC address who is being inspected."""
    contents = {mac: rule(mac, served=inspected) for mac, inspected in ports.items() if is_ours(mac)}
    for name in present:
        if name != UNKNOWN_HOSTS and name not in contents:
            contents[name] = rule(name, served=unknown_served)
    contents[UNKNOWN_HOSTS] = rule(_ANY, served=unknown_served)
    return contents


def changes(contents: Mapping[str, str], present: Mapping[str, int]) -> dict[str, str]:
    """Return what is to be written; the size of a file tells which of its two contents it has."""
    return {name: text for name, text in contents.items() if present.get(name) != len(text)}
