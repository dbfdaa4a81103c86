"""How many workers the reading of machines takes while their BMCs say nothing."""

import itertools
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from ironic.conductor import bmc_reader
from ironic.conductor.bmc_reader import BmcReader
from ironic.conductor.workers import Workers

WORKERS = 4


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    gate = threading.Event()
    yield gate
    gate.set()


def machines(first: int, count: int) -> list[Any]:
    return [
        SimpleNamespace(
            id=number,
            uuid=f"node-{number}",
            driver_info={"ipmi_address": f"bmc-{number}"},
            owner=None,
            lessee=None,
        )
        for number in range(first, first + count)
    ]


@pytest.mark.parametrize("silent", [30, 300])
def test_the_workers_do_not_grow_with_the_number_of_silent_bmcs(
    silent: int, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bmc_reader, "_SLOW_SECONDS", 0.01)
    monkeypatch.setattr(bmc_reader, "_LOOK_SECONDS", 0.02)
    monkeypatch.setattr(bmc_reader, "_PATIENCE_SECONDS", 0.1)
    pool: Any = Workers("c1", 1000)
    tasks: Any = SimpleNamespace(pool=pool, clock=pool.clock)

    def wait_for_an_answer(_node: Any) -> None:
        gate.wait()

    first = itertools.count(0, 1000)
    reader = BmcReader(tasks, "reading", wait_for_an_answer, workers=lambda: WORKERS)
    until = time.monotonic() + 60

    def read_both_kinds() -> None:
        for is_known in (False, True):
            nodes = machines(next(first), silent)
            reader.read(nodes, {node.id for node in nodes} if is_known else ())

    # Four times as many as the option says, and half as many again for those known to be silent.
    while pool.taken < 6 * WORKERS and time.monotonic() < until:
        read_both_kinds()
    for _ in range(2):
        read_both_kinds()
        assert pool.taken == 6 * WORKERS
    reader.stop()
    gate.set()
    until = time.monotonic() + 30
    while pool.taken and time.monotonic() < until:
        time.sleep(0.01)
    assert pool.taken == 0


def test_the_machine_of_another_owner_is_next_however_many_wait_before_it() -> None:
    pool: Any = Workers("c1", 10)
    tasks: Any = SimpleNamespace(pool=pool, clock=pool.clock)
    turns = threading.Semaphore(0)
    begun: list[str] = []

    def read(node: Any) -> None:
        begun.append(node.owner)
        if node.owner == "slow":
            turns.acquire()

    of_slow, of_other = machines(0, 40), machines(100, 3)
    for node in of_slow:
        node.owner = "slow"
    for node in of_other:
        node.owner = "other"
    reader = BmcReader(tasks, "reading", read, workers=lambda: 2)
    reading = threading.Thread(target=reader.read, args=([*of_slow, *of_other],), daemon=True)
    reading.start()
    until = time.monotonic() + 30
    while begun.count("other") < len(of_other) and time.monotonic() < until:
        time.sleep(0.01)
    # The other one's machines are read while one worker waits for the slow one's first machine.
    assert begun.count("other") == len(of_other)
    assert begun.count("slow") < len(of_slow) // 2
    reader.stop()
    turns.release(len(of_slow))
    reading.join(30)
    assert pool.drain(30) == []
