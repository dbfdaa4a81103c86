"""The chassis, field by field.

Source: doc/contract/fields.md#chassis.
"""

from typing import ClassVar

from ironic.core.model.fields import EVERY, NOBODY, Field, Resource
from ironic.core.values import Array, Datetime, Links, Object, Text, Uuid, ValueType


class Chassis(Resource):
    """Something that holds machines."""

    collection = "chassis"
    singular = "chassis"
    marker: ClassVar[ValueType] = Uuid()

    # A patch may name it, as clients do that send all they have; it never changes.
    uuid = Field(Uuid(), removed_since=None, plain=True, told=EVERY)
    created_at = Field(Datetime(), write=NOBODY)
    updated_at = Field(Datetime(), write=NOBODY)
    description = Field(Text(), plain=True, told=EVERY)
    extra = Field(Object(), empty={}, told=EVERY)
    links = Field(Links("chassis/{}"), write=NOBODY, plain=True)
    nodes = Field(Array(), write=NOBODY, needs=("uuid",))
