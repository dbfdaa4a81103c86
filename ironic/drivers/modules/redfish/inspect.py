"""Inspect interface `redfish`: read the inventory from the BMC without booting the machine.

The inventory has the form of a ramdisk's, so the same hooks and rules process it: those of [redfish]inspection_hooks
and, where [inspection_rules]supported_interfaces allows it, the rules. Every branch of the Redfish tree may be missing
or broken. What can't be read is left out and stays as it is on the node; that is no failure.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

import sushy

from ironic.conf import CONF
from ironic.core.flows import states
from ironic.core.readings import Seen
from ironic.core.values.root_device_hints import GIB
from ironic.drivers.contract.interfaces import InspectInterface
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.redfish.tree import bmc_devices, boot_cards
from ironic.drivers.modules.redfish.tree.bmc_survey import SURVEY, has_link
from ironic.drivers.modules.redfish.tree.boot_settings import boot_of
from ironic.drivers.modules.redfish.tree.certainty import Document, Resource
from ironic.drivers.modules.redfish.tree.inventory_values import Found, known, word_of
from ironic.drivers.modules.redfish.tree.members import is_there, seen_drives, seen_members
from ironic.drivers.modules.redfish.tree.network_cards import network_cards, seen_cards
from ironic.drivers.modules.redfish.tree.processors_and_memory import cpu_of, memory_of
from ironic.drivers.modules.redfish.wire.bmc_access import PROPERTIES, access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import System, optional, read
from ironic.drivers.modules.redfish.wire.document_repair import fault_at
from ironic.drivers.nodes import node_attributes
from ironic.inspection import incomplete_lists
from ironic.inspection.hooks import enabled_hooks, root_disk_hooks
from ironic.inspection.hooks.base import PluginData, load_hooks
from ironic.inspection.pipeline import Pipeline
from ironic.inspection.rules import RuleBook
from ironic.inspection.rules import load_built_in as load_rules

LOG = logging.getLogger(__name__)

Inventory = dict[str, Any]

_NAME: Final = "redfish"
_MODES: Final = {sushy.BOOT_SOURCE_MODE_UEFI: "uefi", sushy.BOOT_SOURCE_MODE_BIOS: "bios"}

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
            lambda system: (_with_boot_cards(node, system), _lldp(system), _missing(system)),
        )
        # Hints that match no disk raise here, before anything is set.
        disk = root_disk(inventory, node.properties) if inventory["disks"] else None
        plugin_data: PluginData = {"parsed_lldp": lldp} if lldp else {}
        for name, texts in missing.items():
            incomplete_lists.mark(plugin_data, name, texts)
        if disk and missing[incomplete_lists.DISKS]:
            LOG.warning("Node %s: not all of its disks can be read; its root disk and local_gb stay", node.uuid)
            disk = None
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


def root_disk(inventory: Inventory, properties: Mapping[str, object]) -> object:
    """Return the disk that the root device hints choose, or else the smallest large enough one; None without any."""
    hints, skipped = properties.get("root_device") or {}, properties.get("skip_block_devices") or []
    large = [disk for disk in inventory["disks"] if (disk.get("size") or 0) >= _SMALLEST_DISK]
    ordered = {"disks": sorted(large, key=lambda disk: disk["size"])}
    return root_disk_hooks.choose_root_disk(ordered, {}, hints, skipped)


# The inventory


def inventory_of(system: System) -> Inventory:
    """Return the inventory that the BMC reports, in the form of a ramdisk's; interfaces and disks may be empty."""
    nothing: Found = {}
    found: Inventory = {
        "interfaces": _list(_interfaces, system),
        "cpu": optional(lambda: cpu_of(system), nothing),
        "memory": optional(lambda: memory_of(system), nothing),
        "disks": list(_disks(system).items),
        "storage_controllers": _list(bmc_devices.storage_controllers, system),
        "pci_devices": list(bmc_devices.pci_devices(system).items),
        "boot": optional(lambda: _boot(system), nothing),
        "system_vendor": known(
            manufacturer=system.manufacturer,
            product_name=system.model,
            serial_number=system.serial_number,
            system_uuid=system.uuid,
        ),
    }
    return {key: value for key, value in found.items() if value or key in ("interfaces", "disks")}


def _with_boot_cards(node: Node, system: System) -> Inventory:
    """Return the inventory with the cards that the firmware boots from; `pxe_interface` is for a single one."""
    inventory = inventory_of(system)
    cards = {str(one.get("name")): str(one["mac_address"]) for one in inventory["interfaces"]}
    if booted := boot_cards.booted_from(node, system, cards):
        single = {"pxe_interface": booted[0]} if len(booted) == 1 else {}
        inventory["boot"] = {**inventory.get("boot", {}), enabled_hooks.BOOT_CARDS: booted, **single}
    return inventory


def _lldp(system: System) -> dict[str, Found]:
    nothing: dict[str, Found] = {}
    return optional(lambda: bmc_devices.parsed_lldp(system), nothing)


def _list(find: Callable[[Any], Iterable[Found]], resource: Any) -> list[Found]:
    nothing: list[Found] = []
    return optional(lambda: list(find(resource)), nothing)


def _interfaces(system: System) -> Iterable[Found]:
    for card in network_cards(system):
        yield known(name=card.name, mac_address=card.mac_address, speed_mbps=card.speed_mbps)


def _disks(system: System) -> Seen[Found]:
    """Return the drives of storage controllers and the devices of simple ones, and what can't be read of them."""
    found, missing = list[Found](), list[str]()
    for name, part in (("storage", _drives), ("simple_storage", _simple_devices)):
        controllers = seen_members(system, name)
        missing += controllers.missing
        for controller in controllers.items:
            unread: Seen[Found] = Seen((), (f"the disks of {controller.path} can't be read",))
            disks = optional(partial(part, controller), unread)
            found += disks.items
            missing += disks.missing
    return Seen(found, missing)


def _drives(controller: Any) -> Seen[Found]:
    seen = seen_drives(controller)
    drives = [drive for drive in seen.items if is_there(drive)]
    found = [
        known(
            name=drive.name or drive.identity,
            size=drive.capacity_bytes,
            serial=drive.serial_number,
            model=drive.model,
            vendor=drive.manufacturer,
            rotational={"HDD": True, "SSD": False}.get(word_of(drive.media_type) or ""),
        )
        for drive in drives
    ]
    return Seen(found, seen.missing).with_missing(*_odd_sizes(drives))


def _simple_devices(controller: Any) -> Seen[Found]:
    fault = fault_at(controller.json, "Devices")
    missing = () if fault is None else (f"Devices of {controller.path} {fault}",)
    found = [known(name=device.name, size=device.capacity_bytes) for device in controller.devices or ()]
    odd = [Document(controller.path, device) for device in controller.json.get("Devices", ())]
    return Seen(found, missing).with_missing(*_odd_sizes(odd))


def _odd_sizes(disks: Iterable[Resource]) -> list[str]:
    faults = ((disk.path, fault_at(disk.json, "CapacityBytes")) for disk in disks)
    return [f"CapacityBytes of {path} {fault}" for path, fault in faults if fault is not None]


def _missing(system: System) -> dict[str, tuple[str, ...]]:
    """Return what can't be read of the lists by which something may be taken back, or chosen."""
    return {
        incomplete_lists.INTERFACES: seen_cards(system).missing,
        incomplete_lists.DISKS: _disks(system).missing,
        incomplete_lists.PCI_DEVICES: bmc_devices.pci_devices(system).missing,
    }


def _boot(system: System) -> Found:
    return known(current_boot_mode=_MODES.get(boot_of(system).mode.shown(None)))
