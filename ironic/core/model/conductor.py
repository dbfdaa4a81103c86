"""The conductor, field by field.

Source: doc/contract/fields.md#conductor.
"""

from typing import ClassVar

from ironic.core.model.fields import NOBODY, Field, Resource
from ironic.core.values import Array, Bool, Datetime, Links, Text, ValueType


class Conductor(Resource):
    """A process that looks after nodes."""

    collection = "conductors"
    singular = "conductor"
    key = "hostname"
    marker: ClassVar[ValueType] = Text()

    created_at = Field(Datetime(), since=49, write=NOBODY)
    updated_at = Field(Datetime(), since=49, write=NOBODY)
    hostname = Field(Text(), since=49, write=NOBODY, plain=True)
    conductor_group = Field(Text(), since=49, write=NOBODY, plain=True)
    drivers = Field(Array(), since=49, write=NOBODY)
    links = Field(Links("conductors/{}"), since=49, write=NOBODY, plain=True)
    alive = Field(Bool(), since=49, write=NOBODY, plain=True, needs=("online", "updated_at"))
