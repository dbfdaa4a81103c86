"""When steps that wait for a BMC are looked at."""

from typing import Any

import pytest

from ironic.drivers.modules.redfish import waiting_step
from ironic.tests.unit.drivers.machine import Machine, work_on

KEY = "a_step"


class Moments:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Moments:
    monkeypatch.setattr(waiting_step, "_looks", {})
    return Moments()


def waiting(memory: Any) -> Machine:
    return work_on(driver_internal_info={KEY: memory}).node


def looks(clock: Moments, node: Machine, interval: int, seconds: int, spacing: int = 5) -> list[int]:
    """Return after how many seconds the node is looked at."""
    is_due, start = waiting_step.is_due(KEY, lambda: interval, clock), clock.now
    found = []
    for after in range(0, seconds, spacing):
        clock.now = start + after
        if is_due(node):
            found.append(after)
    return found


def test_it_looks_soon_at_first_and_then_at_the_interval(clock: Moments) -> None:
    assert looks(clock, waiting({"a": 1}), 60, 300) == [0, 5, 10, 20, 40, 80, 140, 200, 260]


def test_a_short_interval_stays(clock: Moments) -> None:
    assert looks(clock, waiting({"a": 1}), 1, 5, spacing=1) == [0, 1, 2, 3, 4]
    assert waiting_step.spacing(1) == 1
    assert waiting_step.spacing(600) == 5


def test_something_else_to_wait_for_begins_anew(clock: Moments) -> None:
    node = waiting({"phase": "task"})
    looks(clock, node, 60, 200)
    node.driver_internal_info = {KEY: {"phase": "pause"}}
    assert looks(clock, node, 60, 30) == [0, 5, 10, 20]


def test_a_node_that_waits_for_nothing_is_not_looked_at(clock: Moments) -> None:
    assert looks(clock, work_on().node, 60, 60) == []


def test_looks_at_many_nodes_take_limited_memory(clock: Moments, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_step, "_MOST_LOOKS", 3)
    is_due = waiting_step.is_due(KEY, lambda: 60, clock)
    for number in range(10):
        assert is_due(work_on(uuid=f"node-{number}", driver_internal_info={KEY: {"a": 1}}).node)
    assert len(waiting_step._looks) <= 3
