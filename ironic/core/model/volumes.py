"""Volume connectors and targets, field by field.

A connector names the node in a storage network, a target is a volume that the node attaches. Both belong to one node.
Source: doc/contract/fields.md#volume-connector-and-target.
"""

from typing import ClassVar, Final

from ironic.core import secrets
from ironic.core.model.fields import CREATE, EVERY, NOBODY, REQUIRED, Field, Filter, Resource
from ironic.core.values import Datetime, Integer, Links, Object, Text, Uuid, ValueType

_LARGEST: Final = 2**31 - 1


class VolumeConnector(Resource):
    """What a node is known by in a storage network."""

    collection = "connectors"
    singular = "volume connector"
    marker: ClassVar[ValueType] = Uuid()
    own_filters = (Filter("node", Text(), store=None),)
    since_detail = 32
    plain_order = ("uuid", "node_uuid", "type", "connector_id")

    uuid = Field(Uuid(), since=32, write=CREATE, plain=True, told=EVERY)
    created_at = Field(Datetime(), since=32, write=NOBODY)
    updated_at = Field(Datetime(), since=32, write=NOBODY)
    connector_id = Field(Text(), since=32, nullable=False, empty=REQUIRED, plain=True, told=EVERY)
    extra = Field(Object(), since=32, empty={}, told=EVERY)
    type = Field(Text(32), since=32, nullable=False, empty=REQUIRED, plain=True, told=EVERY)
    links = Field(Links("volume/connectors/{}"), since=32, write=NOBODY, plain=True)
    node_uuid = Field(Uuid(), since=32, nullable=False, empty=REQUIRED, plain=True, sort=False, told=EVERY)


class VolumeTarget(Resource):
    """A volume for a node."""

    collection = "targets"
    singular = "volume target"
    marker: ClassVar[ValueType] = Uuid()
    own_filters = (Filter("node", Text(), store=None),)
    since_detail = 32
    plain_order = ("uuid", "node_uuid", "volume_type", "boot_index", "volume_id")

    uuid = Field(Uuid(), since=32, write=CREATE, plain=True, told=EVERY)
    created_at = Field(Datetime(), since=32, write=NOBODY)
    updated_at = Field(Datetime(), since=32, write=NOBODY)
    boot_index = Field(Integer(-_LARGEST, _LARGEST), since=32, nullable=False, empty=REQUIRED, plain=True, told=EVERY)
    extra = Field(Object(), since=32, empty={}, told=EVERY)
    # Shown to some callers only.
    properties = Field(Object(), since=32, empty={}, needs=("properties",), mask=secrets.masked, told=EVERY)
    volume_id = Field(Text(36), since=32, nullable=False, empty=REQUIRED, plain=True, told=EVERY)
    volume_type = Field(Text(64), since=32, nullable=False, empty=REQUIRED, plain=True, told=EVERY)
    links = Field(Links("volume/targets/{}"), since=32, write=NOBODY, plain=True)
    node_uuid = Field(Uuid(), since=32, nullable=False, empty=REQUIRED, plain=True, sort=False, told=EVERY)
