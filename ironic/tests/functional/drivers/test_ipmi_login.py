"""Logins at IPMI BMCs: who gets to know them, and how often they are tried."""

import logging
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ironic.core.errors import IronicError
from ironic.core.errors.hardware_errors import IPMIConnectionFailure, IPMIFailure
from ironic.db.tables import bmc_logins
from ironic.drivers.modules.ipmi.power import IPMIPower
from ironic.tests import ipmi_bmc
from ironic.tests.ipmi_bmc import PASSWORD, IpmiBmc, ipmi_sim
from ironic.tests.site import until
from ironic.tests.unit.drivers.machine import Work, work_on

BOUND = 60.0
CANARY = "canary-secret"
KEY = CANARY.encode()

# Says that it runs, with a copy of what it was given, and waits until it may go on.
WAITING_TOOL = """\
#!/bin/sh
case "$*" in *-h) exit 0;; esac
dir={directory}
for last in "$@"; do if [ "$previous" = -f ]; then cp -p "$last" "$dir/copy"; fi; previous=$last; done
env > "$dir/environment"
echo $$ > "$dir/pid.new"; mv "$dir/pid.new" "$dir/pid"
while [ ! -e "$dir/go" ]; do sleep 0.05; done
echo Chassis Power is on
"""


@pytest.fixture(autouse=True)
def no_pauses(conf: Callable[..., Any]) -> None:
    conf(ipmi__min_command_interval=0, ipmi__command_retry_timeout=20)


@pytest.fixture
def sim(tmp_path: Path) -> Iterator[IpmiBmc]:
    with ipmi_sim(tmp_path / "bmc") as running:
        yield running


def refused_attempts(task: Work) -> list[int]:
    """Return how many attempts were refused of each login that is counted."""
    with task.store.reading() as connection:
        return list(connection.scalars(sa.select(bmc_logins.c.refused)))


def read(task: Work) -> IronicError | str | None:
    try:
        return IPMIPower().get_power_state(task)
    except IronicError as error:
        return error


@pytest.mark.parametrize("version", ["2.0", "1.5"])
@pytest.mark.parametrize("wrong", [{"ipmi_password": CANARY}, {"ipmi_username": "nobody"}])
def test_a_refused_login_is_tried_three_times(
    sim: IpmiBmc, wrong: dict[str, str], version: str, caplog: pytest.LogCaptureFixture, conf: Callable[..., Any]
) -> None:
    caplog.set_level(logging.DEBUG)
    conf(ipmi__debug=True)
    suite = sim.driver_info()["ipmi_cipher_suite"] if version == "2.0" else None
    info = sim.driver_info(**{"ipmi_protocol_version": version, "ipmi_cipher_suite": suite, **wrong})
    task = work_on(driver="ipmi", driver_info=info)
    for _ in range(3):
        assert "refuses the login" in str(read(task))
    begun = time.monotonic()
    for _ in range(20):
        assert "refused this login 3 times" in str(read(task))
    assert time.monotonic() - begun < BOUND
    assert CANARY not in caplog.text
    # The right login is another one.
    task.node.driver_info = sim.driver_info()
    assert read(task) == "power off"


def test_a_refusal_is_not_repeated_by_itself(sim: IpmiBmc) -> None:
    task = work_on(driver="ipmi", driver_info=sim.driver_info(ipmi_password=CANARY))
    failed = read(task)
    assert isinstance(failed, IPMIFailure)
    assert refused_attempts(task) == [1]


@pytest.mark.parametrize("in_environment", [False, True])
def test_of_a_long_password_the_beginning_counts(
    tmp_path: Path, conf: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, in_environment: bool
) -> None:
    conf(ipmi__store_cred_in_env=in_environment)
    monkeypatch.setattr(ipmi_bmc, "PASSWORD", "of twenty bytes, ä!")
    with ipmi_bmc.pyghmi_bmc(tmp_path / "bmc") as bmc:
        info = bmc.driver_info(ipmi_password=f"{ipmi_bmc.PASSWORD} and more")
        assert read(work_on(driver="ipmi", driver_info=info)) == "power off"


