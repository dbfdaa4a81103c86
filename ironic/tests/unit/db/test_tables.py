"""The tables, held against what other parts of the project say about them."""

import typing
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from ironic.core.interface_kinds import KINDS
from ironic.db import (
    ChassisRecord,
    ConductorRecord,
    HistoryRecord,
    InspectionRuleRecord,
    NodeRecord,
    PortgroupRecord,
    PortRecord,
    tables,
)
from ironic.db.record import Record

RECORDS = (
    ChassisRecord,
    ConductorRecord,
    HistoryRecord,
    InspectionRuleRecord,
    NodeRecord,
    PortRecord,
    PortgroupRecord,
)
OF_EVERY_RECORD = set(typing.get_type_hints(Record)) - {"id"}


@pytest.mark.parametrize("kind", RECORDS)
def test_a_record_declares_exactly_its_columns(kind: type[Record]) -> None:
    declared = set(typing.get_type_hints(kind)) - OF_EVERY_RECORD - {"held_by", "held_token"}
    assert declared == set(kind.form.names)


@pytest.mark.demand("S31")
def test_a_node_has_one_nullable_column_per_kind_of_interface() -> None:
    found = {name: column for name, column in tables.nodes.c.items() if name.endswith("_interface")}
    assert set(found) == {f"{kind}_interface" for kind in KINDS}
    assert all(column.nullable for column in found.values())


@pytest.mark.demand("S123")
def test_rules_are_one_table() -> None:
    columns = tables.inspection_rules.c
    assert {"uuid", "created_at", "updated_at", "priority", "sensitive", "conditions", "actions"} < set(columns.keys())
    lengths = {name: typing.cast(typing.Any, columns[name].type).length for name in ("description", "scope", "phase")}
    assert lengths == {"description": 255, "scope": 255, "phase": 16}
    indexed = {column.name for index in tables.inspection_rules.indexes for column in index.columns}
    assert indexed == {"scope", "phase"}


def test_every_foreign_key_is_indexed() -> None:
    for table in tables.metadata.tables.values():
        led = {next(iter(index.columns)).name for index in table.indexes} | {*_first_of_constraints(table)}
        assert {key.parent.name for key in table.foreign_keys} <= led, table.name


def _first_of_constraints(table: sa.Table) -> Iterator[str]:
    for made in table.constraints:
        if isinstance(made, sa.PrimaryKeyConstraint | sa.UniqueConstraint):
            yield next(iter(made.columns)).name
