"""Hooks for PCI devices: pci-devices counts named devices, accelerators lists GPUs and similar devices.

The known accelerators are in a YAML file that is read when the service starts; a malformed file stops the start.
"""

import json
import logging
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.readings import Whole
from ironic.core.texts.operator_files import document_in
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.hooks.basic_properties import set_capabilities
from ironic.inspection.incomplete_lists import PCI_DEVICES, whole_list
from ironic.inspection.reported_data import text_at, value_at
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

Aliases = Mapping[tuple[str, str], str]
Known = Mapping[tuple[str, str], Mapping[str, str]]

_BUS: Final = re.compile(r"[0-9A-Fa-f]{1,8}(?:[:.][0-9A-Fa-f]{1,4}){1,3}")
_LARGEST_ID: Final = 4  # hexadecimal digits
_SEPARATORS: Final = ":,"  # of capabilities
_FIELDS: Final = ("vendor_id", "device_id", "type", "device_info")


class PciDevice(NamedTuple):
    """One device; ids are four lower case hexadecimal digits, ``bus`` is its PCI address."""

    vendor_id: str
    product_id: str
    bus: str | None = None

    @property
    def model(self) -> tuple[str, str]:
        """The ids of vendor and product."""
        return self.vendor_id, self.product_id


def identifier(value: object) -> str | None:
    """Return a vendor or product id as four lower case hexadecimal digits, None when it is invalid."""
    if not isinstance(value, str):
        return None
    digits = value.strip().lower().removeprefix("0x")
    if not digits or len(digits) > _LARGEST_ID or not all(digit in "0123456789abcdef" for digit in digits):
        return None
    return digits.zfill(_LARGEST_ID)


def devices_at(
    data: Mapping[str, object], plugin_data: PluginData, models: Collection[tuple[str, str]]
) -> Whole[PciDevice] | None:
    """Return the devices under `pci_devices`; None when what can't be read may be one of these models."""
    entries = whole_list(data, plugin_data, PCI_DEVICES)
    if entries is None:
        return None
    found = []
    for entry in entries:
        vendor, product = (identifier(text_at(entry, name)) for name in ("vendor_id", "product_id"))
        if vendor and product:
            bus = text_at(entry, "bus")
            is_said = isinstance(entry, Mapping) and "bus" in entry
            if is_said and (vendor, product) in models and not _BUS.fullmatch(bus or ""):
                return None
            found.append(PciDevice(vendor, product, bus))
        elif any(vendor in (None, model[0]) and product in (None, model[1]) for model in models):
            return None
    return Whole(found)


class PciDevices(InspectionHook):
    """Set a capability to the number of PCI devices for each alias of the option (S95)."""

    runs_dry = True

    def __init__(self) -> None:
        self.aliases = aliases(CONF.inspector.pci_device_alias)

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the capabilities of aliases that have devices; a part of the devices sets none."""
        if plugin_data.get("pci_devices") is None:
            return
        devices = devices_at(plugin_data, plugin_data, self.aliases)
        if devices is None:
            LOG.warning(
                "Node %s: not all of its PCI devices can be read; capabilities stay as they are", task.node.uuid
            )
        elif found := counts(devices, self.aliases):
            set_capabilities(task, found)


def aliases(texts: Iterable[str]) -> dict[tuple[str, str], str]:
    """Return the aliases of the option by vendor and product; a malformed entry is ignored with a warning."""
    found = {}
    for text in texts:
        try:
            entry = json.loads(text)
        except ValueError:
            entry = None
        vendor, product = (identifier(text_at(entry, name)) for name in ("vendor_id", "product_id"))
        name = text_at(entry, "name")
        if vendor and product and name and not set(_SEPARATORS) & set(name):
            found[vendor, product] = name
        else:
            LOG.warning(
                "An entry of [inspector]pci_device_alias is ignored: %s. It has to be a JSON object with vendor_id, "
                "product_id (hexadecimal) and name (without colons and commas).",
                text,
            )
    return found


def counts(devices: Whole[PciDevice], names: Aliases) -> dict[str, str]:
    """Return the number of devices of each alias; several models may share one."""
    found = Counter(names[device.model] for device in devices if device.model in names)
    return {name: str(count) for name, count in found.items()}


class Accelerators(InspectionHook):
    """Set property `accelerators` to the GPUs and similar devices, known by their PCI ids (S88)."""

    runs_dry = True

    def __init__(self) -> None:
        self.known = load_accelerators(CONF.inspector.known_accelerators)

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the property, to an empty list when no device is known; data without a list of devices change nothing."""
        source = next(
            (data for data in (plugin_data, inventory) if isinstance(value_at(data, "pci_devices"), list)), None
        )
        if source is None:
            return
        devices = devices_at(source, plugin_data, self.known)
        if devices is None:
            LOG.warning(
                "Node %s: not all of its PCI devices can be read; accelerators stay as they are", task.node.uuid
            )
            return
        task.node.set_property("accelerators", accelerators_among(devices, self.known))
        task.node.save()


def accelerators_among(devices: Whole[PciDevice], known: Known) -> list[dict[str, Any]]:
    """Return the property's entries for the devices that are accelerators."""
    return [{**known[one.model], "pci_address": one.bus} for one in devices if one.model in known]


def load_accelerators(path: str) -> dict[tuple[str, str], dict[str, str]]:
    """Return the accelerators of the file by vendor and device, or raise InvalidParameterValue with the first fault."""
    try:
        document = document_in(Path(path))
    except (OSError, ValueError) as error:
        raise _invalid(path, f"it can't be read: {error}") from None
    entries = value_at(document, "pci_devices")
    if not isinstance(entries, list):
        raise _invalid(path, "it has no list pci_devices")
    known = {}
    for number, entry in enumerate(entries, 1):
        found = {name: text for name in _FIELDS if (text := text_at(entry, name))}
        if len(found) < len(_FIELDS):
            raise _invalid(path, f"device {number} needs {', '.join(_FIELDS)}, each of them text")
        vendor, device = identifier(found["vendor_id"]), identifier(found["device_id"])
        if not vendor or not device:
            raise _invalid(path, f"vendor_id and device_id of device {number} have to be hexadecimal")
        known[vendor, device] = found | {"vendor_id": vendor, "device_id": device}
    return known


def _invalid(path: str, reason: str) -> InvalidParameterValue:
    return InvalidParameterValue(err=f"The file of known accelerators {path} can't be used: {reason}.")
