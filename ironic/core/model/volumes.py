"""Volume connectors and targets, field by field.

A connector names the node in a storage network, a target is a volume that the node attaches. Both belong to one node.
Source: doc/contract/fields.md#volume-connector-and-target.
"""

from typing import ClassVar, Final

from ironic.core.errors.resource_errors import VolumeConnectorNotFound, VolumeTargetNotFound
from ironic.core.model.fields import CREATE, EVERY, NEVER, REQUIRED, Belongs, Field, Filter, Resource
from ironic.core.secrets import masking
from ironic.core.values.value_types import Datetime, Integer, Links, Object, Text, Uuid, ValueType

_LARGEST: Final = 2**31 - 1


class VolumeConnector(Resource):
    """The identity of a node in a storage network."""

    collection = "connectors"
    singular = "volume connector"
    word = "connector"
    belongs = Belongs.TO_NODE
    not_found = VolumeConnectorNotFound
    stored_in = "volume_connectors"
    payload_version = "1.0"
    marker: ClassVar[ValueType] = Uuid()
    own_filters = (Filter("node", Text(), store=None),)
    since_detail = 32
    plain_order = ("uuid", "node_uuid", "type", "connector_id")

    uuid = Field(Uuid(), since=32, write=CREATE, plain=True, notified=EVERY)
    created_at = Field(Datetime(), since=32, write=NEVER)
    updated_at = Field(Datetime(), since=32, write=NEVER)
    connector_id = Field(Text(), since=32, nullable=False, empty=REQUIRED, plain=True, notified=EVERY)
    extra = Field(Object(), since=32, empty={}, notified=EVERY)
    type = Field(Text(32), since=32, nullable=False, empty=REQUIRED, plain=True, notified=EVERY)
    links = Field(Links("volume/connectors/{}"), since=32, write=NEVER, plain=True)
    node_uuid = Field(Uuid(), since=32, nullable=False, empty=REQUIRED, plain=True, sort=False, notified=EVERY)


class VolumeTarget(Resource):
    """A volume that a node attaches."""

    collection = "targets"
    singular = "volume target"
    word = "target"
    belongs = Belongs.TO_NODE
    not_found = VolumeTargetNotFound
    stored_in = "volume_targets"
    payload_version = "1.0"
    marker: ClassVar[ValueType] = Uuid()
    own_filters = (Filter("node", Text(), store=None),)
    since_detail = 32
    plain_order = ("uuid", "node_uuid", "volume_type", "boot_index", "volume_id")

    uuid = Field(Uuid(), since=32, write=CREATE, plain=True, notified=EVERY)
    created_at = Field(Datetime(), since=32, write=NEVER)
    updated_at = Field(Datetime(), since=32, write=NEVER)
    boot_index = Field(
        Integer(-_LARGEST, _LARGEST), since=32, nullable=False, empty=REQUIRED, plain=True, notified=EVERY
    )
    extra = Field(Object(), since=32, empty={}, notified=EVERY)
    # Shown to some callers only.
    properties = Field(Object(), since=32, empty={}, needs=("properties",), mask=masking.masked, notified=EVERY)
    volume_id = Field(Text(36), since=32, nullable=False, empty=REQUIRED, plain=True, notified=EVERY)
    volume_type = Field(Text(64), since=32, nullable=False, empty=REQUIRED, plain=True, notified=EVERY)
    links = Field(Links("volume/targets/{}"), since=32, write=NEVER, plain=True)
    node_uuid = Field(Uuid(), since=32, nullable=False, empty=REQUIRED, plain=True, sort=False, notified=EVERY)
