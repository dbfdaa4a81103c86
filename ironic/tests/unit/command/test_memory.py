"""Memory is given back after crowds, and only then."""

import gc
import itertools
import platform
from pathlib import Path

import pytest

from ironic.command import memory
from ironic.command.memory import CROWD, AfterCrowds, Collector

KIB = 1024


@pytest.mark.parametrize(
    ("seen", "times"),
    [
        ([CROWD - 1, 0], 0),
        ([CROWD, CROWD // 2, CROWD // 5], 0),
        ([CROWD, CROWD // 10], 1),
        ([10 * CROWD, CROWD, CROWD, 0, 0], 2),
        ([CROWD, 0, 1, 0, CROWD - 1, 0], 1),
    ],
)
def test_it_is_given_back_once_most_of_a_crowd_have_gone(
    monkeypatch: pytest.MonkeyPatch, seen: list[int], times: int
) -> None:
    given: list[bool] = []
    monkeypatch.setattr(memory, "give_back", lambda: given.append(True))
    now = itertools.count(step=memory.PAUSE_SECONDS)
    after = AfterCrowds(lambda: next(now))
    for present in seen:
        after.note(present)
    assert len(given) == times


def test_crowds_that_come_and_go_cause_it_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    given, clock = list[float](), [0.0]
    monkeypatch.setattr(memory, "give_back", lambda: given.append(clock[0]))
    after = AfterCrowds(lambda: clock[0])
    for clock[0] in (0.0, 1.0, 59.0, 60.0, 61.0):
        after.note(CROWD)
        after.note(0)
    assert given == [0.0, 60.0]


def test_collections_take_a_fifth_of_the_time_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    now, times = 0.0, 0

    def collect() -> None:
        nonlocal now, times
        now, times = now + 0.5, times + 1

    monkeypatch.setattr(gc, "collect", collect)
    collector = Collector(lambda: now)
    while now < 100:
        if not collector.collect():
            now += 0.25
    assert times == 40


def resident() -> int:
    """Return the KiB of memory that this process has."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1])


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps it and can give it back")
def test_the_system_has_it_again() -> None:
    blocks = [bytearray(60 * KIB) for _ in range(1000)]
    del blocks[:-1]  # what stays is at the end
    before = resident()
    memory.give_back()
    assert before - resident() > 40 * KIB
    assert len(blocks) == 1
