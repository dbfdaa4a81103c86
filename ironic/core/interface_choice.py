"""Which implementation of an interface a node gets.

Two questions are answered from plain names: what the default of a hardware type is (asked by a conductor at start),
and what a node ends up with when its creator names some interfaces and leaves others open (asked by the API, which
knows the live conductors only by their table rows). Nothing is loaded here; the order of a list is always meant.
Sources: demands S7, S12, S13, S22, S24 and S25.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from ironic.core.errors import (
    DriverNotFound,
    IncompatibleInterface,
    InterfaceNotFoundInEntrypoint,
    NoValidDefaultForInterface,
)
from ironic.core.interface_kinds import KINDS


class InterfaceRow(NamedTuple):
    """One implementation that a conductor offers for a hardware type: a row of conductor_hardware_interfaces."""

    hardware_type: str
    interface_type: str
    interface_name: str
    default: bool
    # False for what a hardware type takes although it does not list it (fake-hardware takes anything).
    listed: bool = True


class Served(Protocol):
    """What is looked at in a row of any live conductor."""

    @property
    def hardware_type(self) -> str: ...
    @property
    def interface_type(self) -> str: ...
    @property
    def interface_name(self) -> str: ...
    @property
    def default(self) -> bool: ...


def choose_default(supported: Sequence[str], enabled: Collection[str], configured: str | None) -> str | None:
    """Return the default of a hardware type, None when there is none.

    What the operator configured wins and is never replaced by something else; without it, the first supported
    implementation that is enabled.
    """
    usable = [name for name in supported if name in enabled]
    if configured is not None:
        return configured if configured in usable else None
    return usable[0] if usable else None


def resolve(
    served: Iterable[Served],
    hardware_type: str,
    requested: Mapping[str, str | None],
    kinds: Iterable[str] = KINDS,
) -> dict[str, str]:
    """Return the interface of every kind for a node; a kind that is absent or None gets the default.

    The complete result is checked, so one call judges a change of the driver together with its interfaces. Fewer
    kinds are asked for where only those change: what was chosen earlier may have been disabled since (S26).
    """
    rows = list(served)
    mine = [row for row in rows if row.hardware_type == hardware_type]
    if not mine:
        raise DriverNotFound(driver=hardware_type)
    return {kind: _resolve_kind(rows, mine, hardware_type, kind, requested.get(kind)) for kind in kinds}


def _resolve_kind(
    rows: Sequence[Served], mine: Sequence[Served], hardware_type: str, kind: str, name: str | None
) -> str:
    if name is None:
        return _default_of(mine, hardware_type, kind)
    supported = _names(mine, kind)
    if name in supported:
        return name
    enabled = _names(rows, kind)
    if name in enabled:
        raise IncompatibleInterface(kind=kind, name=name, driver=hardware_type, supported=", ".join(supported))
    raise InterfaceNotFoundInEntrypoint(kind=kind, name=name, enabled=", ".join(enabled))


def _default_of(mine: Iterable[Served], hardware_type: str, kind: str) -> str:
    """Return the default; conductors that disagree (an upgrade under way) are outvoted, a tie goes by the name."""
    votes = Counter(row.interface_name for row in mine if row.interface_type == kind and row.default)
    if not votes:
        raise NoValidDefaultForInterface(kind=kind, driver=hardware_type)
    return min(votes, key=lambda name: (-votes[name], name))


def _names(rows: Iterable[Served], kind: str) -> list[str]:
    return sorted({row.interface_name for row in rows if row.interface_type == kind})
