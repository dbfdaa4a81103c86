"""What a ramdisk reports: the checked request body, tolerant access to its values, and a read-only copy.

`check_callback` checks the shape and size of a request body and takes it apart; whom it belongs to (`node_lookup`) and
what it means (`hooks`) is not its subject. Addresses that can't be valid are left out of the look-up and stay in the
inventory. Source: doc/contract/inspection.md#continue_inspection.

A machine may send anything: `value_at` and its relatives return None or an empty list for what is missing or of another
type, so that a hook decides in one place what that means and no odd inventory causes a traceback.

Hooks get the inventory from `read_only` (S82): reading, comparing and encoding work as on plain dictionaries and lists
at every depth; a write raises InventoryIsReadOnly. A deep copy is plain again.
"""

import copy
import ipaddress
import itertools
import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, NoReturn, TypeVar, cast

from ironic.core.addresses.allowed_addresses import plain_form
from ironic.core.errors import HardwareInspectionFailure, InvalidParameterValue
from ironic.core.texts import syntax

LOG = logging.getLogger(__name__)

T = TypeVar("T")
IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_MOST_LISTED: Final = 16
_LONGEST_NUMBER: Final = 24  # characters
_TOO_LARGE: Final = 2**63
_LONGEST_LISTED: Final = 32  # characters
_MOST_INTERFACES: Final = 1024
_BMC_FIELDS: Final = ("bmc_address", "bmc_v6address")

# What the agent sends when a BMC has no address of this family.
_NO_ADDRESS: Final = frozenset({"", "0.0.0.0", "::", "::/0"})


class Callback(NamedTuple):
    """A checked report; MAC addresses (each once) and BMC addresses are in their usual form."""

    inventory: dict[str, Any]
    plugin_data: dict[str, Any]
    macs: list[str]
    bmc_addresses: list[str]


def value_at(data: object, *keys: str) -> object:
    """Return the value under nested keys, None when one of the keys is missing."""
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


def text_at(data: object, *keys: str) -> str | None:
    """Return the text under nested keys, None when there is none."""
    value = value_at(data, *keys)
    return value if isinstance(value, str) else None


def list_at(data: object, *keys: str) -> list[object]:
    """Return the list under nested keys, an empty one when there is none."""
    value = value_at(data, *keys)
    return value if isinstance(value, list) else []


def whole_number_at(data: object, *keys: str) -> int | None:
    """Return the positive whole number under nested keys, a JSON number or decimal text; None when there is none.

    A fraction of zero (16384.0) is none; no size or count of a machine is negative or nothing.
    """
    value = value_at(data, *keys)
    if isinstance(value, str) and value.isascii() and len(value) < _LONGEST_NUMBER:
        whole, _, fraction = value.partition(".")
        value = int(whole) if whole.isdigit() and not fraction.strip("0") else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_usable = isinstance(value, int) and not isinstance(value, bool) and 0 < value < _TOO_LARGE
    return cast(int, value) if is_usable else None


def ip_addresses_of(interface: Mapping[str, object]) -> list[IpAddress]:
    """Return the valid IP addresses of a network interface, IPv4 first, without zones."""
    found = []
    for field in ("ipv4_address", "ipv6_address"):
        try:
            found.append(ipaddress.ip_address((text_at(interface, field) or "").partition("%")[0]))
        except ValueError:
            continue
    return found


def listed(names: Iterable[str]) -> str:
    """Return names that a machine has chosen as text for a message: quoted, shortened and limited in number."""
    first = list(itertools.islice(names, _MOST_LISTED + 1))
    shown = ", ".join(repr(name[:_LONGEST_LISTED]) for name in first[:_MOST_LISTED])
    return f"{shown} and more" if len(first) > _MOST_LISTED else shown


def check_callback(body: object, node_uuid: str | None = None) -> Callback:
    """Return a checked body, or raise InvalidParameterValue; without any valid address it needs ``node_uuid``."""
    if node_uuid is not None and not syntax.is_uuid(node_uuid):
        raise _invalid("node_uuid is no UUID")
    if not isinstance(body, dict):
        raise _invalid("the body is no object")
    inventory = body.get("inventory")
    if not isinstance(inventory, dict):
        raise _invalid("inventory is missing or no object")
    macs = _macs(inventory.get("interfaces"))
    for name in _BMC_FIELDS:
        if not isinstance(inventory.get(name), str | None):
            raise _invalid(f"inventory.{name} is neither text nor null")
    bmc_addresses = [address for name in _BMC_FIELDS if (address := bmc_address_of(inventory.get(name))) is not None]
    if not (macs or bmc_addresses or node_uuid):
        raise _invalid("there is no valid MAC address, no BMC address and no node_uuid to find the node by")
    return Callback(inventory, {key: value for key, value in body.items() if key != "inventory"}, macs, bmc_addresses)


def bmc_address_of(text: object) -> str | None:
    """Return a reported BMC address in its shortest form, None when it is no address or means that there is none.

    The brackets of a URL may stand around an address of IPv6.
    """
    if not isinstance(text, str):
        return None
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    if inner in _NO_ADDRESS:
        return None
    try:
        return str(plain_form(ipaddress.ip_address(inner.partition("%")[0])))
    except ValueError:
        return None


def _macs(interfaces: object) -> list[str]:
    if not isinstance(interfaces, list) or not interfaces:
        raise _invalid("inventory.interfaces is missing, empty or no list")
    if len(interfaces) > _MOST_INTERFACES:
        raise _invalid(f"inventory.interfaces has more than {_MOST_INTERFACES} items")
    found: dict[str, None] = {}
    for index, interface in enumerate(interfaces):
        address = interface.get("mac_address") if isinstance(interface, dict) else None
        if (mac := syntax.machine_mac_of(address)) is None:
            shown = address[:64] if isinstance(address, str) else type(address).__name__
            LOG.info("A ramdisk sent %r as MAC address of interface %d; it identifies no machine", shown, index)
        else:
            found[mac] = None
    return list(found)


def _invalid(reason: str) -> InvalidParameterValue:
    return InvalidParameterValue(err=f"Invalid inspection data: {reason}.")


class InventoryIsReadOnly(HardwareInspectionFailure):
    """A hook or rule tried to change the inventory."""

    text = "The inventory is read-only. Change a copy, or leave what you find in the plug-in data."


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise InventoryIsReadOnly()


class ReadOnlyDict(dict[str, Any]):
    """A dictionary that can't be changed."""

    __setitem__ = __delitem__ = __ior__ = _refuse
    pop = popitem = clear = update = setdefault = _refuse

    def __deepcopy__(self, memo: dict[int, object]) -> dict[str, object]:
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}


class ReadOnlyList(list[Any]):
    """A list that can't be changed."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = remove = pop = clear = sort = reverse = _refuse

    def __deepcopy__(self, memo: dict[int, object]) -> list[object]:
        return [copy.deepcopy(value, memo) for value in self]


def read_only(value: T) -> T:
    """Return plain data as a read-only copy."""
    if isinstance(value, dict):
        return cast(T, ReadOnlyDict((key, read_only(inner)) for key, inner in value.items()))
    if isinstance(value, list):
        return cast(T, ReadOnlyList(read_only(inner) for inner in value))
    return value
