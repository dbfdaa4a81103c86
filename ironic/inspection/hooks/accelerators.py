"""Hook accelerators: GPUs and the like, known by their PCI numbers, become property accelerators (S88).

Which devices are accelerators stands in a YAML file that is read when the service starts; one that can't be used stops
the start.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.hooks.pci import PciDevice, devices_at, identifier
from ironic.inspection.reading import at, text_at
from ironic.inspection.staged_task import StagedTask

Known = Mapping[tuple[str, str], Mapping[str, str]]

_FIELDS: Final = ("vendor_id", "device_id", "type", "device_info")


class Accelerators(InspectionHook):
    """Note the accelerators of a machine."""

    def __init__(self) -> None:
        self.known = load(CONF.inspector.known_accelerators)

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the property, to an empty list when no device is known; without devices nothing happens."""
        source = next((data for data in (plugin_data, inventory) if isinstance(at(data, "pci_devices"), list)), None)
        if source is not None:
            task.node.set_property("accelerators", accelerators_among(devices_at(source), self.known))
            task.node.save()


def accelerators_among(devices: Iterable[PciDevice], known: Known) -> list[dict[str, Any]]:
    """Return what is to be said about the devices that are accelerators."""
    return [{**known[one.model], "pci_address": one.bus} for one in devices if one.model in known]


def load(path: str) -> dict[tuple[str, str], dict[str, str]]:
    """Return the devices of the file by their numbers, or raise InvalidParameterValue with what is wrong with it."""
    try:
        document = yaml.safe_load(Path(path).read_bytes())
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise _invalid(path, f"it can't be read: {error}") from None
    entries = at(document, "pci_devices")
    if not isinstance(entries, list):
        raise _invalid(path, "it has no list pci_devices")
    return dict(_entry(path, number, entry) for number, entry in enumerate(entries, 1))


def _entry(path: str, number: int, entry: Any) -> tuple[tuple[str, str], dict[str, str]]:
    found = {name: text for name in _FIELDS if (text := text_at(entry, name))}
    if len(found) < len(_FIELDS):
        raise _invalid(path, f"device {number} needs {', '.join(_FIELDS)}, each of them text")
    vendor, device = identifier(found["vendor_id"]), identifier(found["device_id"])
    if not vendor or not device:
        raise _invalid(path, f"vendor_id and device_id of device {number} have to be hexadecimal")
    return (vendor, device), found | {"vendor_id": vendor, "device_id": device}


def _invalid(path: str, reason: str) -> InvalidParameterValue:
    return InvalidParameterValue(err=f"The file of known accelerators {path} can't be used: {reason}.")
