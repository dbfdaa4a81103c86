"""The live check of doc/plug-in-doors.md: a script asks the database for the conductor of its host."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.tests.live_service import Service, create_database, free_port, write_options
from ironic.tests.repository import ROOT

PAGE = (ROOT / "doc" / "plug-in-doors.md").read_text()
SCRIPT = PAGE.partition("```python\n")[2].partition("```")[0]
SECONDS = 60


@pytest.fixture
def options(tmp_path: Path) -> Path:
    return write_options(
        tmp_path / "ironic.conf",
        {
            "DEFAULT": {
                "auth_strategy": "noauth",
                "rpc_transport": "none",
                "host": "conductor-1",
                "log_file": tmp_path / "service.log",
            },
            "api": {"host_ip": "127.0.0.1", "port": free_port()},
            "conductor": {"heartbeat_interval": 1, "heartbeat_timeout": 5},
            "database": {"connection": f"sqlite:///{tmp_path}/service.sqlite"},
        },
    )


@pytest.fixture
def running(options: Path, tmp_path: Path) -> Iterator[Service]:
    create_database(options)
    service = Service("ironic", [options], tmp_path / "service.log")
    service.await_ready()
    yield service
    service.stop()


def check(options: Path, host: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the script as a kubelet does: by its interpreter, with the configuration named in the environment."""
    named = {"IRONIC_CONFIG_FILE": str(options), **({"OS_DEFAULT__HOST": host} if host else {})}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT], env={**os.environ, **named}, capture_output=True, text=True, timeout=SECONDS
    )


def test_a_live_conductor_and_one_that_left(options: Path, running: Service) -> None:
    alive = check(options)
    assert (alive.returncode, alive.stdout, alive.stderr) == (0, "", "")
    unknown = check(options, "elsewhere")
    assert (unknown.returncode, unknown.stderr) == (1, "")
    assert "There is no conductor elsewhere." in unknown.stdout
    assert running.stop() == 0
    left = check(options)
    assert (left.returncode, left.stderr) == (1, "")
    assert "There is no conductor conductor-1." in left.stdout


def test_a_conductor_that_was_killed_is_silent(options: Path, running: Service) -> None:
    running.signal(signal.SIGKILL)
    running.stop()
    deadline = time.monotonic() + SECONDS
    while (killed := check(options)).returncode == 0:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert killed.returncode == 1
    assert killed.stdout.startswith("silent since 20")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root could make files that the service can't use")
def test_root_does_not_ask_the_file_of_another_user(options: Path, tmp_path: Path) -> None:
    create_database(options)
    os.chown(tmp_path / "service.sqlite", 65534, -1)
    refused = check(options)
    assert refused.returncode == 1
    assert "belongs to user" in refused.stderr
    assert not list(tmp_path.glob("service.sqlite-*"))
