"""Hook validate-interfaces: which of the reported network interfaces are usable (S86).

Leaves in the plug-in data: `all_interfaces` (every interface with a name and a MAC address, by name, with
`pxe_enabled`), `valid_interfaces` (those that may become ports), `macs` of the latter, and `bmc_address`, the address
at which the machine's BMC can be reached (S171). Source: doc/contract/inspection.md#hooks.
"""

import ipaddress
import logging
from collections.abc import Mapping
from typing import Any

from ironic.conf import CONF
from ironic.core import syntax
from ironic.core.errors import HardwareInspectionFailure
from ironic.inspection.callback import bmc_address_of
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.reading import list_at, listed, text_at
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

Interfaces = dict[str, dict[str, object]]


class ValidateInterfaces(InspectionHook):
    """Sort the reported network interfaces."""

    def preprocess(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Fill the plug-in data, or fail when no interface is usable."""
        found = all_interfaces(inventory)
        if not found:
            raise HardwareInspectionFailure(error="the inventory has no interface with a name and a valid MAC address")
        valid = valid_interfaces(found, CONF.inspector.add_ports)
        if not valid:
            raise HardwareInspectionFailure(error=_nothing_left(found))
        plugin_data["all_interfaces"] = found
        plugin_data["valid_interfaces"] = valid
        plugin_data["macs"] = macs_of(valid)
        if address := bmc_address(inventory):
            plugin_data["bmc_address"] = address
        LOG.debug("Node %s: usable interfaces are %s", task.node.uuid, listed(valid))

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Do nothing: all is done before other hooks run."""


def boot_mac(inventory: Inventory) -> str | None:
    """Return the MAC address that the machine booted from, if it is known."""
    return syntax.booted_mac_of(text_at(inventory, "boot", "pxe_interface"))


def all_interfaces(inventory: Inventory) -> Interfaces:
    """Return every interface that has a name and a MAC address, by name."""
    booted = boot_mac(inventory)
    found: Interfaces = {}
    for interface in list_at(inventory, "interfaces"):
        name, mac = text_at(interface, "name"), syntax.mac_of(text_at(interface, "mac_address"))
        if name and mac and isinstance(interface, Mapping):
            found[name] = _described(interface, mac, booted)
    return found


def valid_interfaces(interfaces: Mapping[str, Mapping[str, object]], add_ports: str) -> Interfaces:
    """Return the interfaces that may become ports."""
    only_booted = add_ports == "pxe" and any(one["pxe_enabled"] for one in interfaces.values())
    return {
        name: dict(one)
        for name, one in interfaces.items()
        if not is_loopback(name, one)
        and (one["pxe_enabled"] or not only_booted)
        and (add_ports != "active" or has_address(one))
    }


def macs_of(interfaces: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the MAC addresses, each once: bonds and VLANs share that of a card."""
    return list(dict.fromkeys(one["mac_address"] for one in interfaces.values()))


def is_loopback(name: str, interface: Mapping[str, object]) -> bool:
    """Tell whether the interface leads nowhere."""
    return name == "lo" or any(address.is_loopback for address in _addresses(interface))


def has_address(interface: Mapping[str, object]) -> bool:
    """Tell whether the interface has an IP address."""
    return bool(_addresses(interface))


def bmc_address(inventory: Inventory) -> str | None:
    """Return an address at which the machine's BMC can be reached, IPv4 before IPv6."""
    fields = ("bmc_address", "bmc_v6address")
    return next((found for name in fields if (found := bmc_address_of(text_at(inventory, name)))), None)


def _described(interface: Mapping[str, object], mac: str, booted: str | None) -> dict[str, object]:
    described = {**interface, "mac_address": mac, "pxe_enabled": mac == booted}
    if isinstance(address := interface.get("ipv6_address"), str):
        described["ipv6_address"] = address.partition("%")[0]
    return described


def _addresses(interface: Mapping[str, object]) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    found = []
    for field in ("ipv4_address", "ipv6_address"):
        try:
            found.append(ipaddress.ip_address(text_at(interface, field) or ""))
        except ValueError:
            continue
    return found


def _nothing_left(interfaces: Interfaces) -> str:
    wanted = CONF.inspector.add_ports
    return f"none of the interfaces {listed(interfaces)} is usable ([inspector]add_ports is '{wanted}')"
