"""Conductors that serve one hardware type with different interfaces (S34).

That is no error, a site may be in the middle of a change, but a node then gets other abilities when it moves from one
conductor to the other, so the operator is told. Different hardware types are nobody's concern.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol


class Served(Protocol):
    """One line of what a conductor serves."""

    @property
    def hardware_type(self) -> str: ...
    @property
    def interface_type(self) -> str: ...
    @property
    def interface_name(self) -> str: ...


class ServedElsewhere(Served, Protocol):
    """The same with the conductor's name."""

    @property
    def hostname(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Difference:
    """One kind of interface of one hardware type that conductors disagree on."""

    hardware_type: str
    interface_type: str
    here: frozenset[str]
    elsewhere: Mapping[str, frozenset[str]]

    def __str__(self) -> str:
        others = "; ".join(f"{host}: {_listed(names)}" for host, names in sorted(self.elsewhere.items()))
        return (
            f"Conductors serve hardware type {self.hardware_type} with different {self.interface_type} interfaces. "
            f"This one: {_listed(self.here)}; {others}. Bring the enabled_{self.interface_type}_interfaces options "
            f"of all conductors in line unless that is meant to be so."
        )


def differences(here: Iterable[Served], elsewhere: Iterable[ServedElsewhere]) -> list[Difference]:
    """Return one difference per hardware type and kind of interface for which another conductor has another set."""
    mine: dict[tuple[str, str], set[str]] = {}
    for row in here:
        mine.setdefault((row.hardware_type, row.interface_type), set()).add(row.interface_name)
    theirs: dict[tuple[str, str], dict[str, set[str]]] = {}
    common = {hardware_type for hardware_type, _kind in mine}
    for other in elsewhere:
        hosts = theirs.setdefault((other.hardware_type, other.interface_type), {})
        hosts.setdefault(other.hostname, set()).add(other.interface_name)
    return [
        Difference(*key, frozenset(mine.get(key, ())), differing)
        for key in sorted(theirs)
        if key[0] in common and (differing := _others(mine.get(key, set()), theirs[key]))
    ]


def _others(here: set[str], hosts: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {host: frozenset(names) for host, names in hosts.items() if names != here}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
