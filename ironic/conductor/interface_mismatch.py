"""Find conductors that serve one driver with different interfaces (S34).

That is no error, because a site may be in the middle of a change. But a node then gets other abilities when it moves
from one conductor to the other, so the operator is warned. Conductors may serve different drivers. A name that is a
classic driver on one and a hardware type on another differs in every kind of interface, and is reported once.
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
    def interface_name(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Difference:
    """One kind of interface of one driver that conductors serve differently; ``offered`` is by host."""

    hardware_type: str
    interface_type: str
    offered: Mapping[str, frozenset[str | None]]

    @property
    def is_of_types(self) -> bool:
        """Whether the driver is a classic one, with interfaces without names, on some of the conductors."""
        return any(None in names for names in self.offered.values())

    def __str__(self) -> str:
        if self.is_of_types:
            classic = sorted(host for host, names in self.offered.items() if None in names)
            return (
                f"{self.hardware_type} is a classic driver on {', '.join(classic)} and a hardware type on "
                f"{', '.join(sorted(self.offered.keys() - classic))}. Its nodes change when they move between these "
                f"conductors: remove the name from enabled_drivers or enabled_hardware_types."
            )
        sets: dict[frozenset[str | None], list[str]] = {}
        for host, names in sorted(self.offered.items()):
            sets.setdefault(names, []).append(host)
        listed = "; ".join(
            f"{', '.join(hosts)}: {', '.join(sorted(name or '' for name in names)) or 'none'}"
            for names, hosts in sets.items()
        )
        return (
            f"Conductors serve hardware type {self.hardware_type} with different {self.interface_type} interfaces. "
            f"{listed}. Bring the enabled_{self.interface_type}_interfaces options of all conductors in line unless "
            f"that is meant to be so."
        )


def differences(served: Iterable[Served]) -> list[Difference]:
    """Return one difference per driver and kind of interface that its conductors serve differently."""
    types: dict[str, dict[str, dict[str, set[str | None]]]] = {}
    for row in served:
        hosts = types.setdefault(row.hardware_type, {})
        hosts.setdefault(row.hostname, {}).setdefault(row.interface_type, set()).add(row.interface_name)
    compared = (
        Difference(name, kind, {host: frozenset(kinds.get(kind, ())) for host, kinds in hosts.items()})
        for name, hosts in sorted(types.items())
        for kind in KINDS
    )
    found = (difference for difference in compared if len(set(difference.offered.values())) > 1)
    return [one for one in found if not one.is_of_types or one.interface_type == KINDS[0]]
