"""Which network cards the firmware of a machine boots from, as far as its BMC says so.

There are three places where a BMC may say it. The first that names a card of the machine counts:

- BIOS attributes of Dell: `PxeDev<n>EnDis` and `PxeDev<n>Interface`, which names the card. They apply in UEFI mode.
- The boot options of UEFI, unless the machine is in BIOS mode. One for the network has the card's address and an IP
  protocol in its path: `PciRoot(0x0)/Pci(0x2,0x0)/MAC(525400AA0001,0x1)/IPv4(0.0.0.0)`. Those count that are enabled
  and in the boot order.
- Functions of network adapters with `BootMode` PXE or HTTP.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import sushy

from ironic.core.readings import Whole
from ironic.drivers.contract.task import Node
from ironic.drivers.modules.redfish.tree.boot_settings import boot_of
from ironic.drivers.modules.redfish.tree.certainty import Document, Uncertain, given, leads_to, whole_paths
from ironic.drivers.modules.redfish.tree.members import all_members, has_link, seen_chassis
from ironic.drivers.modules.redfish.tree.network_cards import mac_in
from ironic.drivers.modules.redfish.wire.bmc_system import System, connector_of, optional
from ironic.drivers.modules.redfish.wire.differences import Behaviour
from ironic.drivers.modules.redfish.wire.quirks import behaves

# Cards of the machine: identity -> MAC address.
Cards = Mapping[str, str]

_DEVICE: Final = re.compile(r"PxeDev(\d{1,2})EnDis")
# In the path of a boot option: the card, and behind it the protocol.
_CARD: Final = re.compile(r"/MAC\(([0-9A-Fa-f]{12})[,)]")
_PROTOCOLS: Final = ("/IPv4(", "/IPv6(")
# What an option without a path may be called that is one of a card.
_MAY_BE_A_CARD: Final = (None, "None", "Pxe", "UefiHttp", "UefiBootNext", "UefiTarget")
_NETWORK_MODES: Final = ("PXE", "HTTP")
# Each option is a request of its own.
_MOST_OPTIONS: Final = 64


def booted_from(node: Node, system: System, cards: Cards) -> list[str]:
    """Return the MAC addresses of the cards that the firmware boots from; empty when the BMC does not say.

    A place that can't be read is not passed over: another one may say something else.
    """
    for find in (_in_bios_attributes, _in_boot_options, _in_adapters):
        named = optional(partial(_all_of, find, node, system, cards), None)
        if named is None:
            return []
        if found := [mac for mac in dict.fromkeys(named) if mac in cards.values()]:
            return found
    return []


def _all_of(
    find: Callable[[Node, System, Cards], Iterator[str]], node: Node, system: System, cards: Cards
) -> list[str]:
    return list(find(node, system, cards))


def _in_bios_attributes(node: Node, system: System, cards: Cards) -> Iterator[str]:
    if not behaves(node, Behaviour.NAMES_BOOT_CARDS_IN_BIOS) or _mode(system) != sushy.BOOT_SOURCE_MODE_UEFI:
        return
    attributes = system.bios.attributes
    for name, value in (attributes if isinstance(attributes, dict) else {}).items():
        if value == "Enabled" and (device := _DEVICE.fullmatch(name)):
            card = cards.get(str(attributes.get(f"PxeDev{device[1]}Interface")))
            if card is not None:
                yield card


def _in_boot_options(node: Node, system: System, cards: Cards) -> Iterator[str]:
    boot = given(system, "Boot", dict)
    if boot is None or _mode(system) == sushy.BOOT_SOURCE_MODE_BIOS:
        return
    order = given(Document(system.path, boot), "BootOrder", list)
    if not leads_to(Document(system.path, boot), "BootOptions"):
        return
    for option in _members(system, boot["BootOptions"]["@odata.id"]):
        reference = given(option, "BootOptionReference", str)
        if order is not None and reference is None:
            raise Uncertain(option.path, "it shows no BootOptionReference, so it may be in the boot order")
        is_used = given(option, "BootOptionEnabled", bool) is not False and (order is None or reference in order)
        path = given(option, "UefiDevicePath", str) or ""
        if path and "(" not in path:
            raise Uncertain(option.path, f"UefiDevicePath is {path!r:.40}, which is no path of a device")
        if is_used and not path and given(option, "Alias", str) in _MAY_BE_A_CARD:
            raise Uncertain(option.path, "it shows no UefiDevicePath, so it may be that of a card")
        before_protocol = path[: max(0, *map(path.rfind, _PROTOCOLS))]
        if is_used and (found := _CARD.search(before_protocol)):
            yield ":".join(re.findall("..", found[1].lower()))


def _in_adapters(node: Node, system: System, cards: Cards) -> Iterator[str]:
    # One that can't be read might boot as well, so the others alone say nothing.
    all_chassis = seen_chassis(system)
    if all_chassis.missing:
        raise Uncertain(system.path, f"its chassis are not known: {'; '.join(all_chassis.missing)}")
    adapters = (one for chassis in all_chassis.items for one in _all(chassis, "NetworkAdapters", "network_adapters"))
    for adapter in adapters:
        for function in _all(adapter, "NetworkDeviceFunctions", "network_device_functions"):
            named = function.ethernet.mac_address if function.ethernet is not None else None
            address = mac_in(named)
            if address and function.json.get("BootMode") in _NETWORK_MODES:
                yield address


def _all(resource: Any, link: str, attribute: str) -> Whole[Any]:
    return all_members(getattr(resource, attribute)) if has_link(resource, link) else Whole()


def _mode(system: System) -> Any:
    return boot_of(system).mode.shown(None)


def _members(system: System, path: str) -> Iterable[Document]:
    """Yield the documents of a collection; raise an error of the library when one of them can't be read."""
    connector = connector_of(system)
    paths = whole_paths(Document(path, connector.get(path).json()))
    if len(paths) > _MOST_OPTIONS:
        raise Uncertain(path, f"it has more than {_MOST_OPTIONS} boot options")
    for member in paths:
        yield Document(member, connector.get(member).json())
