"""Databases of the reference's releases, as `make change-over` has recorded them, restored on each kind of server."""

import json
import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

DIRECTORY = Path(__file__).parent / "data" / "reference_databases"
# Stands for the address of the service in recorded answers.
BASE = "http://recorded.example"
VERSIONS = tuple(sorted(path.name.removesuffix(".json.xz") for path in DIRECTORY.glob("*.json.xz")))


@dataclass(frozen=True)
class Recorded:
    """One recorded database; ``answers`` has status and body of each GET, by path."""

    release: str
    revision: str
    microversion: str
    tables: Mapping[str, list[str]]
    rows: Mapping[str, list[dict[str, Any]]]
    answers: Mapping[str, tuple[int, Any]]


@cache
def recorded(version: str) -> Recorded:
    """Return the record of a release."""
    found = json.loads(lzma.decompress((DIRECTORY / f"{version}.json.xz").read_bytes()))
    del found["generated"]
    return Recorded(**found)


def restore(url: str, version: str) -> Recorded:
    """Make the recorded tables and rows in an empty database, as the release itself would have them there."""
    record = recorded(version)
    engine = sa.create_engine(url)
    kind = {"mysql": "mariadb"}.get(engine.dialect.name, engine.dialect.name)
    with engine.begin() as connection:
        if kind == "mariadb":
            connection.exec_driver_sql("SET FOREIGN_KEY_CHECKS = 0")
        _make_tables(connection, kind, record)
        _insert(connection, engine, record)
    engine.dispose()
    return record


def _make_tables(connection: Connection, kind: str, record: Recorded) -> None:
    for statement in record.tables[kind]:
        connection.exec_driver_sql(statement.replace("%", "%%"))


def _insert(connection: Connection, engine: Engine, record: Recorded) -> None:
    """Insert the rows of SQLite; PostgreSQL knows its own type of truth values, and does not count explicit keys."""
    found = sa.MetaData()
    found.reflect(connection)
    for table in found.sorted_tables:
        rows = record.rows.get(table.name, [])
        if not rows:
            continue
        flags = {str(one.name) for one in table.c if isinstance(one.type, sa.Boolean)}
        values = [{key: bool(one) if key in flags and one is not None else one for key, one in row.items()} for row in rows]
        plain = sa.table(table.name, *(sa.column(key) for key in rows[0]))
        connection.execute(plain.insert(), values)
        if engine.dialect.name == "postgresql" and "id" in table.c:
            connection.exec_driver_sql(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), (SELECT max(id) FROM {table.name}))"
            )
