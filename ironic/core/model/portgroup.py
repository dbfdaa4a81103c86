"""The port group, field by field.

Source: doc/contract/fields.md#port-group.
"""

from typing import ClassVar

from ironic.core import secrets
from ironic.core.model.fields import ANYONE, CREATE, EVERY, NOBODY, REQUIRED, Field, Filter, Resource
from ironic.core.values import Bool, Datetime, Links, LogicalName, Mac, Object, Text, Uuid, ValueType, Words


class Portgroup(Resource):
    """Several network cards of a machine that work as one."""

    collection = "portgroups"
    singular = "port group"
    marker: ClassVar[ValueType] = Uuid()
    own_filters = (
        Filter("node", Text(), store=None),
        Filter("address", Mac()),
        Filter("shard", Words(), since=106),
        Filter("conductor_groups", Words()),
    )

    uuid = Field(Uuid(), since=23, write=CREATE, plain=True, told=EVERY)
    created_at = Field(Datetime(), since=23, write=NOBODY)
    updated_at = Field(Datetime(), since=23, write=NOBODY)
    address = Field(Mac(), since=23, plain=True, told=EVERY)
    extra = Field(Object(), since=23, empty={}, told=EVERY)
    internal_info = Field(Object(), since=23, write=NOBODY, mask=secrets.masked)
    mode = Field(Text(), since=26, removed_since=None, told=EVERY)
    name = Field(LogicalName(), since=23, plain=True, told=EVERY)
    properties = Field(Object(), since=26, empty={}, told=EVERY)
    standalone_ports_supported = Field(Bool(), since=23, empty=True, told=EVERY)
    node_uuid = Field(Uuid(), since=23, nullable=False, empty=REQUIRED, sort=False, told=EVERY)
    physical_network = Field(Text(64), since=102, named_early=True, ungated=ANYONE, told=EVERY)
    category = Field(Text(80), since=103, named_early=True, ungated=ANYONE, told=EVERY)
    dynamic_portgroup = Field(Bool(), since=111, write=NOBODY, told=EVERY)
    links = Field(Links("portgroups/{}"), since=23, write=NOBODY, plain=True)
    ports = Field(Links("portgroups/{}/ports"), since=23, write=NOBODY)
