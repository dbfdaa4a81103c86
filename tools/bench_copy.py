"""How long a database takes to be copied, backed up and restored: for so many nodes, on each pair of databases.

    .venv/bin/python tools/bench_copy.py [--nodes 10000] [--server KIND=URL]

Each node has two ports, three traits, twenty rows of history, an inventory and two settings of its BIOS. Takes a
quarter of an hour with 10,000 nodes on two busy cores.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bench_servers

from ironic.db import connect
from ironic.tests.databases import database_with_tables, empty_database
from ironic.tests.filled_database import fill

KINDS = ("sqlite", "mariadb", "postgresql")


def timed(directory: Path, url: str, *words: str) -> float:
    """Run `ironic-dbsync` and return its seconds."""
    configuration = directory / "bench.conf"
    configuration.write_text(f"[database]\nconnection = {url}\n")
    program = [sys.executable, "-m", "ironic.command.dbsync", "--config-file", str(configuration), *words]
    began = time.monotonic()
    subprocess.run(program, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def main(nodes: int) -> None:
    """Print a line for each command."""
    each = {"ports": 2, "node_traits": 3, "node_history": 20, "node_inventory": 1, "bios_settings": 2}
    counts = {"nodes": nodes, **{name: nodes * count for name, count in each.items()}}
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for kind in KINDS:
            with database_with_tables(kind, directory) as url:
                store = connect(url)
                fill(store.engine, counts)
                store.close()
                for target in KINDS:
                    with empty_database(target, directory) as there:
                        print(
                            f"copy {kind} to {target}: {timed(directory, url, 'copy', '--to', there):.0f} s", flush=True
                        )
                path = directory / f"{kind}.backup"
                print(f"backup of {kind}: {timed(directory, url, 'backup', str(path)):.0f} s", flush=True)
                print(f"the file has {path.stat().st_size // 2**20} MiB")
                print(f"restore to {kind}: {timed(directory, url, 'restore', str(path)):.0f} s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure copies, backups and restores.")
    parser.add_argument("--nodes", type=int, default=10_000)
    bench_servers.add_option(parser)
    chosen = parser.parse_args()
    bench_servers.use(chosen)
    main(chosen.nodes)
