"""The network cards of a Redfish machine, from the first place where its BMC shows any.

These are its Ethernet interfaces, and below its chassis the functions and the ports of network adapters.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sushy

from ironic.core import syntax
from ironic.drivers.modules.redfish.bmc_connection import System, connector_of
from ironic.drivers.modules.redfish.members import chassis_of, members_of, of_each

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NetworkCard:
    """A card with a MAC address in lower case; one without a state counts as enabled."""

    name: str
    mac_address: str
    speed_mbps: int | None = None
    is_enabled: bool = True


def network_cards(system: System) -> list[NetworkCard]:
    """Return the cards of a machine, also those that are off now: the machine may boot from them later."""
    for find in (_interfaces, _functions, _ports):
        cards: dict[str, NetworkCard] = {}
        for card in find(system):
            cards.setdefault(card.mac_address, card)
        if cards:
            return list(cards.values())
    return []


def mac_in(value: object) -> str | None:
    """Return a MAC address of a BMC in lower case with colons; None for anything else, and for all zeros.

    BMCs separate the digits by colons, dashes, dots or nothing, and put blanks around them.
    """
    spelt = "".join(value.split()) if isinstance(value, str) else None
    return syntax.machine_mac_of(syntax.reported_mac_of(spelt))


def _interfaces(system: System) -> Iterator[NetworkCard]:
    for interface in members_of(system, "ethernet_interfaces"):
        name = interface.identity or interface.name
        address = mac_in(interface.mac_address) or mac_in(interface.json.get("PermanentMACAddress"))
        if address is None:
            bmc = connector_of(system).gateway.name
            LOG.warning("BMC %s: network card %s is left out, as its MAC address is not valid", bmc, interface.path)
            continue
        yield NetworkCard(name, address, interface.speed_mbps, _is_enabled(interface))


def _functions(system: System) -> Iterator[NetworkCard]:
    for adapter, function in _parts(system, lambda adapter: members_of(adapter, "network_device_functions")):
        ethernet = function.json.get("Ethernet", {})
        address = mac_in(ethernet.get("MACAddress")) or mac_in(ethernet.get("PermanentMACAddress"))
        if address is not None:
            yield NetworkCard(f"{adapter.identity}.{function.identity}", address, is_enabled=_is_enabled(function))


def _ports(system: System) -> Iterator[NetworkCard]:
    def ports(adapter: Any) -> list[Any]:
        return members_of(adapter, "ports") or members_of(adapter, "network_ports")

    for adapter, port in _parts(system, ports):
        ethernet = port.json.get("Ethernet", {})
        listed = ethernet.get("AssociatedMACAddresses") or port.json.get("AssociatedNetworkAddresses") or []
        for number, address in enumerate(filter(None, map(mac_in, listed))):
            name = f"{adapter.identity}.{port.identity}" + (f".{number}" if number else "")
            yield NetworkCard(name, address, is_enabled=_is_enabled(port))


def _parts(system: System, parts_of: Any) -> Iterator[tuple[Any, Any]]:
    for chassis in chassis_of(system):
        adapters = members_of(chassis, "network_adapters")
        yield from of_each(adapters, lambda adapter: [(adapter, part) for part in parts_of(adapter)])


def _is_enabled(resource: Any) -> bool:
    state = resource.status.state if resource.status is not None else None
    return state in (None, sushy.STATE_ENABLED)
