"""Find conductors that serve one hardware type with different interfaces (S34).

That is no error, because a site may be in the middle of a change. But a node then gets other abilities when it moves
from one conductor to the other, so the operator is warned. Conductors may serve different hardware types.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from ironic.core.hardware_interfaces import KINDS


class Served(Protocol):
    """One interface that a conductor serves."""

    @property
    def hostname(self) -> str: ...
    @property
    def hardware_type(self) -> str: ...
    @property
    def interface_type(self) -> str: ...
    @property
    def interface_name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Difference:
    """One kind of interface of one hardware type that conductors serve differently; ``offered`` is by host."""

    hardware_type: str
    interface_type: str
    offered: Mapping[str, frozenset[str]]

    def __str__(self) -> str:
        sets: dict[frozenset[str], list[str]] = {}
        for host, names in sorted(self.offered.items()):
            sets.setdefault(names, []).append(host)
        listed = "; ".join(f"{', '.join(hosts)}: {', '.join(sorted(names)) or 'none'}" for names, hosts in sets.items())
        return (
            f"Conductors serve hardware type {self.hardware_type} with different {self.interface_type} interfaces. "
            f"{listed}. Bring the enabled_{self.interface_type}_interfaces options of all conductors in line unless "
            f"that is meant to be so."
        )


def differences(served: Iterable[Served]) -> list[Difference]:
    """Return one difference per hardware type and kind of interface that its conductors serve differently."""
    types: dict[str, dict[str, dict[str, set[str]]]] = {}
    for row in served:
        hosts = types.setdefault(row.hardware_type, {})
        hosts.setdefault(row.hostname, {}).setdefault(row.interface_type, set()).add(row.interface_name)
    compared = (
        Difference(name, kind, {host: frozenset(kinds.get(kind, ())) for host, kinds in hosts.items()})
        for name, hosts in sorted(types.items())
        for kind in KINDS
    )
    return [difference for difference in compared if len(set(difference.offered.values())) > 1]
