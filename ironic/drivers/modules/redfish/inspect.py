"""Inspect interface `redfish`: read the inventory from the BMC without booting the machine.

The inventory has the form of a ramdisk's, so the same hooks and rules process it: those of [redfish]inspection_hooks
and, where [inspection_rules]supported_interfaces allows it, the rules. Every branch of the Redfish tree may be missing
or broken. What can't be read is left out and stays as it is on the node; that is no failure.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.flows import states
from ironic.core.readings import Whole
from ironic.core.values.root_device_hints import GIB
from ironic.drivers.contract.interfaces import InspectInterface
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.redfish.bmc_survey import SURVEY
from ironic.drivers.modules.redfish.tree import boot_cards
from ironic.drivers.modules.redfish.tree.inventory import Inventory, inventory_of, lldp_of, missing_of
from ironic.drivers.modules.redfish.tree.members import has_link
from ironic.drivers.modules.redfish.tree.network_cards import network_cards
from ironic.drivers.modules.redfish.wire.bmc_access import PROPERTIES, access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import read
from ironic.drivers.modules.redfish.wire.bmc_system import System
from ironic.drivers.nodes import node_attributes
from ironic.inspection import incomplete_lists
from ironic.inspection.hooks import enabled_hooks, root_disk_hooks
from ironic.inspection.hooks.base import PluginData, load_hooks
from ironic.inspection.hooks.root_disk_hooks import Disk
from ironic.inspection.pipeline import Pipeline
from ironic.inspection.reported_data import whole_number_at
from ironic.inspection.rules import RuleBook
from ironic.inspection.rules import load_built_in as load_rules

LOG = logging.getLogger(__name__)

_NAME: Final = "redfish"

# Smaller disks can't hold a system; ramdisks apply the same limit.
_SMALLEST_DISK: Final = 4 * GIB


class RedfishInspect(InspectInterface):
    """Out-of-band inspection through Redfish."""

    survey = SURVEY
    is_needed = True

    def __init__(self) -> None:
        self.hooks = load_hooks(enabled_hooks.names(_NAME))
        self.book = RuleBook(load_rules(CONF.inspection_rules.built_in))

    def get_properties(self) -> dict[str, str]:
        return dict(PROPERTIES)

    def validate(self, task: Task) -> None:
        """Raise InvalidParameterValue or MissingParameterValue when driver_info does not name the BMC."""
        access_of(task.node)

    def lacks(self, system: System) -> str | None:
        if has_link(system, "EthernetInterfaces") or network_cards(system):
            return None
        return "no list of network cards (EthernetInterfaces or NetworkAdapters); choose inspect interface agent"

    def inspect_hardware(self, task: Task) -> str:
        """Read the inventory, set properties, run hooks and rules; return MANAGEABLE."""
        node = task.node
        inventory, lldp, missing = read(
            task,
            "reading the inventory",
            lambda system: (
                _with_boot_cards(node, system),
                lldp_of(system),
                missing_of(system),
            ),
        )
        disks = Whole(inventory["disks"]) if not missing[incomplete_lists.DISKS] else None
        if disks is None:
            LOG.warning("Node %s: not all of its disks can be read; its root disk and local_gb stay", node.uuid)
        # Hints that match no disk raise here, before anything is set.
        disk = root_disk(disks, node.properties) if disks else None
        plugin_data: PluginData = {"parsed_lldp": lldp} if lldp else {}
        for name, texts in missing.items():
            incomplete_lists.mark(plugin_data, name, texts)
        if size := inventory.get("memory", {}).get("physical_mb"):
            node.set_property("memory_mb", size)
        if disk:
            plugin_data["root_disk"] = disk
            size = root_disk_hooks.local_gb(disk, CONF.inspector.disk_partitioning_spacing)
            if size is not None:
                node.set_property("local_gb", size)
        mode = inventory.get("boot", {}).get("current_boot_mode")
        if mode and not node_attributes.capability(node, "boot_mode"):
            node.set_property("capabilities", node_attributes.with_capability(node, "boot_mode", mode))
        self._process(task, inventory, plugin_data)
        return states.MANAGEABLE

    reapplies_data = True

    def reapply_inspection(self, task: Task, inventory: Mapping[str, Any], plugin_data: dict[str, object]) -> None:
        """Run hooks and rules on the data."""
        self._process(task, dict(inventory), plugin_data)

    def _process(self, task: Task, inventory: Inventory, plugin_data: PluginData) -> None:
        without = enabled_hooks.lacking_data(self.hooks, inventory)
        for reason in dict.fromkeys(without[hook.name] for hook in self.hooks if hook.name in without):
            LOG.warning("Node %s: %s", task.node.uuid, reason)
        hooks = [hook for hook in self.hooks if hook.name not in without]
        Pipeline([*hooks, enabled_hooks.pxe_flags(_NAME, task.ports)], self.book).run(task, inventory, plugin_data)


def root_disk(disks: Whole[Disk], properties: Mapping[str, object]) -> object:
    """Return the disk that the root device hints choose, or else the smallest large enough one; None without any."""
    hints, skipped = properties.get("root_device") or {}, properties.get("skip_block_devices") or []
    sized = ((size, disk) for disk in disks if (size := whole_number_at(disk, "size")) and size >= _SMALLEST_DISK)
    ordered = Whole(disk for _size, disk in sorted(sized, key=lambda one: one[0]))
    return root_disk_hooks.choose_root_disk(ordered, {}, hints, skipped)


def _with_boot_cards(node: Node, system: System) -> Inventory:
    """Return the inventory with the cards that the firmware boots from; `pxe_interface` is for a single one."""
    inventory = inventory_of(system)
    cards = {str(one.get("name")): str(one["mac_address"]) for one in inventory["interfaces"]}
    if booted := boot_cards.booted_from(node, system, cards):
        single = {"pxe_interface": booted[0]} if len(booted) == 1 else {}
        inventory["boot"] = {**inventory.get("boot", {}), enabled_hooks.BOOT_CARDS: booted, **single}
    return inventory
