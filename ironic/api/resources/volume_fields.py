"""Volume connectors and targets, field by field.

A connector names the node in a storage network, a target is a volume that the node attaches. Both belong to one node.
Source: facts/fields.yaml.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import orjson

from ironic.api import access
from ironic.api.fields import CREATE, NOBODY, REQUIRED, Field, Filter, Resource
from ironic.api.request import Request
from ironic.core import secrets
from ironic.core.values import Datetime, Integer, Links, Object, Text, Uuid, ValueType

_REDACTED: Final = orjson.Fragment(b'{"redacted_contents":"******"}')
_LARGEST: Final = 2**31 - 1


def shown_properties(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
    """Return the properties of each target without secrets, or a word in their place for who may not see them."""
    if not access.allows(request, "baremetal:volume:view_target_properties"):
        return [_REDACTED] * len(rows)
    return [secrets.masked(orjson.loads(text)) if text else {} for (text,) in rows]


class VolumeConnector(Resource):
    """What a node is known by in a storage network."""

    collection = "connectors"
    singular = "volume connector"
    marker: ClassVar[ValueType] = Uuid()
    own_filters = (Filter("node", Text(), store=None),)
    since_detail = 32
    plain_order = ("uuid", "node_uuid", "type", "connector_id")

    uuid = Field(Uuid(), since=32, write=CREATE, plain=True)
    created_at = Field(Datetime(), since=32, write=NOBODY)
    updated_at = Field(Datetime(), since=32, write=NOBODY)
    connector_id = Field(Text(), since=32, nullable=False, empty=REQUIRED, plain=True)
    extra = Field(Object(), since=32, empty={})
    type = Field(Text(32), since=32, nullable=False, empty=REQUIRED, plain=True)
    links = Field(Links("volume/connectors/{}"), since=32, write=NOBODY, plain=True)
    node_uuid = Field(Uuid(), since=32, nullable=False, empty=REQUIRED, plain=True, sort=False)


class VolumeTarget(Resource):
    """A volume for a node."""

    collection = "targets"
    singular = "volume target"
    marker: ClassVar[ValueType] = Uuid()
    own_filters = (Filter("node", Text(), store=None),)
    since_detail = 32
    plain_order = ("uuid", "node_uuid", "volume_type", "boot_index", "volume_id")

    uuid = Field(Uuid(), since=32, write=CREATE, plain=True)
    created_at = Field(Datetime(), since=32, write=NOBODY)
    updated_at = Field(Datetime(), since=32, write=NOBODY)
    boot_index = Field(Integer(-_LARGEST, _LARGEST), since=32, nullable=False, empty=REQUIRED, plain=True)
    extra = Field(Object(), since=32, empty={})
    properties = Field(
        Object(), since=32, empty={}, needs=("properties",), gather=shown_properties, mask=secrets.masked
    )
    volume_id = Field(Text(36), since=32, nullable=False, empty=REQUIRED, plain=True)
    volume_type = Field(Text(64), since=32, nullable=False, empty=REQUIRED, plain=True)
    links = Field(Links("volume/targets/{}"), since=32, write=NOBODY, plain=True)
    node_uuid = Field(Uuid(), since=32, nullable=False, empty=REQUIRED, plain=True, sort=False)
