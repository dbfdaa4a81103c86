"""What is installed: hardware types and implementations by the names of their entry points.

Listing costs a look into a cache of stevedore's; nothing is imported before somebody calls ``load``. Tests hand in
plain dictionaries of the same shape.
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from stevedore import named

from ironic.core.interface_kinds import KINDS

TYPES_GROUP: Final = "ironic.hardware.types"


class Extension(Protocol):
    """An entry point: where something is (``module:name``) and how to get it."""

    @property
    def value(self) -> str: ...
    def load(self) -> Any: ...


Extensions = Mapping[str, Mapping[str, Extension]]


class Ambiguous:
    """A name that several packages publish for different things (S3)."""

    def __init__(self, *values: str) -> None:
        self.value = " and ".join(values)

    def load(self) -> Any:
        """Refuse: nobody can tell which one is meant."""
        raise ImportError(f"the name is published more than once, for {self.value}; uninstall all but one")


def interfaces_group(kind: str) -> str:
    """Return the entry point group of a kind of interface."""
    return f"ironic.hardware.interfaces.{kind}"


def installed() -> Extensions:
    """Return everything that is installed, ours and third parties'."""
    return {group: _entry_points(group) for group in (TYPES_GROUP, *map(interfaces_group, KINDS))}


def _entry_points(group: str) -> dict[str, Extension]:
    found: dict[str, Extension] = {}
    # A manager told to load no names still knows them all; a name met twice is the same package seen by two paths.
    for point in named.NamedExtensionManager(group, names=[]).list_entry_points():
        known = found.setdefault(point.name, point)
        if known.value != point.value:
            found[point.name] = Ambiguous(known.value, point.value)
    return found
