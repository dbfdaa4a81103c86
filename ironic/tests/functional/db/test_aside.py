"""What stands where the reference's tables are moved, and what of a site refers to them."""

import pytest

from ironic.command import change_over
from ironic.db import schema, takeover
from ironic.db.schema_version import SCHEMA_VERSION
from ironic.db.tables import metadata
from ironic.db.takeover import TakeOver, aside
from ironic.tests.functional.db.test_takeover import (
    NEWEST,
    change,
    contents,
    engine_of,
    one,
    quiet,
    take_over,
)
from ironic.tests.reference_databases import recorded, restore


@pytest.mark.parametrize("empty", ["sqlite", "postgresql"], indirect=True)
def test_rows_are_not_lost_where_an_earlier_take_over_has_left_its_tables(empty: str) -> None:
    """As after a dump of the other service was restored beside them."""
    restore(empty, NEWEST)
    take_over(empty)
    with engine_of(empty) as engine, engine.begin() as connection:
        metadata.drop_all(connection)
        connection.exec_driver_sql("DROP TABLE alembic_version")
    restore(empty, NEWEST)
    change(empty, "UPDATE nodes SET description = 'written since' WHERE id = 1")
    with engine_of(empty) as engine, engine.connect() as connection:
        assert "drop_reference_tables" in str(aside.occupied(connection, takeover.THEIRS))
    with pytest.raises(change_over.Prevented, match=r"nodes \.\.\.|drop_reference_tables"):
        change_over.take_over(empty, ["work", "running"])
    assert one(empty, "SELECT description FROM nodes WHERE id = 1") == "written since"
    with engine_of(empty) as engine:
        TakeOver(engine, quiet).drop()
    take_over(empty)
    assert schema.current(empty) == SCHEMA_VERSION
    assert one(empty, "SELECT description FROM nodes WHERE id = 1") == "written since"


def test_a_table_of_another_program_where_ours_is_moved_loses_nothing(empty: str) -> None:
    restore(empty, NEWEST)
    if empty.startswith("postgresql"):
        change(empty, "CREATE SCHEMA ironic_reference", "CREATE TABLE ironic_reference.nodes (a integer)")
    else:
        change(empty, "CREATE TABLE reference_nodes (a integer)")
    before = contents(empty)
    with pytest.raises(aside.Occupied, match="nodes"):
        take_over(empty)
    assert contents(empty) == before


def test_tables_to_which_a_site_refers_are_not_half_deleted(empty: str) -> None:
    restore(empty, NEWEST)
    change(empty, "CREATE TABLE site_racks (id INTEGER PRIMARY KEY, node_id INTEGER REFERENCES nodes (id))")
    if empty.startswith("mysql"):
        change(empty, "ALTER TABLE site_racks ADD FOREIGN KEY (node_id) REFERENCES nodes (id)")
    take_over(empty)
    before = contents(empty).keys()
    with engine_of(empty) as engine, pytest.raises(takeover.Bound, match="table site_racks"):
        TakeOver(engine, quiet).drop()
    assert contents(empty).keys() == before
    change(empty, "DROP TABLE site_racks")
    with engine_of(empty) as engine:
        TakeOver(engine, quiet).drop()
    assert not any(name.startswith("reference_") for name in contents(empty))


@pytest.mark.parametrize("empty", ["sqlite", "postgresql"], indirect=True)
def test_a_view_of_a_site_is_not_deleted_with_the_tables(empty: str) -> None:
    restore(empty, NEWEST)
    change(empty, "CREATE VIEW site_view AS SELECT uuid, name FROM nodes")
    take_over(empty)
    with engine_of(empty) as engine, pytest.raises(takeover.Bound, match="view site_view"):
        TakeOver(engine, quiet).drop()
    assert one(empty, "SELECT count(*) FROM site_view") == len(recorded(NEWEST).rows["nodes"])


@pytest.mark.parametrize("empty", ["postgresql"], indirect=True)
def test_what_else_is_in_the_schema_stays(empty: str) -> None:
    restore(empty, NEWEST)
    change(empty, "CREATE SCHEMA ironic_reference", "CREATE TABLE ironic_reference.precious (a integer)")
    take_over(empty)
    with engine_of(empty) as engine:
        TakeOver(engine, quiet).drop()
    assert one(empty, "SELECT count(*) FROM ironic_reference.precious") == 0
