"""The conductor and the driver, field by field.

A driver is what callers call a hardware type or a classic driver. It has no row: its document is built from what the
live conductors serve.
Sources: doc/contract/fields.md#conductor, doc/contract/fields.md#driver, demands S27 to S30.
"""

from typing import ClassVar, Final

from ironic.core.hardware_interfaces import KINDS
from ironic.core.model.fields import NEVER, Field, Filter, Resource
from ironic.core.values.value_types import Array, Bool, Datetime, Enum, Links, Text, ValueType


class Conductor(Resource):
    """A process that manages nodes."""

    collection = "conductors"
    singular = "conductor"
    listed_since = 49
    key = "hostname"
    marker: ClassVar[ValueType] = Text()

    created_at = Field(Datetime(), since=49, write=NEVER)
    updated_at = Field(Datetime(), since=49, write=NEVER)
    hostname = Field(Text(), since=49, write=NEVER, plain=True)
    conductor_group = Field(Text(), since=49, write=NEVER, plain=True)
    drivers = Field(Array(), since=49, write=NEVER)
    links = Field(Links("conductors/{}"), since=49, write=NEVER, plain=True)
    alive = Field(Bool(), since=49, write=NEVER, plain=True, needs=("online", "updated_at", "hostname"))


# The types of drivers: with fixed interfaces, or a hardware type whose interfaces a node can choose.
CLASSIC: Final = "classic"
DYNAMIC: Final = "dynamic"


def default_field(kind: str) -> str:
    """Return the name of the field with the default implementation of a kind."""
    return f"default_{kind}_interface"


def enabled_field(kind: str) -> str:
    """Return the name of the field that lists the enabled implementations of a kind."""
    return f"enabled_{kind}_interfaces"


# Shown for a single driver or in detail only.
INTERFACE_FIELDS: Final = frozenset(name for kind in KINDS for name in (default_field(kind), enabled_field(kind)))


def _default(since: int) -> Field:
    return Field(Text(), since=since, write=NEVER)


def _names(since: int = 1, *, plain: bool = False) -> Field:
    return Field(ValueType(), since=since, write=NEVER, plain=plain)


class Driver(Resource):
    """A hardware type or classic driver that some live conductor serves."""

    collection = "drivers"
    singular = "driver"
    listed_since = 1
    key = "name"
    marker: ClassVar[ValueType] = Text()
    paged = False
    since_detail = 30
    since_fields = 77
    own_filters = (Filter("type", Enum(CLASSIC, DYNAMIC, name="type"), since=30, store=None),)

    name = Field(Text(), write=NEVER, plain=True)
    hosts = _names(plain=True)
    type = Field(Text(), since=30, write=NEVER, plain=True)
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
    links = Field(Links("drivers/{}"), write=NEVER, plain=True)
    properties = Field(Links("drivers/{}/properties"), since=14, write=NEVER, plain=True)
