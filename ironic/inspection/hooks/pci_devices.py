"""Hook pci-devices: how many of the devices that an operator has named a machine has, as capabilities (S95)."""

import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from ironic.conf import CONF
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.hooks.capabilities import set_capabilities
from ironic.inspection.hooks.pci import PciDevice, devices_at, identifier
from ironic.inspection.reading import text_at
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

Aliases = Mapping[tuple[str, str], str]

_SEPARATORS: Final = ":,"


class PciDevices(InspectionHook):
    """Count devices."""

    def __init__(self) -> None:
        self.aliases = aliases(CONF.inspector.pci_device_alias)

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set a capability for each alias of which there are devices."""
        if found := counts(devices_at(plugin_data), self.aliases):
            set_capabilities(task, found)


def aliases(texts: Iterable[str]) -> dict[tuple[str, str], str]:
    """Read the option; an entry that can't be used is passed over with a warning."""
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
                "An entry of [inspector]pci_device_alias is not used: %s. It has to be a JSON object with vendor_id, "
                "product_id (hexadecimal) and name (without colons and commas).",
                text,
            )
    return found


def counts(devices: Iterable[PciDevice], names: Aliases) -> dict[str, str]:
    """Return how many devices there are of each alias; several models may share one."""
    found = Counter(names[device.model] for device in devices if device.model in names)
    return {name: str(count) for name, count in found.items()}
