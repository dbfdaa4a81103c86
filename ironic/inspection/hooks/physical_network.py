"""Hook physical-network: from the IP address of an interface to the network that its port is in (S96).

Sites with another way of knowing derive a hook from this one and override `physical_network_of`.
"""

import ipaddress
import logging
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.db import PortRecord
from ironic.inspection.hooks.base import InspectionHook, Inventory, PluginData
from ironic.inspection.hooks.interface_ports import interfaces_of, ports_by_interface
from ironic.inspection.reading import text_at
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Mapped(NamedTuple):
    """One entry of the map."""

    subnet: ipaddress.IPv4Network | ipaddress.IPv6Network
    network: str


class PhysicalNetwork(InspectionHook):
    """Note which networks ports are in."""

    dependencies = ("validate-interfaces",)

    def __init__(self) -> None:
        self.map = read_map(CONF.inspector.physical_network_cidr_map)

    def __call__(self, task: StagedTask, inventory: Inventory, plugin_data: PluginData) -> None:
        """Set `physical_network` of existing ports for whose interface a network is known."""
        interfaces, found = interfaces_of(plugin_data), {}
        for name, port in ports_by_interface(task, plugin_data).items():
            # A card whose bond or VLAN has the address is in the network of that one.
            if port.uuid not in found and (network := self.physical_network_of(task, interfaces[name])):
                found[port.uuid] = network
                _put(task, port, network)

    def physical_network_of(self, task: StagedTask, interface: Mapping[str, object]) -> str | None:
        """Return the network that an interface is in, None when it is not known."""
        return first_match(addresses_of(interface), self.map)


def _put(task: StagedTask, port: PortRecord, network: str) -> None:
    if port.physical_network != network:
        LOG.info("Node %s: port %s is in physical network %s", task.node.uuid, port.uuid, network)
        port.physical_network = network
        port.save()


def addresses_of(interface: Mapping[str, object]) -> list[Address]:
    """Return the IP addresses of an interface, IPv4 first."""
    found = []
    for field in ("ipv4_address", "ipv6_address"):
        try:
            found.append(ipaddress.ip_address((text_at(interface, field) or "").partition("%")[0]))
        except ValueError:
            continue
    return found


def first_match(addresses: Iterable[Address], entries: Iterable[Mapped]) -> str | None:
    """Return the network of the first address that is in any; of entries that fit the first counts."""
    known = list(entries)
    return next((one.network for address in addresses for one in known if address in one.subnet), None)


def read_map(entries: Iterable[str]) -> tuple[Mapped, ...]:
    """Read the option, or raise InvalidParameterValue with everything that is wrong with it."""
    found, faults = [], []
    for entry in entries:
        subnet, _, network = entry.strip().rpartition(":")
        try:
            found.append(Mapped(ipaddress.ip_network(subnet, strict=False), network.strip()))
        except ValueError as error:
            faults.append(f"{entry!r}: {error}")
            continue
        if not found[-1].network:
            faults.append(f"{entry!r} names no network")
    if faults:
        raise InvalidParameterValue(err=f"[inspector]physical_network_cidr_map can't be used: {'; '.join(faults)}.")
    return tuple(found)
