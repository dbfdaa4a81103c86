"""Measure the CPU time of requests, rules and inspections on this machine: `make bench`.

The real application answers the requests in this process on a SQLite file; the web server is not included.
Each figure is the median over runs; compare figures of one run only, machines differ.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench_inspection

from ironic.core.rules import check_rule, evaluate
from ironic.inspection.rules.rule_run import facts_without_node
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service

RULES = 1000


def requests(service: Service, nodes: int) -> list[tuple[str, Callable[[], Any], int]]:
    """Fill the database; return name, action and number of runs of each figure."""
    for number in range(nodes):
        body = {"driver": "fake-hardware", "name": f"n{number}", "extra": {"rack": number % 40, "note": "x" * 200}}
        made = service.call("POST", "/v1/nodes", body=body)
        if made.status != 201:
            raise SystemExit(f"Creating node n{number} was answered with {made.status}")
    fresh = iter(range(10**9))
    patch = [{"op": "add", "path": "/extra/bench", "value": 1}]

    def get(path: str) -> Callable[[], Any]:
        return lambda: service.call("GET", path)

    def post_port() -> Any:
        number = next(fresh)
        mac = f"52:54:{number >> 24 & 255:02x}:{number >> 16 & 255:02x}:{number >> 8 & 255:02x}:{number & 255:02x}"
        return service.call("POST", "/v1/ports", body={"node_ident": "n7", "address": mac})

    return [
        ("GET /v1", get("/v1"), 500),
        ("GET one node", get("/v1/nodes/n7"), 500),
        ("GET nodes, 100 a page", get("/v1/nodes?limit=100"), 200),
        ("GET nodes/detail, 1,000 a page", get("/v1/nodes/detail?limit=1000"), 20),
        ("PATCH extra", lambda: service.call("PATCH", "/v1/nodes/n7", body=patch), 200),
        ("POST node", lambda: service.call("POST", "/v1/nodes", body={"driver": "fake-hardware"}), 200),
        ("POST port", post_port, 200),
        (
            "PUT provision (asks a conductor)",
            lambda: service.call("PUT", "/v1/nodes/n8/states/provision", body={"target": "manage"}),
            200,
        ),
    ]


def rules() -> list[tuple[str, Callable[[], Any], int]]:
    """Return name, action and number of runs of each figure of the rule language."""
    documents = [
        {
            "conditions": [{"op": "eq", "args": {"values": ["{inventory[cpu][count]}", 8]}}],
            "actions": [{"op": "set-attribute", "args": {"path": f"/extra/rule{number}", "value": "{node[uuid]}"}}],
        }
        for number in range(RULES)
    ]
    compiled = [check_rule(document) for document in documents]
    facts = facts_without_node({"cpu": {"count": 8}}, {})
    return [
        (f"check {RULES:,} rules", lambda: [check_rule(document) for document in documents], 5),
        (f"evaluate {RULES:,} rules that all match", lambda: evaluate(compiled, facts), 5),
    ]


def measured(act: Callable[[], Any], times: int) -> float:
    """Return the median CPU milliseconds of an action."""
    act()
    spent = []
    for _ in range(times):
        began = time.process_time_ns()
        act()
        spent.append(time.process_time_ns() - began)
    return statistics.median(spent) / 1e6


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="CPU milliseconds per request and per batch of rules.")
    parser.add_argument("--nodes", type=int, default=1000, help="nodes in the database")
    nodes = parser.parse_args().nodes
    with tempfile.TemporaryDirectory() as directory:
        service = services.start(Path(directory))
        try:
            for name, act, times in [*requests(service, nodes), *rules()]:
                print(f"{name:<48}{measured(act, times):>10.3f} ms", flush=True)
        finally:
            service.close()
    with tempfile.TemporaryDirectory() as directory:
        for name, spent in bench_inspection.figures(Path(directory)):
            print(f"{name:<48}{spent:>10.3f} ms", flush=True)


if __name__ == "__main__":
    main()
