"""Kinds of hardware interface, and which implementation of each a node gets.

The kinds are fixed in code (S2); their names, order and subsets come from doc/contract/drivers.md#kinds-of-interface. A
conductor chooses the default of each hardware type at start (`choose_default`). The API chooses the interfaces of a
node (`choose_interfaces`) from the table rows of the live conductors. The order of every list counts. Sources: demands
S7, S12, S13, S22, S24 and S25.

A classic driver is a driver with one fixed interface of each kind, which has no name (S19, S23). Its only possible
choice, and default, is therefore None. It has no rows in the table; `with_fixed` makes them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from ironic.core.errors import (
    DriverNotFound,
    FixedInterface,
    IncompatibleInterface,
    InterfaceNotFoundInEntrypoint,
    NoValidDefaultForInterface,
)

KINDS = (
    "bios",
    "boot",
    "console",
    "deploy",
    "firmware",
    "inspect",
    "management",
    "network",
    "power",
    "raid",
    "rescue",
    "storage",
    "vendor",
)

CORE_KINDS = ("boot", "deploy", "management", "network", "power")
OPTIONAL_KINDS = ("bios", "console", "firmware", "inspect", "raid", "rescue", "storage")


def interface_field(kind: str) -> str:
    """Return the name of the node field and column of a kind; names of options contain it."""
    return f"{kind}_interface"


# Some of `FACTS`, with spaces between.
Facts = str


class InterfaceRow(NamedTuple):
    """One implementation that a conductor offers for a driver: a row of conductor_hardware_interfaces."""

    hardware_type: str
    interface_type: str
    # None for a fixed interface of a classic driver.
    interface_name: str | None
    default: bool
    # False for an implementation that the hardware type accepts without listing it (fake-hardware accepts any).
    listed: bool = True
    # What the API has to know of the implementation.
    facts: Facts = ""


# Attributes of the class of an implementation that the API reads in the table, as it has no implementations.
FACTS = (
    # Its reports go to another service, which may be slow.
    "hands_reports_on",
    # The service knows the address of the BMC, so no ramdisk has to find it out.
    "knows_bmc_address",
)


class Served(Protocol):
    """One implementation that a live conductor serves."""

    @property
    def hardware_type(self) -> str: ...
    @property
    def interface_type(self) -> str: ...
    @property
    def interface_name(self) -> str | None: ...
    @property
    def default(self) -> bool: ...
    @property
    def facts(self) -> str: ...


def with_fixed(drivers: Iterable[str], rows: Sequence[InterfaceRow]) -> list[InterfaceRow]:
    """Return the rows of one conductor, and those of the fixed interfaces of its classic drivers.

    A hardware type has rows of every kind, so a driver without rows is a classic one.
    """
    dynamic = {row.hardware_type for row in rows}
    fixed = (InterfaceRow(name, kind, None, True) for name in drivers if name not in dynamic for kind in KINDS)
    return [*rows, *fixed]


def facts_of(implementation: object) -> str:
    """Return what the table has of an implementation."""
    return " ".join(name for name in FACTS if getattr(implementation, name, False))


def with_fact(served: Iterable[Served], fact: str) -> set[tuple[str, str | None]]:
    """Return kind and name of the implementations of which a conductor says this."""
    return {(row.interface_type, row.interface_name) for row in served if fact in row.facts.split()}


def choose_default(supported: Sequence[str], enabled: Collection[str], configured: str | None) -> str | None:
    """Return the default of a hardware type; None when there is none.

    A configured default wins and is never replaced by another one; without it, the first supported implementation that
    is enabled.
    """
    usable = [name for name in supported if name in enabled]
    if configured is not None:
        return configured if configured in usable else None
    return usable[0] if usable else None


def choose_interfaces(
    served: Iterable[Served],
    hardware_type: str,
    requested: Mapping[str, str | None],
    kinds: Iterable[str] = KINDS,
    *,
    kept: Mapping[str, str | None] | None = None,
) -> dict[str, str | None]:
    """Return the interface of every kind for a node; a kind that is absent or None gets the default.

    ``kept`` has the node's own interfaces where the request does not mention them: they must be supported as well, but
    a fixed interface replaces them. The complete result is checked, so one call covers a change of the driver together
    with its interfaces. Pass fewer kinds where only those change: an earlier choice may have been disabled since (S26).
    Raises DriverNotFound, NoValidDefaultForInterface, IncompatibleInterface, FixedInterface or
    InterfaceNotFoundInEntrypoint.
    """
    rows = list(served)
    mine = [row for row in rows if row.hardware_type == hardware_type]
    if not mine:
        raise DriverNotFound(driver=hardware_type)
    chosen: dict[str, str | None] = {}
    for kind in kinds:
        supported, name = _names(mine, kind), requested.get(kind)
        if name is None and kept and supported:
            name = kept.get(kind)
        if name is None:
            name = _default_of(mine, hardware_type, kind)
        elif name not in supported:
            if not supported and any(row.interface_name is None for row in mine):
                raise FixedInterface(kind=kind, driver=hardware_type)
            enabled = _names(rows, kind)
            if name in enabled:
                raise IncompatibleInterface(kind=kind, name=name, driver=hardware_type, supported=", ".join(supported))
            raise InterfaceNotFoundInEntrypoint(kind=kind, name=name, enabled=", ".join(enabled))
        chosen[kind] = name
    return chosen


def _default_of(mine: Iterable[Served], hardware_type: str, kind: str) -> str | None:
    """Return the default of most conductors, which may differ during an upgrade; the first by name in a tie."""
    votes = Counter(row.interface_name for row in mine if row.interface_type == kind and row.default)
    if not votes:
        raise NoValidDefaultForInterface(kind=kind, driver=hardware_type)
    return min(votes, key=lambda name: (-votes[name], name or ""))


def _names(rows: Iterable[Served], kind: str) -> list[str]:
    return sorted({row.interface_name for row in rows if row.interface_type == kind and row.interface_name})
