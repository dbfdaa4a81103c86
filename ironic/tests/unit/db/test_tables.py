"""The tables, held against what other parts of the project say about them."""

import typing
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from ironic.core.hardware_interfaces import KINDS
from ironic.db import ConductorRecord, NodeRecord, PortRecord, tables
from ironic.db.record import Record
from ironic.db.tables.columns import Columns

RECORDS = [kind for kind in Record.__subclasses__() if issubclass(kind, Columns)]


def test_every_kind_of_record_has_a_table_of_its_own() -> None:
    assert {NodeRecord, PortRecord, ConductorRecord} < set(RECORDS)
    assert len({kind.table.name for kind in RECORDS}) == len(RECORDS)


@pytest.mark.parametrize("kind", RECORDS)
def test_a_record_has_exactly_its_columns(kind: type[Any]) -> None:
    declared = {name for base in kind.__mro__ if issubclass(base, Columns) for name in _columns_of(base)}
    assert declared == set(kind.form.names) == set(kind.table.c.keys())
    # They are in the hands of its instances only.
    assert not any(hasattr(kind, name) for name in declared)


def _columns_of(base: type[Any]) -> set[str]:
    said = {} if base is Columns or issubclass(base, Record) else base.__annotations__
    return {name for name, kind in said.items() if typing.get_origin(kind) is not typing.ClassVar}


def test_a_column_may_be_null_if_its_type_or_its_line_says_so() -> None:
    found = {name for name, column in tables.nodes.c.items() if not column.nullable}
    assert found == {
        "id", "uuid", "created_at", "conductor_group", "maintenance", "protected", "retired", "console_enabled",
        "disable_power_off", "auto_discovered",
    }  # fmt: skip
    # These are always filled, though the database would not mind.
    assert tables.nodes.c.driver.nullable
    assert tables.nodes.c.provision_state.nullable


@pytest.mark.demand("S21")
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
