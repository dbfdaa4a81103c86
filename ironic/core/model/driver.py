"""The hardware type, field by field; callers call it a driver.

It has no row: what is shown is put together from what the live conductors serve. Source: doc/contract/fields.md#driver,
demands S27 to S30.
"""

from typing import ClassVar, Final

from ironic.core.interface_kinds import KINDS
from ironic.core.model.fields import NOBODY, Field, Filter, Resource
from ironic.core.values import Enum, Links, Text, ValueType

# Classic drivers are a later piece of work (S19); until then their list is empty (S28).
CLASSIC: Final = "classic"
DYNAMIC: Final = "dynamic"


def default_field(kind: str) -> str:
    """Name the field that has the default implementation of a kind."""
    return f"default_{kind}_interface"


def enabled_field(kind: str) -> str:
    """Name the field that lists the implementations of a kind."""
    return f"enabled_{kind}_interfaces"


# Shown for a single driver or in detail only.
INTERFACE_FIELDS: Final = frozenset(name for kind in KINDS for name in (default_field(kind), enabled_field(kind)))


def _default(since: int) -> Field:
    return Field(Text(), since=since, write=NOBODY)


def _names(since: int = 1, *, plain: bool = False) -> Field:
    return Field(ValueType(), since=since, write=NOBODY, plain=plain)


class Driver(Resource):
    """A hardware type that some live conductor serves."""

    collection = "drivers"
    singular = "driver"
    key = "name"
    marker: ClassVar[ValueType] = Text()
    paged = False
    since_detail = 30
    since_fields = 77
    own_filters = (Filter("type", Enum(CLASSIC, DYNAMIC, name="type"), since=30, store=None),)

    name = Field(Text(), write=NOBODY, plain=True)
    hosts = _names(plain=True)
    type = Field(Text(), since=30, write=NOBODY, plain=True)
    default_bios_interface, enabled_bios_interfaces = _default(40), _names(40)
    default_boot_interface, enabled_boot_interfaces = _default(30), _names(30)
    default_console_interface, enabled_console_interfaces = _default(30), _names(30)
    default_deploy_interface, enabled_deploy_interfaces = _default(30), _names(30)
    default_firmware_interface, enabled_firmware_interfaces = _default(86), _names(86)
    default_inspect_interface, enabled_inspect_interfaces = _default(30), _names(30)
    default_management_interface, enabled_management_interfaces = _default(30), _names(30)
    default_network_interface, enabled_network_interfaces = _default(30), _names(30)
    default_power_interface, enabled_power_interfaces = _default(30), _names(30)
    default_raid_interface, enabled_raid_interfaces = _default(30), _names(30)
    default_rescue_interface, enabled_rescue_interfaces = _default(38), _names(38)
    default_storage_interface, enabled_storage_interfaces = _default(33), _names(33)
    default_vendor_interface, enabled_vendor_interfaces = _default(30), _names(30)
    links = Field(Links("drivers/{}"), write=NOBODY, plain=True)
    properties = Field(Links("drivers/{}/properties"), since=14, write=NOBODY, plain=True)
