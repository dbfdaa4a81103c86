"""Hooks that complete ports: LLDP facts, local link connection and physical network.

They use the interfaces that validate-interfaces has left in the plug-in data. Sites that know the physical network of a
port by other means derive a hook from PhysicalNetwork and override `physical_network_of`.
"""

import ipaddress
import logging
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.db import PortRecord
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.lldp import Value, decode, frames_of, lldp_values, parse_frame
from ironic.inspection.reported_data import IpAddress, ip_addresses_of, text_at, value_at
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

# Type of an LLDP value -> key of local_link_connection and its decoder.
_READERS: Final = {
    1: ("switch_id", lldp_values.chassis_mac),
    2: ("port_id", lldp_values.port_id),
    5: ("switch_info", lldp_values.plain_text),
}


def interfaces_of(plugin_data: PluginData) -> dict[str, Mapping[str, object]]:
    """Return all interfaces in the plug-in data by name."""
    found = value_at(plugin_data, "all_interfaces")
    return {name: one for name, one in found.items() if isinstance(one, Mapping)} if isinstance(found, Mapping) else {}


def ports_by_interface(task: StagedTask, plugin_data: PluginData) -> dict[str, PortRecord]:
    """Return the ports by interface name; bonds and VLANs share the port of their card."""
    ports: dict[str | None, PortRecord] = {port.address: port for port in task.ports}
    owned = {name: ports.get(text_at(one, "mac_address")) for name, one in interfaces_of(plugin_data).items()}
    return {name: port for name, port in owned.items() if port is not None}


class ParseLldp(InspectionHook):
    """Decode the LLDP data of all interfaces into `parsed_lldp` of the plug-in data (S94)."""

    runs_dry = True
    plugin_data_keys = ("parsed_lldp",)
    is_of_ramdisks = True

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set `parsed_lldp` when some interface has LLDP data."""
        parsed = {name: parse_frame(frame) for name, frame in frames_of(inventory, plugin_data).items()}
        if found := {name: facts for name, facts in parsed.items() if facts}:
            plugin_data["parsed_lldp"] = found


class LocalLinkConnection(InspectionHook):
    """Complete `local_link_connection` of ports from LLDP data (S92)."""

    runs_dry = True

    dependencies = ("validate-interfaces",)

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Add missing keys to `local_link_connection` of existing ports."""
        frames = frames_of(inventory, plugin_data)
        for name, port in ports_by_interface(task, plugin_data).items():
            if name not in frames:
                continue
            found = connection(decode(frames[name]))
            if missing := {key: value for key, value in found.items() if not port.local_link_connection.get(key)}:
                port.local_link_connection.update(missing)
                port.save()


def connection(frame: Iterable[Value]) -> dict[str, str]:
    """Return the keys of local_link_connection in a frame; of several values of one type the first counts."""
    found: dict[str, str] = {}
    for kind, data in frame:
        key, read = _READERS.get(kind, ("", lldp_values.plain_text))
        if key and key not in found and (text := read(data)):
            found[key] = text
    return found


class MappedSubnet(NamedTuple):
    """One entry of [inspector]physical_network_cidr_map."""

    subnet: ipaddress.IPv4Network | ipaddress.IPv6Network
    network: str


class PhysicalNetwork(InspectionHook):
    """Set `physical_network` of ports from the IP addresses of their interfaces (S96)."""

    runs_dry = True

    dependencies = ("validate-interfaces",)

    def __init__(self) -> None:
        self.map = read_map(CONF.inspector.physical_network_cidr_map)

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set `physical_network` of existing ports whose interface has an address in a known network."""
        interfaces, found = interfaces_of(plugin_data), {}
        for name, port in ports_by_interface(task, plugin_data).items():
            # Interfaces share a port: a card is in the network of the bond or VLAN that has the address.
            if port.uuid not in found and (network := self.physical_network_of(task, interfaces[name])):
                found[port.uuid] = network
                if port.physical_network != network:
                    LOG.info("Node %s: port %s is in physical network %s", task.node.uuid, port.uuid, network)
                    port.physical_network = network
                    port.save()

    def physical_network_of(self, task: StagedTask, interface: Mapping[str, object]) -> str | None:
        """Return the physical network of an interface, None when it is not known."""
        return first_match(ip_addresses_of(interface), self.map)


def first_match(addresses: Iterable[IpAddress], entries: Iterable[MappedSubnet]) -> str | None:
    """Return the network of the first address that is in a subnet; of several subnets the first counts."""
    known = list(entries)
    return next((one.network for address in addresses for one in known if address in one.subnet), None)


def read_map(entries: Iterable[str]) -> tuple[MappedSubnet, ...]:
    """Return the entries of the option, or raise InvalidParameterValue with all faults."""
    found, faults = [], []
    for entry in entries:
        subnet, _, network = entry.strip().rpartition(":")
        try:
            found.append(MappedSubnet(ipaddress.ip_network(subnet, strict=False), network.strip()))
        except ValueError as error:
            faults.append(f"{entry!r}: {error}")
            continue
        if not found[-1].network:
            faults.append(f"{entry!r} names no network")
    if faults:
        raise InvalidParameterValue(err=f"[inspector]physical_network_cidr_map can't be used: {'; '.join(faults)}.")
    return tuple(found)
