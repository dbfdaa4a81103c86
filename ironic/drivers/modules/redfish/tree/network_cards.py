"""The network cards of a Redfish machine, from the first place where its BMC shows any.

These are its Ethernet interfaces, and below its chassis the functions and the ports of network adapters. A place that
can't be read is not passed over: what another one shows may be cards of a neighbour. Of a chassis with several machines
no cards are taken.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import sushy

from ironic.core.readings import Seen
from ironic.core.texts import syntax
from ironic.drivers.modules.redfish.tree.certainty import Uncertain, whole_links
from ironic.drivers.modules.redfish.tree.members import has_link, seen_chassis, seen_members, whole_systems
from ironic.drivers.modules.redfish.wire.bmc_system import System, connector_of
from ironic.drivers.modules.redfish.wire.plain_paths import plain_path

LOG = logging.getLogger(__name__)

# Kinds of functions that have a MAC address; BMCs need not say it.
_OF_ETHERNET: Final = (None, "Ethernet")


@dataclass(frozen=True, slots=True)
class NetworkCard:
    """A card with a MAC address in lower case; one without a state counts as enabled."""

    name: str
    mac_address: str
    speed_mbps: int | None = None
    is_enabled: bool = True


def network_cards(system: System) -> tuple[NetworkCard, ...]:
    """Return the cards of a machine that can be read."""
    return seen_cards(system).items


def enabled_addresses(system: System) -> list[str] | None:
    """Return the MAC addresses of the cards that are enabled, None where the machine shows no interfaces at all."""
    cards = network_cards(system)
    if not cards and not has_link(system, "EthernetInterfaces"):
        return None
    return [card.mac_address for card in cards if card.is_enabled]


def seen_cards(system: System) -> Seen[NetworkCard]:
    """Return the cards of a machine, also those that are off now: the machine may boot from them later."""
    for find in (_interfaces, _functions, _ports):
        cards: dict[str, NetworkCard] = {}
        found = find(system)
        for card in found.items:
            cards.setdefault(card.mac_address, card)
        if cards or found.missing:
            return Seen(cards.values(), found.missing)
    return Seen()


def mac_in(value: object) -> str | None:
    """Return a MAC address of a BMC in lower case with colons; None for anything else, and for all zeros.

    BMCs separate the digits by colons, dashes, dots or nothing, and put blanks around them.
    """
    spelt = "".join(value.split()) if isinstance(value, str) else None
    return syntax.machine_mac_of(syntax.reported_mac_of(spelt))


def _interfaces(system: System) -> Seen[NetworkCard]:
    interfaces = seen_members(system, "ethernet_interfaces")
    cards, without, holders = list[NetworkCard](), list[str](), dict[str, str]()
    for interface in interfaces.items:
        name = interface.identity or interface.name
        address = mac_in(interface.mac_address) or mac_in(interface.json.get("PermanentMACAddress"))
        if address is None:
            bmc = connector_of(system).gateway.name
            LOG.warning("BMC %s: network card %s is left out, as its MAC address is not valid", bmc, interface.path)
            without.append(f"the MAC address of {interface.path} is not valid")
            continue
        # A VLAN has the address of its card.
        if "VLAN" not in interface.json and (other := holders.setdefault(address, interface.path)) != interface.path:
            without.append(f"{other} and {interface.path} have one MAC address")
        cards.append(NetworkCard(name, address, interface.speed_mbps, _is_enabled(interface)))
    # Where none has an address, they are at the adapters.
    return Seen(cards, (*interfaces.missing, *(without if cards else ())))


def _functions(system: System) -> Seen[NetworkCard]:
    functions = _parts(system, lambda adapter: seen_members(adapter, "network_device_functions"))
    cards, without = list[NetworkCard](), list[str]()
    for adapter, function in functions.items:
        ethernet = function.json.get("Ethernet", {})
        address = mac_in(ethernet.get("MACAddress")) or mac_in(ethernet.get("PermanentMACAddress"))
        if address is not None:
            cards.append(
                NetworkCard(f"{adapter.identity}.{function.identity}", address, is_enabled=_is_enabled(function))
            )
        elif function.json.get("NetDevFuncType") in _OF_ETHERNET:
            without.append(f"the MAC address of {function.path} is not valid")
    # Where none has an address, they are at the ports.
    return Seen(cards, (*functions.missing, *(without if cards else ())))


def _ports(system: System) -> Seen[NetworkCard]:
    def ports(adapter: Any) -> Seen[Any]:
        newer = seen_members(adapter, "ports")
        return newer if newer.items or newer.missing else seen_members(adapter, "network_ports")

    found = _parts(system, ports)
    cards = []
    for adapter, port in found.items:
        ethernet = port.json.get("Ethernet", {})
        listed = ethernet.get("AssociatedMACAddresses") or port.json.get("AssociatedNetworkAddresses") or []
        for number, address in enumerate(filter(None, map(mac_in, listed))):
            name = f"{adapter.identity}.{port.identity}" + (f".{number}" if number else "")
            cards.append(NetworkCard(name, address, is_enabled=_is_enabled(port)))
    return Seen(cards, found.missing)


def _parts(system: System, parts_of: Callable[[Any], Seen[Any]]) -> Seen[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    all_chassis = seen_chassis(system)
    missing = list(all_chassis.missing)
    for chassis in all_chassis.items:
        if not is_chassis_of_one(system, chassis):
            missing.append(f"which network adapters of {chassis.path} are those of {system.path} is not said")
            continue
        adapters = seen_members(chassis, "network_adapters")
        missing += adapters.missing
        for adapter in adapters.items:
            parts = parts_of(adapter)
            missing += parts.missing
            found += [(adapter, part) for part in parts.items]
    return Seen(found, missing)


def is_chassis_of_one(system: System, chassis: Any) -> bool:
    """Return whether a chassis has this machine alone, or shows no adapters.

    One that names no machine can only be its chassis where the BMC has no other machine.
    """
    if "NetworkAdapters" not in chassis.json:
        return True
    try:
        machines = whole_links(chassis, "ComputerSystems") or whole_systems(system)
    except Uncertain:
        return False
    return set(map(plain_path, machines)) == {plain_path(system.path)}


def _is_enabled(resource: Any) -> bool:
    state = resource.status.state if resource.status is not None else None
    return state in (None, sushy.STATE_ENABLED)