def test_silence_is_no_refusal(tmp_path: Path, conf: Callable[..., Any]) -> None:
    conf(ipmi__command_retry_timeout=1)
    with ipmi_sim(tmp_path / "silent") as bmc:
        task = work_on(driver="ipmi", driver_info=bmc.driver_info())
    for _ in range(4):
        assert isinstance(read(task), IPMIConnectionFailure)
    assert refused_attempts(task) == [0]


@pytest.fixture
def waiting_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, conf: Callable[..., Any]) -> Iterator[Path]:
    """Put a program in the place of ipmitool that waits until a test has seen it."""
    tools = tmp_path / "bin"
    tools.mkdir()
    tool = tools / "ipmitool"
    tool.write_text(WAITING_TOOL.format(directory=tools))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    conf(tempdir=str(tmp_path))
    yield tools
    (tools / "go").touch()


@pytest.mark.parametrize("in_environment", [False, True])
def test_no_process_shows_a_secret(waiting_tool: Path, conf: Callable[..., Any], in_environment: bool) -> None:
    conf(ipmi__store_cred_in_env=in_environment)
    info = {"ipmi_address": "127.0.0.1", "ipmi_password": CANARY, "ipmi_hex_kg_key": KEY.hex(), "ipmi_username": "u"}
    task = work_on(driver="ipmi", driver_info=info)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(read, task)
        until((waiting_tool / "pid").exists)
        shown = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
        (waiting_tool / "go").touch()
        assert reading.result(BOUND) == "power on"
    assert any(b"ipmitool" in line and b"power\0status" in line for line in shown)
    # The test itself may be named by it.
    assert [line for line in shown if KEY in line or KEY.hex().encode() in line] == []
    environment = (waiting_tool / "environment").read_text()
    assert (f"IPMI_PASSWORD={CANARY}" in environment) is in_environment
    copy = waiting_tool / "copy"
    assert copy.exists() is not in_environment
    if not in_environment:
        assert copy.read_text() == CANARY
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert list(waiting_tool.parent.glob("ironic-ipmi-*/*")) == []


def test_a_tool_that_hangs_is_killed_and_leaves_no_password(waiting_tool: Path, conf: Callable[..., Any]) -> None:
    conf(ipmi__command_retry_timeout=2)
    task = work_on(driver="ipmi", driver_info={"ipmi_address": "127.0.0.1", "ipmi_password": CANARY})
    failed = read(task)
    assert isinstance(failed, IPMIConnectionFailure)
    assert "killed" in str(failed)
    assert not Path(f"/proc/{(waiting_tool / 'pid').read_text().strip()}").exists()
    assert list(waiting_tool.parent.glob("ironic-ipmi-*/*")) == []


def test_one_bmc_has_one_conversation_at_a_time(waiting_tool: Path) -> None:
    task = work_on(driver="ipmi", driver_info={"ipmi_address": "127.0.0.1", "ipmi_port": 6999})
    begun = threading.Barrier(3)

    def order(action: str) -> None:
        begun.wait(BOUND)
        IPMIPower().set_power_state(task, action)

    with ThreadPoolExecutor() as pool:
        orders = [pool.submit(order, "power on") for _ in range(2)]
        begun.wait(BOUND)
        until((waiting_tool / "pid").exists)
        tools = subprocess.run(["pgrep", "-f", f"{waiting_tool}/ipmitool"], capture_output=True, text=True).stdout
        assert len(tools.split()) == 1
        (waiting_tool / "go").touch()
        for each in orders:
            each.result(BOUND)


def test_secrets_stay_out_of_errors(sim: IpmiBmc) -> None:
    task = work_on(driver="ipmi", driver_info=sim.driver_info(ipmi_password=CANARY, ipmi_hex_kg_key=KEY.hex()))
    failed = read(task)
    assert isinstance(failed, IPMIFailure)
    for text in (str(failed), repr(failed.facts)):
        assert CANARY not in text and KEY.hex() not in text and PASSWORD not in text


def test_the_default_conductor_needs_the_tool(tmp_path: Path) -> None:
    program = "from ironic.drivers.modules.ipmi.power import IPMIPower; IPMIPower()"
    ended = subprocess.run(
        [sys.executable, "-c", program], env={"PATH": str(tmp_path)}, capture_output=True, text=True, timeout=BOUND
    )
    assert "ipmitool can't be found" in ended.stderr
