"""The port, field by field: the reference page of the resource.

Whether a change fits the state of the port's node is decided by the conductor that holds the node; here stand only
type, history, who may write and see a value, and who is told of it. Source: doc/contract/fields.md#port.
"""

from typing import ClassVar

from ironic.core import secrets
from ironic.core.model import local_link
from ironic.core.model.fields import CREATE, EVERY, NOBODY, PATCH, REQUIRED, Field, Filter, Resource
from ironic.core.values import (
    Bool,
    Datetime,
    Links,
    Mac,
    NameOrUuid,
    Object,
    StrictBool,
    Text,
    Uuid,
    ValueType,
    Words,
)


class Port(Resource):
    """A network card of a machine."""

    collection = "ports"
    singular = "port"
    marker: ClassVar[ValueType] = Uuid()
    own_filters = (
        Filter("node", Text(), store=None),
        Filter("node_uuid", Uuid()),
        Filter("address", Mac()),
        Filter("portgroup", NameOrUuid(), since=24, store=None),
        Filter("shard", Words(), since=82),
        Filter("conductor_groups", Words()),
        Filter("description_contains", Text(4096)),
    )

    uuid = Field(Uuid(), write=CREATE, plain=True, told=EVERY)
    created_at = Field(Datetime(), write=NOBODY)
    updated_at = Field(Datetime(), write=NOBODY)
    address = Field(Mac(), nullable=False, empty=REQUIRED, plain=True, told=EVERY)
    extra = Field(Object(), empty={}, told=EVERY)
    internal_info = Field(Object(), since=18, named_early=True, write=NOBODY, mask=secrets.masked)
    is_smartnic = Field(Bool(), since=53, empty=False, told=EVERY)
    local_link_connection = Field(
        local_link.LOCAL_LINK, since=19, empty={}, render=local_link.of_version, by_rules=Object(), told=EVERY
    )
    physical_network = Field(Text(64, 1), since=34, told=EVERY)
    pxe_enabled = Field(Bool(), since=19, empty=True, told=EVERY)
    node_uuid = Field(Uuid(), write=CREATE | PATCH, nullable=False, sort=False, told=EVERY)
    # Names of ports have no syntax; one that no path can spell is found by the port's UUID only.
    name = Field(Text(), since=88, ungated=PATCH, told=EVERY)
    description = Field(Text(), since=97, ungated=PATCH, told=EVERY)
    vendor = Field(Text(32), since=100, ungated=PATCH, told=EVERY)
    category = Field(Text(80), since=101, ungated=PATCH, told=EVERY)
    available_for_dynamic_portgroup = Field(StrictBool(), since=111, ungated=PATCH, empty=True, told=EVERY)
    links = Field(Links("ports/{}"), write=NOBODY, plain=True)
    portgroup_uuid = Field(Uuid(), since=24, write=CREATE | PATCH, sort=False, told=EVERY)
    # Names the node in place of node_uuid.
    node_ident = Field(Text(255, 1), since=94, write=CREATE, column=None, hidden=True)
