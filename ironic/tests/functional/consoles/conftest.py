"""A place for the files of consoles, ports of the loopback, and an end for all that was started."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.drivers.modules.console import console_processes
from ironic.tests.conftest import Setter
from ironic.tests.functional.consoles.line_console import LineConsole
from ironic.tests.live_service import free_port
from ironic.tests.unit.drivers.machine import Work, work_on


@pytest.fixture
def place(tmp_path: Path, conf: Setter) -> Iterator[Path]:
    """Return the directory of the PID files; what runs there is ended with the test."""
    place = tmp_path / "consoles"
    conf(tempdir=str(tmp_path), console__terminal_pid_dir=str(place), console__socat_address="127.0.0.1")
    yield place
    left = [process for process in console_processes.running() if process.pid_file.parent == place]
    console_processes.end(left, 1)


@pytest.fixture
def ports(place: Path, conf: Setter) -> range:
    """Set a range of ports, which are probably free."""
    first = free_port()
    ports = range(first, min(first + 20, 65535))
    conf(console__port_range=[ports])
    return ports


@pytest.fixture
def console() -> LineConsole:
    return LineConsole()


@pytest.fixture
def task(ports: range) -> Work:
    return work_on()


@pytest.fixture
def pid_file(place: Path, task: Any) -> Path:
    return place / f"{task.node.uuid}.pid"
