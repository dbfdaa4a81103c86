"""Record a filled database of a release: its tables as each server has them, its rows, and what REST answers.

The records are `ironic/tests/data/reference_databases/<version>.json.xz`; `ironic/tests/reference_databases.py` reads
them.
"""

import json
import lzma
import re
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requests
import sqlalchemy as sa
from change_over.fill import fill
from change_over.releases import Release
from change_over.service import Reference

from ironic.tests.databases import empty_database
from ironic.tests.reference_databases import BASE, DIRECTORY

# First the list, then the first microversion that has it.
_LISTS = {
    "/v1/nodes/detail": 1,
    "/v1/nodes/detail?include_children=True": 104,
    "/v1/chassis/detail": 1,
    "/v1/ports/detail": 1,
    "/v1/portgroups/detail": 1,
    "/v1/allocations": 1,
    "/v1/volume/connectors?detail=True": 1,
    "/v1/volume/targets?detail=True": 1,
    "/v1/deploy_templates?detail=True": 1,
    "/v1/runbooks?detail=True": 92,
    "/v1/inspection_rules?detail=True": 96,
    "/v1/shards": 1,
}
_OF_NODES = (
    *("", "/states", "/traits", "/history?detail=True", "/inventory", "/bios?detail=True", "/firmware", "/allocation"),
    *("/ports/detail", "/portgroups/detail", "/volume/connectors", "/volume/targets", "/children"),
)


def record(release: Release) -> Path:
    """Fill a database by the release's own service and record it; returns the path of the record."""
    release.install()
    with tempfile.TemporaryDirectory(prefix="change-over-") as home:
        directory = Path(home)
        database = directory / "reference.sqlite"
        reference = Reference(release, directory, f"sqlite:///{database}")
        reference.make_schema()
        reference.start()
        try:
            fill(reference)
            answers, version = dict(_answers(reference)), reference.version()
        finally:
            reference.kill()
        found = {
            "generated": "by `make change-over`; do not edit",
            "release": release.version,
            "revision": release.revision,
            "microversion": version,
            "tables": {"sqlite": _sqlite_tables(database), **_server_tables(release, directory)},
            "rows": _rows(database),
            "answers": answers,
        }
    path = DIRECTORY / f"{release.version}.json.xz"
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    return path


def _answers(reference: Reference) -> Iterator[tuple[str, list[Any]]]:
    """Give path, status and body of every GET that shows what is stored; the service's own address is `BASE`."""
    minor = int(reference.version().partition(".")[2])
    for path, since in _LISTS.items():
        if minor < since:
            continue
        yield path, _answer(reference, path)
        kind = path.partition("?")[0].removesuffix("/detail")
        for item in next(iter(reference.get(path).values())):
            if "uuid" not in item:
                continue
            for part in _OF_NODES if kind == "/v1/nodes" else ("",):
                yield f"{kind}/{item['uuid']}{part}", _answer(reference, f"{kind}/{item['uuid']}{part}")


def _answer(reference: Reference, path: str) -> list[Any]:
    try:
        body = reference.get(path)
    except requests.HTTPError as refused:
        return [refused.response.status_code, None]
    return [200, json.loads(json.dumps(body).replace(reference.base, BASE))]


def _sqlite_tables(database: Path) -> list[str]:
    with sqlite3.connect(database) as connection:
        found = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
        return [text for (text,) in found]


def _rows(database: Path) -> dict[str, list[dict[str, Any]]]:
    with sqlite3.connect(database) as connection:
        connection.row_factory = sqlite3.Row
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: [dict(row) for row in connection.execute(f"SELECT * FROM {name}")] for name in names}


def _server_tables(release: Release, directory: Path) -> dict[str, list[str]]:
    """Return the statements that make the tables, as the release makes them on the servers."""
    tables = {}
    for kind, read in (("mariadb", _mariadb_tables), ("postgresql", _postgresql_tables)):
        with empty_database(kind, directory) as url:
            reference = Reference(release, directory, url)
            reference.run("ironic-dbsync", "upgrade")
            tables[kind] = read(url)
    return tables


def _mariadb_tables(url: str) -> list[str]:
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        names = sa.inspect(connection).get_table_names()
        shown = [connection.exec_driver_sql(f"SHOW CREATE TABLE {name}").one()[1] for name in names]
    engine.dispose()
    return [re.sub(r" AUTO_INCREMENT=\d+", "", text) for text in shown]


def _postgresql_tables(url: str) -> list[str]:
    plain = url.replace("+psycopg2", "")
    command = ["pg_dump", "--schema-only", "--no-owner", "--no-privileges", plain]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [one for one in text.splitlines() if not one.startswith(("--", "SET ", "SELECT ", "\\")) and one.strip()]
    return [one.strip() for one in "\n".join(lines).split(";\n") if one.strip()]
