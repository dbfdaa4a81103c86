"""How long the take-over of a database of the reference takes: for so many nodes, on each kind of database.

    .venv/bin/python tools/bench_takeover.py [--nodes 10000] [--server KIND=URL] [sqlite] [mariadb] [postgresql]

Each node has two ports, two traits and twenty entries of history. The databases are made for it, and dropped.
"""

import argparse
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

import bench_servers
import sqlalchemy as sa

from ironic.db import engines, takeover
from ironic.db.takeover import Settings, TakeOver
from ironic.tests.databases import empty_database
from ironic.tests.reference_databases import VERSIONS, recorded, restore

_BATCH = 500


def fill(url: str, nodes: int) -> None:
    """Repeat a recorded node, with others around it."""
    restore(url, VERSIONS[-1])
    pattern = next(row for row in recorded(VERSIONS[-1]).rows["nodes"] if row["name"] == "full")
    pattern = {**pattern, "reservation": None, "target_power_state": None, "allocation_id": None}
    port = {**recorded(VERSIONS[-1]).rows["ports"][0], "portgroup_id": None}
    entry = recorded(VERSIONS[-1]).rows["node_history"][0]
    engine = sa.create_engine(url)
    found = sa.MetaData()
    found.reflect(engine, only=["nodes", "ports", "node_traits", "node_history"])
    plain = {name: sa.table(name, *(sa.column(str(one.name)) for one in found.tables[name].c)) for name in found.tables}
    flags = {str(one.name) for table in found.tables.values() for one in table.c if isinstance(one.type, sa.Boolean)}

    def typed(row: dict[str, Any]) -> dict[str, Any]:
        return {key: bool(value) if key in flags and value is not None else value for key, value in row.items()}

    for first in range(1000, 1000 + nodes, _BATCH):
        keys = range(first, min(first + _BATCH, 1000 + nodes))
        rows: dict[str, list[dict[str, Any]]] = {"nodes": [], "ports": [], "node_traits": [], "node_history": []}
        for key in keys:
            rows["nodes"].append(typed({**pattern, "id": key, "uuid": str(uuid.uuid4()), "name": f"node-{key}"}))
            for number in range(2):
                address = f"52:55:00:{key // 256:02x}:{key % 256:02x}:0{number}"
                made = {
                    "id": 2 * key + number,
                    "uuid": str(uuid.uuid4()),
                    "node_id": key,
                    "address": address,
                    "name": None,
                }
                rows["ports"].append(typed({**port, **made}))
                rows["node_traits"].append({"node_id": key, "trait": f"CUSTOM_{number}"})
            for number in range(20):
                made = {"id": 20 * key + number, "uuid": str(uuid.uuid4()), "node_id": key}
                rows["node_history"].append(typed({**entry, **made}))
        with engine.begin() as connection:
            for name, values in rows.items():
                connection.execute(plain[name].insert(), values)
    engine.dispose()


def measure(kind: str, nodes: int) -> None:
    """Make a database, take it over, go back, and print the seconds of each."""
    with tempfile.TemporaryDirectory() as directory, empty_database(kind, Path(directory)) as url:
        fill(url, nodes)
        engine = engines.create(url, engines.PoolOptions())
        with engine.connect() as connection:
            found = takeover.recognise(connection)
            if found is None:
                raise RuntimeError("The database that was made is not recognised")
        begun = TakeOver(engine, lambda text: None)
        begin = time.process_time()
        marks = [time.perf_counter()]
        begun.begin(found, Settings(accepted=tuple(takeover.Loss)))
        marks.append(time.perf_counter())
        begun.run()
        marks.append(time.perf_counter())
        begun.go_back(["written"])
        marks.append(time.perf_counter())
        engine.dispose()
    planned, moved, back = (after - before for before, after in zip(marks, marks[1:], strict=False))
    own = time.process_time() - begin
    text = f"{kind}, {nodes} nodes: plan {planned:.1f} s, take-over {moved:.1f} s, way back {back:.1f} s"
    print(f"{text}; CPU time of the program {own:.1f} s", flush=True)


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description="Measure the take-over of a database of the reference.")
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("kinds", nargs="*", default=["sqlite", "mariadb", "postgresql"])
    bench_servers.add_option(parser)
    chosen = parser.parse_args()
    bench_servers.use(chosen)
    for kind in chosen.kinds:
        measure(kind, chosen.nodes)


if __name__ == "__main__":
    main()
