"""From the lists of a hardware type to names of entry points.

A list may hold names, which are taken as they are, and classes, for which the entry point that publishes exactly this
class has to be found. Whoever lists a class has imported it, so nearly always a look at what is imported already is
enough. Only an entry point of the same package that nobody has imported yet is loaded to see what it is.
"""

import logging
import sys
from typing import Any

from ironic.core.interface_kinds import interface_field
from ironic.drivers.extensions import Extension, Extensions, interfaces_group
from ironic.drivers.hardware_type import AbstractHardwareType

LOG = logging.getLogger(__name__)


def supported_names(hardware_type: AbstractHardwareType, kind: str, extensions: Extensions) -> list[str]:
    """Return the supported implementations of a kind in order; what nobody has published is left out."""
    published = extensions.get(interfaces_group(kind), {})
    listed = getattr(hardware_type, f"supported_{interface_field(kind)}s")
    names = (entry if isinstance(entry, str) else _name_of(entry, published) for entry in listed)
    return list(dict.fromkeys(name for name in names if name is not None and name in published))


def _name_of(cls: type, published: Any) -> str | None:
    for find in (_imported, _from_same_package):
        for name, extension in published.items():
            if find(extension, cls) is cls:
                return str(name)
    LOG.debug("No entry point publishes %s.%s; it can't be enabled.", cls.__module__, cls.__qualname__)
    return None


def _imported(extension: Extension, cls: type) -> object:
    """Return what an entry point stands for if that is imported already."""
    module, _, path = extension.value.partition(":")
    found: Any = sys.modules.get(module.strip())
    for attribute in path.split("[")[0].strip().split("."):
        found = getattr(found, attribute, None)
    return found


def _from_same_package(extension: Extension, cls: type) -> object:
    """Return what an entry point of the class's own package stands for; one that can't be imported isn't it."""
    if extension.value.partition(".")[0] != cls.__module__.partition(".")[0]:
        return None
    try:
        return extension.load()
    except Exception:
        return None
