"""What a node's management found out about its firmware, field by field: BIOS settings and versions of components."""

from typing import ClassVar

from ironic.core.model.fields import NOBODY, Field, Resource
from ironic.core.values import Array, Bool, Datetime, Integer, Text, ValueType


class BiosSetting(Resource):
    """One setting of a machine's firmware."""

    collection = "bios"
    singular = "BIOS setting"
    key = "name"
    marker: ClassVar[ValueType] = Text()
    paged = False
    since_detail = 74
    since_fields = 74

    created_at = Field(Datetime(), write=NOBODY, plain=True)
    updated_at = Field(Datetime(), write=NOBODY, plain=True)
    name = Field(Text(), write=NOBODY, plain=True)
    value = Field(Text(None), write=NOBODY, plain=True, needs=("name", "value"))
    attribute_type = Field(Text(), since=74, write=NOBODY)
    allowable_values = Field(Array(), since=74, write=NOBODY)
    lower_bound = Field(Integer(), since=74, write=NOBODY)
    upper_bound = Field(Integer(), since=74, write=NOBODY, select=False)
    min_length = Field(Integer(), since=74, write=NOBODY)
    max_length = Field(Integer(), since=74, write=NOBODY)
    read_only = Field(Bool(), since=74, write=NOBODY)
    reset_required = Field(Bool(), since=74, write=NOBODY)
    unique = Field(Bool(), since=74, write=NOBODY)
    links = Field(ValueType(), write=NOBODY, plain=True, needs=("name",))


def _text(since: int = 86) -> Field:
    return Field(Text(), since=since, write=NOBODY, plain=True)


class FirmwareComponent(Resource):
    """One component of a machine that has firmware of its own."""

    collection = "firmware"
    singular = "firmware component"
    key = "component"
    marker: ClassVar[ValueType] = Text()
    paged = False
    since_detail = None

    created_at = Field(Datetime(), since=86, write=NOBODY, plain=True)
    updated_at = Field(Datetime(), since=86, write=NOBODY, plain=True)
    component = _text()
    initial_version = _text()
    current_version = _text()
    last_version_flashed = _text()
    vendor = _text(114)
    model = _text(114)
    serial_number = _text(114)
