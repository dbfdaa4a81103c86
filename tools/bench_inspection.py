"""Measure the CPU time of inspections and the PXE filter; part of `make bench`."""

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

from ironic.core.flows import states
from ironic.inspection.pxe_filter import HostsDir, PxeFilter
from ironic.tests.databases import sqlite_store
from ironic.tests.functional.inspection.whole import Whole, whole
from ironic.tests.unit.inspection.lab import new_node, post, recorded

Figure = tuple[str, float]

NUMBERS = itertools.count(1)
INSPECTIONS = 50
PORTS = 50_000


def figures(directory: Path) -> Iterator[Figure]:
    """Yield the name and CPU milliseconds of each figure."""
    for rules in (0, 20, 1000):
        path = directory / f"rules{rules}"
        path.mkdir()
        with whole(path) as running:
            for number in range(rules):
                post(
                    running.store,
                    conditions=[
                        {"op": "eq", "args": ["{inventory[cpu][architecture]}", "x86_64"]},
                        {"op": "contains", "args": ["{item[name]}", "eth|en"], "loop": "{inventory[interfaces]}"},
                    ],
                    actions=[{"op": "set-attribute", "args": [f"/extra/rule{number}", "{inventory[cpu][count]}"]}],
                )
            times = sorted(_inspection(running) for _ in range(5 if rules == 1000 else INSPECTIONS))
            yield f"inspection, post to manageable, {rules:,} rules", times[len(times) // 2]
    yield from _filter_figures(directory)


def _inspection(running: Whole) -> float:
    """Return the CPU milliseconds of inspecting a machine with four network cards, one of them known."""
    report, number = recorded("dell-like"), next(NUMBERS)
    for card, interface in enumerate(report["inventory"]["interfaces"]):
        interface["mac_address"] = f"52:54:{number >> 16:02x}:{number >> 8 & 255:02x}:{number & 255:02x}:{card:02x}"
    uuid = running.node(report["inventory"]["interfaces"][0]["mac_address"])
    began = time.process_time_ns()
    answer = running.post(report)
    spent = (time.process_time_ns() - began) / 1e6
    if answer.status != 200 or running.state(uuid) != states.MANAGEABLE:
        raise SystemExit(f"The inspection was answered with {answer.status} and ended: {running.error(uuid)}")
    return spent


def _filter_figures(directory: Path) -> Iterator[Figure]:
    """Yield the figures of writing host files for very many ports."""
    hosts = directory / "hosts"
    hosts.mkdir()
    store = sqlite_store(directory)
    with store.writing():
        for number in range(PORTS // 100):
            node = new_node(store, provision_state=states.ACTIVE)
            store.ports.create_all(
                [
                    {
                        "uuid": f"{number:08x}-0000-4000-8000-{card:012x}",
                        "node_id": node.id,
                        "address": f"52:54:{number >> 8:02x}:{number & 255:02x}:{card:02x}:00",
                    }
                    for card in range(100)
                ]
            )
    running = PxeFilter(store, HostsDir(str(hosts)))
    for name in ("all new", "none new"):
        began = time.process_time_ns()
        running.sync()
        yield f"PXE filter, {PORTS:,} ports, {name}", (time.process_time_ns() - began) / 1e6
    store.close()
