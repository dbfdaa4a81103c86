"""Hooks that check a report: ramdisk-error fails the inspection, validate-interfaces keeps usable interfaces.

validate-interfaces sets these keys of the plug-in data: `all_interfaces` (every interface with a name and a MAC
address, by name, with `pxe_enabled`), `valid_interfaces` (those that may become ports), `macs` of the latter, and
`bmc_address`, the address at which the machine's BMC can be reached (S171). Source: doc/contract/inspection.md#hooks.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.errors import HardwareInspectionFailure
from ironic.core.texts import syntax
from ironic.core.texts.syntax import plain_text
from ironic.inspection import incomplete_lists
from ironic.inspection.hooks.base import InspectionHook, Inventory, Need, PluginData
from ironic.inspection.reported_data import bmc_address_of, ip_addresses_of, list_at, listed, text_at
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

Interfaces = dict[str, dict[str, object]]

# Of a loopback interface.
_NO_CARD: Final = "00:00:00:00:00:00"
_LOOPBACK: Final = "lo"
# By their usual names.
_BOND: Final = re.compile("bond|team|br")
_VLAN: Final = re.compile(r"[.:@]|vlan")
_LONGEST = 2000  # characters of an error

NEEDS_CARDS: Final = Need(
    ("interfaces",),
    "the BMC shows no network card with a MAC address; its ports stay as they are. Create them by hand, or choose "
    "inspect interface agent.",
)


class RamdiskError(InspectionHook):
    """Fail the inspection when the ramdisk reports an error (S84)."""

    runs_dry = True

    def preprocess(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Raise HardwareInspectionFailure with the ramdisk's error."""
        if error := plugin_data.get("error"):
            raise HardwareInspectionFailure(error=f"the ramdisk reported: {plain_text(error, _LONGEST)}")

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Do nothing."""


class ValidateInterfaces(InspectionHook):
    """List the usable ones of the reported network interfaces; fail when there are none (S86)."""

    runs_dry = True
    plugin_data_keys = ("all_interfaces", "valid_interfaces", "macs", "bmc_address")
    needs = NEEDS_CARDS

    def preprocess(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set the keys of the plug-in data, or fail when no interface is usable."""
        found = all_interfaces(inventory)
        if not found:
            raise HardwareInspectionFailure(error="the inventory has no interface with a name and a valid MAC address")
        wanted = CONF.inspector.add_ports
        valid = valid_interfaces(found, wanted)
        if not valid:
            raise HardwareInspectionFailure(
                error=f"none of the interfaces {listed(found)} is usable ([inspector]add_ports is '{wanted}')"
            )
        incomplete_lists.mark(plugin_data, incomplete_lists.INTERFACES, unread_cards(inventory))
        plugin_data["all_interfaces"] = found
        plugin_data["valid_interfaces"] = valid
        plugin_data["macs"] = macs_of(valid)
        if address := bmc_address(inventory):
            plugin_data["bmc_address"] = address
        LOG.debug("Node %s: usable interfaces are %s", task.node.uuid, listed(valid))

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Do nothing: preprocess has done the work."""


def boot_mac(inventory: Inventory) -> str | None:
    """Return the MAC address of the interface that the machine booted from, None when it is not reported."""
    return syntax.booted_mac_of(text_at(inventory, "boot", "pxe_interface"))


def all_interfaces(inventory: Inventory) -> Interfaces:
    """Return every interface with a name and a MAC address, by name."""
    booted = boot_mac(inventory)
    found: Interfaces = {}
    for interface in list_at(inventory, "interfaces"):
        name, mac = text_at(interface, "name"), syntax.machine_mac_of(text_at(interface, "mac_address"))
        if name and mac and isinstance(interface, Mapping):
            address = interface.get("ipv6_address")
            found[name] = {
                **interface,
                "mac_address": mac,
                "pxe_enabled": mac == booted,
                "ipv6_address": address.partition("%")[0] if isinstance(address, str) else None,
            }
    return found


def unread_cards(inventory: Inventory) -> Iterator[str]:
    """Yield what is wrong with each reported interface that has no readable name or address of its own.

    It may be the card of any port, so nothing follows from a port's absence in the report. Bonds and VLAN interfaces
    have the address of a card, and the cards of a bond that of the bond.
    """
    named: dict[str, str | None] = {}
    holders: dict[str, list[str]] = {}
    for number, interface in enumerate(list_at(inventory, "interfaces"), 1):
        name, address = text_at(interface, "name"), text_at(interface, "mac_address")
        if not name:
            yield f"interface {number} of the report has no name"
        elif syntax.machine_mac_of(address) is None and not (address == _NO_CARD and name == _LOOPBACK):
            yield f"interface {listed((name,))} of the report has no MAC address that can be read"
        elif named.setdefault(name, address) != address:
            yield f"two interfaces of the report have the name {listed((name,))}"
        elif (mac := syntax.machine_mac_of(address)) is not None and name not in holders.get(mac, ()):
            holders.setdefault(mac, []).append(name)
    for names in holders.values():
        cards = [name for name in names if not _VLAN.search(name)]
        if len(cards) > 1 and not any(map(_BOND.match, cards)):
            yield f"the interfaces {listed(cards)} of the report have one MAC address"


def valid_interfaces(interfaces: Mapping[str, Mapping[str, object]], add_ports: str) -> Interfaces:
    """Return the interfaces that may become ports; ``add_ports`` is the value of the option."""
    only_booted = add_ports == "pxe" and any(one["pxe_enabled"] for one in interfaces.values())
    return {
        name: dict(one)
        for name, one in interfaces.items()
        if not is_loopback(name, one)
        and (one["pxe_enabled"] or not only_booted)
        and (add_ports != "active" or ip_addresses_of(one))
    }


def macs_of(interfaces: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the MAC addresses, each once: bonds and VLANs share the address of a card."""
    return list(dict.fromkeys(one["mac_address"] for one in interfaces.values()))


def is_loopback(name: str, interface: Mapping[str, object]) -> bool:
    """Return whether the interface is a loopback interface."""
    return name == _LOOPBACK or any(address.is_loopback for address in ip_addresses_of(interface))


def bmc_address(inventory: Inventory) -> str | None:
    """Return an address at which the machine's BMC can be reached, IPv4 before IPv6."""
    fields = ("bmc_address", "bmc_v6address")
    return next((found for name in fields if (found := bmc_address_of(text_at(inventory, name)))), None)
