"""What a ramdisk posts to continue_inspection, checked and taken apart; a pure function of the body.

Looks at shape and size only, not at who may be meant (`lookup`) nor at what it means (`hooks`). Addresses that can't be
any are left out of the look-up and stay in the inventory. Source: doc/contract/inspection.md#continue_inspection.
"""

import ipaddress
import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ironic.core import syntax
from ironic.core.errors import InvalidParameterValue

LOG = logging.getLogger(__name__)

_MOST_INTERFACES: Final = 1024
_BMC_FIELDS: Final = ("bmc_address", "bmc_v6address")

# What the agent sends when a BMC has no address of this family.
_NO_ADDRESS: Final = frozenset({"", "0.0.0.0", "::", "::/0"})


class Callback(NamedTuple):
    """What a ramdisk told."""

    inventory: dict[str, Any]
    plugin_data: dict[str, Any]
    macs: list[str]
    bmc_addresses: list[str]


def check(body: object, node_uuid: str | None = None) -> Callback:
    """Take a body apart, or raise InvalidParameterValue; with a node's UUID the addresses may all be useless."""
    if node_uuid is not None and not syntax.is_uuid(node_uuid):
        raise _invalid("node_uuid is no UUID")
    if not isinstance(body, dict):
        raise _invalid("the body is no object")
    inventory = body.get("inventory")
    if not isinstance(inventory, dict):
        raise _invalid("inventory is missing or no object")
    macs, bmc_addresses = _macs(inventory.get("interfaces")), _bmc_addresses(inventory)
    if not (macs or bmc_addresses or node_uuid):
        raise _invalid("there is no valid MAC address, no BMC address and no node_uuid to find the node by")
    return Callback(inventory, {key: value for key, value in body.items() if key != "inventory"}, macs, bmc_addresses)


def bmc_address_of(text: object) -> str | None:
    """Return an address of a BMC in its shortest form, None when it is none or stands for none."""
    if not isinstance(text, str) or text in _NO_ADDRESS:
        return None
    try:
        return str(ipaddress.ip_address(text.partition("%")[0]))
    except ValueError:
        return None


def _macs(interfaces: object) -> list[str]:
    if not isinstance(interfaces, list) or not interfaces:
        raise _invalid("inventory.interfaces is missing, empty or no list")
    if len(interfaces) > _MOST_INTERFACES:
        raise _invalid(f"inventory.interfaces has more than {_MOST_INTERFACES} items")
    found = [_mac_of_interface(one, index) for index, one in enumerate(interfaces)]
    return list(dict.fromkeys(mac for mac in found if mac is not None))


def _mac_of_interface(interface: object, index: int) -> str | None:
    address = interface.get("mac_address") if isinstance(interface, dict) else None
    if not isinstance(address, str):
        raise _invalid(f"inventory.interfaces[{index}] has no mac_address that is text")
    mac = syntax.mac_of(address)
    if mac is None:
        LOG.info("A ramdisk sent %r as a MAC address; it is left out of the look-up", address[:64])
    return mac


def _bmc_addresses(inventory: Mapping[str, object]) -> list[str]:
    for name in _BMC_FIELDS:
        if not isinstance(inventory.get(name), str | None):
            raise _invalid(f"inventory.{name} is neither text nor null")
    found = [bmc_address_of(inventory.get(name)) for name in _BMC_FIELDS]
    return [address for address in found if address is not None]


def _invalid(reason: str) -> InvalidParameterValue:
    return InvalidParameterValue(err=f"Invalid inspection data: {reason}.")
