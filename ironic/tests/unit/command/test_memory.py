"""Memory is given back after crowds, and only then."""

import platform
from pathlib import Path

import pytest

from ironic.command import memory
from ironic.command.memory import CROWD, AfterCrowds

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
    after = AfterCrowds()
    for present in seen:
        after.note(present)
    assert len(given) == times


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
