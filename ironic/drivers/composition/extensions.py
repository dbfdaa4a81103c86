"""Installed hardware types, classic drivers and interface implementations, by the names of their entry points.

Listing reads a cache of stevedore; a module is imported only by ``load``. Tests pass plain dictionaries of the same
shape.

A hardware type lists names of entry points, or classes. For a class the entry point that publishes exactly this class
is searched. Listing a class imports its module, so the imported modules are searched first. An entry point of the same
package is loaded only if they do not contain the class.
"""

import logging
import sys
from collections.abc import Mapping
from typing import Any, Final, Protocol

from stevedore import named

from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.drivers.hardware_type import AbstractHardwareType

LOG = logging.getLogger(__name__)

TYPES_GROUP: Final = "ironic.hardware.types"
CLASSIC_GROUP: Final = "ironic.drivers"


class Extension(Protocol):
    """An entry point: ``value`` is ``module:name``, ``load`` imports it."""

    @property
    def value(self) -> str: ...
    def load(self) -> Any: ...


Extensions = Mapping[str, Mapping[str, Extension]]


class Ambiguous:
    """An entry point name that several packages publish for different objects (S3)."""

    def __init__(self, *values: str) -> None:
        self.value = " and ".join(values)

    def load(self) -> Any:
        """Raise ImportError that names all publishers."""
        raise ImportError(f"the name is published more than once, for {self.value}; uninstall all but one")


def interfaces_group(kind: str) -> str:
    """Return the entry point group of a kind of interface."""
    return f"ironic.hardware.interfaces.{kind}"


def installed() -> Extensions:
    """Return all installed drivers and interfaces, those of third parties included."""
    return {group: _entry_points(group) for group in (TYPES_GROUP, CLASSIC_GROUP, *map(interfaces_group, KINDS))}


def _entry_points(group: str) -> dict[str, Extension]:
    found: dict[str, Extension] = {}
    # A manager that loads no names still lists all; a name with the same value twice is one package on two paths.
    for point in named.NamedExtensionManager(group, names=[]).list_entry_points():
        known = found.setdefault(point.name, point)
        if known.value != point.value:
            found[point.name] = Ambiguous(known.value, point.value)
    return found


def supported_names(hardware_type: AbstractHardwareType, kind: str, extensions: Extensions) -> list[str]:
    """Return the names of a kind that a hardware type lists, in its order; unpublished ones are left out."""
    published = extensions.get(interfaces_group(kind), {})
    listed = getattr(hardware_type, f"supported_{interface_field(kind)}s")
    names = (entry if isinstance(entry, str) else _name_of(entry, published) for entry in listed)
    return list(dict.fromkeys(name for name in names if name is not None and name in published))


def _name_of(cls: type, published: Any) -> str | None:
    for find in (_imported, _from_same_package):
        for name, extension in published.items():
            if find(extension, cls) is cls:
                return str(name)
    LOG.debug("No entry point publishes %s.%s, so it can't be enabled.", cls.__module__, cls.__qualname__)
    return None


def _imported(extension: Extension, cls: type) -> object:
    """Return the object of an entry point if its module is imported already."""
    module, _, path = extension.value.partition(":")
    found: Any = sys.modules.get(module.strip())
    for attribute in path.split("[")[0].strip().split("."):
        found = getattr(found, attribute, None)
    return found


def _from_same_package(extension: Extension, cls: type) -> object:
    """Load an entry point of the class's own package; return None for one of another package or a broken one."""
    if extension.value.partition(".")[0] != cls.__module__.partition(".")[0]:
        return None
    try:
        return extension.load()
    except Exception:
        return None
