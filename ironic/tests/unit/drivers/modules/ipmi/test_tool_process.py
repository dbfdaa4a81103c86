"""Programs that have an end, whether they want or not."""

import os
from pathlib import Path

import pytest

from ironic.drivers.modules.ipmi.command_line import CommandLine
from ironic.drivers.modules.ipmi.tool_process import TooLate, TooMuch, run
from ironic.tests.site import eventually

LONG, MUCH = 60.0, 1 << 20


def shell(script: str) -> CommandLine:
    return CommandLine(("/bin/sh", "-c", script), {"PATH": os.environ["PATH"]})


def test_it_returns_what_was_written() -> None:
    ended = run(shell("echo out; echo err >&2; exit 3"), seconds=LONG, most_bytes=MUCH)
    assert (ended.status, ended.output, ended.errors) == (3, "out\n", "err\n")


def test_broken_bytes_are_no_error() -> None:
    assert run(shell(r"printf '\377'"), seconds=LONG, most_bytes=MUCH).output == "\ufffd"


def test_it_can_not_ask() -> None:
    assert run(shell("cat; echo end"), seconds=LONG, most_bytes=MUCH).output == "end\n"


@pytest.mark.parametrize("script", ["sleep 600", "sleep 600 & sleep 600", "exec >&- 2>&-; sleep 600"])
def test_what_hangs_is_killed_with_its_children(script: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with pytest.raises(TooLate):
        run(shell(f"echo $$ > {pids}; {script}"), seconds=0.5, most_bytes=MUCH)
    group = int(pids.read_text())
    eventually(lambda: _lives(group), False)


def test_what_writes_without_an_end_is_killed() -> None:
    with pytest.raises(TooMuch):
        run(shell("yes"), seconds=LONG, most_bytes=MUCH)


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
