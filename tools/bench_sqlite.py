"""Measure the latency of the all-in-one service on SQLite with 8 writing and 20 reading users: part of `make bench`.

The users are threads of other processes on the same machine. The exit status is 1 after any unsuccessful answer, any
message of a locked database and any lost change.
"""

import argparse
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from ironic import db
from ironic.tests import load
from ironic.tests.live_service import all_in_one, free_port
from ironic.tests.load import Outcome, Result, machine_free_options, nodes_of

WRITERS, READERS, PROCESSES, NODES = 8, 20, 4, 400


def measured(directory: Path, seconds: float) -> tuple[Result, list[str]]:
    """Run the service and its users; return their results and the errors."""
    port = free_port()
    with all_in_one([machine_free_options(directory, port)], directory / "ironic.log", port) as service:
        nodes = nodes_of(service, NODES)
        users = partial(load.run, port, writers=WRITERS // PROCESSES, readers=READERS // PROCESSES, seconds=seconds)
        with ProcessPoolExecutor(PROCESSES) as processes:
            parts = list(processes.map(users, (nodes[number::PROCESSES] for number in range(PROCESSES))))
        total = Result()
        for part in parts:
            total.writes.add(part.writes)
            total.reads.add(part.reads)
            total.acknowledged |= part.acknowledged
        wrong = sorted({*total.writes.refusals, *total.reads.refusals})
        wrong += ["the log has a message of a locked database"] if "database is locked" in service.log else []
        alive = [each["alive"] for each in service.get("/v1/conductors").json()["conductors"]]
        wrong += [] if alive == [True] else ["the conductor is not reported as alive"]
    return total, wrong + lost(directory, total)


def lost(directory: Path, result: Result) -> list[str]:
    """Return the nodes that don't hold their last acknowledged change."""
    store = db.connect(f"sqlite:///{directory}/ironic.sqlite")
    nodes = {node.uuid: node.extra["number"] for node in store.nodes.find() if node.uuid in result.acknowledged}
    store.close()
    return [f"node {uuid} lost a change" for uuid, number in result.acknowledged.items() if nodes[uuid] < number]


def line(name: str, outcome: Outcome, seconds: float) -> str:
    """Return the row of one kind of users."""
    milliseconds = [1000 * outcome.percentile(share) for share in (0.5, 0.99, 1.0)]
    rate = len(outcome.seconds) / seconds
    return f"{name:<34}{rate:>8.0f}/s" + "".join(f"{each:>10.1f}" for each in milliseconds) + f"   {outcome.statuses}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Latency of the all-in-one service over SQLite under load.")
    parser.add_argument("--seconds", type=float, default=60, help="how long the users send requests")
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as directory:
        result, wrong = measured(Path(directory), seconds)
    print(f"{'SQLite, milliseconds':<34}{'answers':>10}{'p50':>10}{'p99':>10}{'most':>10}   statuses")
    print(line(f"{WRITERS} writers (PATCH a node)", result.writes, seconds))
    print(line(f"{READERS} readers (GET a node, a list)", result.reads, seconds))
    print(f"{len(result.acknowledged)} nodes hold their last acknowledged change")
    for text in wrong:
        print(text, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
