"""Databases of the reference's releases, as `make change-over` has recorded them, restored on each kind of server."""

import json
import lzma
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
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
        values = [
            {key: bool(one) if key in flags and one is not None else one for key, one in row.items()} for row in rows
        ]
        plain = sa.table(table.name, *(sa.column(key) for key in rows[0]))
        connection.execute(plain.insert(), values)
        if engine.dialect.name == "postgresql" and "id" in table.c:
            connection.exec_driver_sql(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), (SELECT max(id) FROM {table.name}))"
            )


_FRACTION = re.compile(r"(T\d\d:\d\d:\d\d)\.\d{6}")

_text = partial(json.dumps, sort_keys=True)

# Ours say more, or the reference's release said too much: where an answer may differ, and how.
AGREED = {
    "auto_discovered": lambda before, after: before is None and after is False,
    "built_in": lambda before, after: before is None and after is False,
    "hits": lambda before, after: before is None and after["evaluated"] == 0,
    # A release before 36.0 had no traits of runbooks: the name was the trait.
    "traits": lambda before, after: before == [] and len(after) == 1,
    # Older releases show these secrets of a volume target.
    "auth_password": lambda _before, after: after == "******",
    # Releases before 33.0 link rules to a path that does not exist.
    "href": lambda before, after: str(before).replace("/inspection/", "/inspection_rules/") == after,
    # Releases do not say in which order they list shards.
    "shards": lambda before, after: sorted(before, key=_text) == sorted(after, key=_text),
}


def differences(record: Recorded, get: Callable[[str], tuple[int, Any]], *, fractions: bool = True) -> Iterator[str]:
    """Give where answers of a service, which ``get`` returns by path, are others than those of the reference.

    Without ``fractions``, times are compared by their seconds: the reference's tables of MariaDB store no more.
    """
    for path, (status, body) in record.answers.items():
        found, answer = get(path)
        if not fractions:
            body, answer = (json.loads(re.sub(_FRACTION, r"\1", json.dumps(one))) for one in (body, answer))
        if found != status:
            yield f"{path}: {found} in place of {status}"
        elif status == 200:
            yield from _differences(body, answer, path)


def _differences(before: Any, after: Any, where: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            values = before.get(key), after.get(key)
            if values[0] != values[1] and not (key in AGREED and AGREED[key](*values)):
                yield from _differences(*values, f"{where} {key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, values in enumerate(zip(before, after, strict=True)):
            yield from _differences(*values, f"{where} {place}")
    elif before != after:
        yield f"{where}: {after!r} in place of {before!r}"
