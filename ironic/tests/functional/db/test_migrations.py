"""The migrations lead to the tables, on every kind of database; what is refused and how."""

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ironic.db import connect, require_current, schema
from ironic.db.schema_version import SCHEMA_VERSION
from ironic.db.tables import metadata
from ironic.tests.databases import empty_database

FOREIGN = "9fb44677ef15"


def describe(url: str) -> dict[str, Any]:
    """Return all that the database itself says about its tables."""
    engine = connect(url).engine
    with engine.connect() as connection:
        found = sa.inspect(connection)
        tables = {name: describe_table(found, name) for name in found.get_table_names() if name in metadata.tables}
    engine.dispose()
    return tables


def describe_table(found: sa.Inspector, name: str) -> dict[str, Any]:
    return {
        "columns": {column["name"]: {**column, "type": repr(column["type"])} for column in found.get_columns(name)},
        "key": found.get_pk_constraint(name),
        "foreign keys": sorted(found.get_foreign_keys(name), key=str),
        "unique": sorted(found.get_unique_constraints(name), key=str),
        "indexes": sorted(found.get_indexes(name), key=str),
        "options": found.get_table_options(name) if found.dialect.name == "mysql" else {},
    }


def test_migrations_lead_to_the_tables(empty: str, tmp_path: Path) -> None:
    schema.upgrade(empty)
    kind = {"mysql": "mariadb"}.get(sa.make_url(empty).get_backend_name(), sa.make_url(empty).get_backend_name())
    with empty_database(kind, tmp_path) as made_at_once:
        engine = connect(made_at_once).engine
        metadata.create_all(engine)
        engine.dispose()
        migrated, declared = describe(empty), describe(made_at_once)
    assert set(migrated) == set(metadata.tables)
    for name, table in declared.items():
        assert migrated[name] == table


def test_creating_and_upgrading_end_at_the_newest_version(empty: str) -> None:
    assert schema.current(empty) is None
    schema.create(empty)
    assert schema.current(empty) == schema.head() == SCHEMA_VERSION
    schema.upgrade(empty)
    store = connect(empty)
    require_current(store)
    store.nodes.create({"driver": "fake-hardware"})
    schema.upgrade(empty, SCHEMA_VERSION)
    assert store.nodes.count() == 1
    store.close()


def test_creating_over_tables_is_refused(empty: str) -> None:
    schema.create(empty)
    with pytest.raises(schema.SchemaExists, match="alembic_version"):
        schema.create(empty)


def test_the_database_of_another_program_is_left_alone(empty: str) -> None:
    engine = connect(empty).engine
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{FOREIGN}')")
    with pytest.raises(schema.SchemaUnknown, match=FOREIGN):
        schema.upgrade(empty)
    with pytest.raises(schema.SchemaExists):
        schema.create(empty)
    assert schema.current(empty) == FOREIGN
    engine.dispose()


def test_a_version_that_does_not_exist_is_refused(empty: str) -> None:
    for act in (schema.upgrade, schema.stamp):
        with pytest.raises(schema.NoSuchRevision, match="r9999"):
            act(empty, "r9999")
    assert schema.current(empty) is None


def test_a_version_can_be_noted(empty: str) -> None:
    schema.stamp(empty, "head")
    assert schema.current(empty) == SCHEMA_VERSION
    assert describe(empty) == {}
