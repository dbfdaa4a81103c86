"""The port group, field by field.

Source: facts/fields.yaml and endpoints.yaml.
"""

from typing import ClassVar

from ironic.api.fields import ANYONE, CREATE, NOBODY, REQUIRED, Field, Filter, Resource
from ironic.api.types import Bool, Datetime, Links, LogicalName, Mac, Object, Text, Uuid, ValueType, Words
from ironic.core import secrets


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

    uuid = Field(Uuid(), since=23, write=CREATE, plain=True)
    created_at = Field(Datetime(), since=23, write=NOBODY)
    updated_at = Field(Datetime(), since=23, write=NOBODY)
    address = Field(Mac(), since=23, plain=True)
    extra = Field(Object(), since=23, empty={})
    internal_info = Field(Object(), since=23, write=NOBODY, mask=secrets.masked)
    mode = Field(Text(), since=26)
    name = Field(LogicalName(), since=23, plain=True)
    properties = Field(Object(), since=26, empty={})
    standalone_ports_supported = Field(Bool(), since=23, empty=True)
    node_uuid = Field(Uuid(), since=23, nullable=False, empty=REQUIRED, sort=False)
    physical_network = Field(Text(64), since=102, named_early=True, ungated=ANYONE)
    category = Field(Text(80), since=103, named_early=True, ungated=ANYONE)
    dynamic_portgroup = Field(Bool(), since=111, write=NOBODY)
    links = Field(Links("portgroups/{}"), since=23, write=NOBODY, plain=True)
    ports = Field(Links("portgroups/{}/ports"), since=23, write=NOBODY)
