"""Conversations with IPMI BMCs: when they are repeated, how far they are apart, and what goes first.

A program in the place of ipmitool notes each call and fails as a test wants.
"""

import os
import shlex
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import IronicError
from ironic.core.errors.hardware_errors import IPMIConnectionFailure, IPMIFailure
from ironic.drivers.contract.task import Notes
from ironic.drivers.modules.bmc.bmc_gateway import CallClass
from ironic.drivers.modules.ipmi import boot_device
from ironic.drivers.modules.ipmi.conversation import change, read
from ironic.drivers.modules.ipmi.management import IPMIManagement
from ironic.drivers.modules.ipmi.power import IPMIPower
from ironic.drivers.modules.ipmi.socat_console import IPMISocatConsole
from ironic.tests.ipmi_bmc import HOST, free_udp_port
from ironic.tests.site import until
from ironic.tests.unit.drivers.machine import Work, work_on

BOUND = 60.0
POWER, READ, TELEMETRY = CallClass.POWER, CallClass.READ, CallClass.TELEMETRY

NO_SESSION = "Get Auth Capabilities error\nError: Unable to establish IPMI v2 / RMCP+ session"
CIPHER = "Error in open session response message : no matching cipher suite"
BUSY = "Get Chassis Power Status failed: Node busy"
ODD = "Unable to send RAW command (channel=0x0 netfn=0x0 lun=0x0 cmd=0x8)"

TOOL = """\
#!/bin/sh
case "$*" in *-h) exit 0;; esac
echo "$(date +%s.%N) $*" >> {calls}
case "$*" in *"{hangs}"*) exec sleep 600;; esac
if [ "$(wc -l < {calls})" -le {failures} ]; then printf '%s\\n' {messages} >&2; exit 1; fi
echo "answer $*"
"""


class Tool:
    """The program in the place of ipmitool."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._calls = directory, directory / "calls"
        self.fail(0, "")

    def fail(self, times: int, messages: str, *, hangs: str = "no such command") -> None:
        """Fail so many times; hang for ever at a command."""
        terms = {"calls": self._calls, "failures": times, "messages": shlex.quote(messages), "hangs": hangs}
        new = self._directory / "new"
        new.write_text(TOOL.format(**terms))
        new.chmod(0o755)
        new.rename(self._directory / "ipmitool")

    @property
    def calls(self) -> list[str]:
        lines = self._calls.read_text().splitlines() if self._calls.exists() else []
        return [line.partition(" ")[2] for line in lines]

    @property
    def moments(self) -> list[float]:
        return [float(line.partition(" ")[0]) for line in self._calls.read_text().splitlines()]


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, conf: Callable[..., Any]) -> Tool:
    conf(ipmi__min_command_interval=0, ipmi__command_retry_timeout=4)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return Tool(tmp_path)


@pytest.fixture
def task() -> Work:
    info = {
        "ipmi_address": HOST,
        "ipmi_port": free_udp_port(),
        "ipmi_username": "u",
        "ipmi_password": "secret-of-tests",
    }
    return work_on(driver="ipmi", driver_info=info)


@pytest.mark.parametrize("messages", [NO_SESSION, BUSY, ODD])
def test_what_may_pass_is_tried_again(tool: Tool, task: Work, messages: str) -> None:
    tool.fail(2, messages)
    assert read(task, ("power", "status")).startswith("answer")
    assert len(tool.calls) == 3


@pytest.mark.parametrize(
    ("messages", "calls"),
    [
        (NO_SESSION, 3),
        (BUSY, 3),
        (ODD, 1),  # the BMC may have begun it
        ("Set Chassis Power Control to Diag failed: Timeout", 1),
        ("Set Chassis Power Control to Diag failed: Invalid data field in request", 1),
    ],
)
def test_what_must_not_happen_twice_is_repeated_only_if_it_has_not_begun(
    tool: Tool, task: Work, messages: str, calls: int
) -> None:
    tool.fail(2, messages)
    if calls > 1:
        change(task, ("power", "diag"), once=True)
    else:
        with pytest.raises(IPMIFailure):
            change(task, ("power", "diag"), once=True)
    assert len(tool.calls) == calls


def test_attempts_have_an_end(tool: Tool, task: Work) -> None:
    tool.fail(1000, BUSY)
    with pytest.raises(IPMIFailure, match="Node busy"):
        read(task, ("power", "status"))
    assert 1 < len(tool.calls) <= 5


def test_a_silent_bmc_is_asked_once_and_for_a_short_time_if_nobody_waits(
    tool: Tool, task: Work, conf: Callable[..., Any]
) -> None:
    conf(ipmi__min_command_interval=3)
    tool.fail(1, NO_SESSION)
    with pytest.raises(IPMIConnectionFailure, match="does not answer"):
        read(task, ("power", "status"), anew=True, kind=TELEMETRY)
    read(task, ("power", "status"), anew=True, kind=READ)
    assert [call.split(" -R ")[1][:6] for call in tool.calls] == ["1 -N 2", "1 -N 3"]


def test_ipmitool_repeats_itself_if_it_is_to(tool: Tool, task: Work, conf: Callable[..., Any]) -> None:
    conf(ipmi__use_ipmitool_retries=True, ipmi__min_command_interval=5, ipmi__command_retry_timeout=60)
    tool.fail(1, NO_SESSION)
    with pytest.raises(IPMIConnectionFailure):
        read(task, ("power", "status"))
    assert "-R 7 -N 5" in tool.calls[0]


def test_cipher_suites_are_tried_from_the_last_and_remembered(tool: Tool, task: Work, conf: Callable[..., Any]) -> None:
    conf(ipmi__cipher_suite_versions=["1", "3", "17"])
    tool.fail(2, CIPHER)
    read(task, ("power", "status"))
    read(task, ("mc", "info"))
    assert [call.partition(" -C ")[2].partition(" ")[0] for call in tool.calls] == ["", "17", "3", "3"]


def test_a_cipher_suite_that_the_node_gets_later_goes_before_one_that_was_found(
    tool: Tool, task: Work, conf: Callable[..., Any]
) -> None:
    conf(ipmi__cipher_suite_versions=["3"])
    tool.fail(1, CIPHER)
    read(task, ("mc", "info"))
    task.node.driver_info["ipmi_cipher_suite"] = "17"
    read(task, ("power", "status"))
    assert "-C 3 " in tool.calls[-2] and "-C 17 " in tool.calls[-1]


def test_a_chosen_cipher_suite_stays(tool: Tool, task: Work, conf: Callable[..., Any]) -> None:
    conf(ipmi__cipher_suite_versions=["1", "3"])
    task.node.driver_info["ipmi_cipher_suite"] = "17"
    tool.fail(1, CIPHER)
    with pytest.raises(IPMIFailure, match="cipher"):
        read(task, ("power", "status"))
    assert len(tool.calls) == 1


def test_conversations_are_apart(tool: Tool, task: Work, conf: Callable[..., Any]) -> None:
    conf(ipmi__min_command_interval=2)
    other = work_on(driver="ipmi", driver_info={**task.node.driver_info, "ipmi_port": free_udp_port()})
    with ThreadPoolExecutor() as pool:
        running = [pool.submit(read, each, ("mc", "info"), anew=True) for each in (task, other)]
        for each in running:
            each.result(BOUND)
        first, second = tool.moments
        read(task, ("chassis", "status"))
    assert tool.moments[2] - min(first, second) >= 2


def test_equal_reads_at_the_same_time_are_one(tool: Tool, task: Work) -> None:
    with ThreadPoolExecutor() as pool:
        answers = {future.result(BOUND) for future in [pool.submit(read, task, ("mc", "info")) for _ in range(4)]}
    assert len(answers) == len(tool.calls) == 1


def test_a_crowd_that_asks_for_a_console_holds_one_worker(tool: Tool, task: Work, conf: Callable[..., Any]) -> None:
    conf(bmc__telemetry_timeout=3, console__socat_address="127.0.0.1")
    tool.fail(0, "", hangs="sol deactivate")
    task.node.driver_internal_info["allocated_ipmi_terminal_port"] = 10000
    console, ready = IPMISocatConsole(), threading.Barrier(8)

    def ask() -> tuple[str, float]:
        ready.wait(BOUND)
        begun = time.monotonic()
        return console.get_console(task)["url"], time.monotonic() - begun

    with ThreadPoolExecutor(8) as pool:
        answers = [asked.result(BOUND) for asked in [pool.submit(ask) for _ in range(8)]]
    assert {url for url, _seconds in answers} == {"tcp://127.0.0.1:10000"}
    assert sum(seconds >= 3 for _url, seconds in answers) == len(tool.calls) == 1
    # The next one has its turn again.
    conf(bmc__telemetry_timeout=30)
    tool.fail(0, "")
    console.get_console(task)
    assert len(tool.calls) == 2


def test_an_order_to_change_power_ends_telemetry(tool: Tool, task: Work, conf: Callable[..., Any]) -> None:
    conf(ipmi__command_retry_timeout=60)
    tool.fail(0, "", hangs="sdr -v")
    with ThreadPoolExecutor() as pool:
        sensors = pool.submit(read, task, ("sdr", "-v"), kind=TELEMETRY, is_long=True)
        until(lambda: tool.calls)
        begun = time.monotonic()
        assert change(task, ("power", "on"), kind=POWER).startswith("answer")
        assert time.monotonic() - begun < 30
        with pytest.raises(IPMIConnectionFailure, match="another request to it goes first"):
            sensors.result(BOUND)


def test_a_bmc_that_sends_without_an_end_is_cut_off(tool: Tool, task: Work, tmp_path: Path) -> None:
    (tmp_path / "ipmitool").write_text("#!/bin/sh\nexec yes\n")
    with pytest.raises(IPMIFailure, match="largest_answer"):
        read(task, ("sdr", "-v"))


@pytest.mark.parametrize("kills", [True, False])
def test_a_slow_tool_is_killed_if_it_is_to(
    tool: Tool, task: Work, tmp_path: Path, conf: Callable[..., Any], kills: bool
) -> None:
    conf(ipmi__kill_on_timeout=kills, ipmi__command_retry_timeout=1)
    (tmp_path / "ipmitool").write_text("#!/bin/sh\ncase $* in *-h) exit 0;; esac\nsleep 1.5; echo late\n")
    if kills:
        with pytest.raises(IPMIConnectionFailure, match="did not end in time and was killed"):
            read(task, ("power", "status"))
    else:
        assert read(task, ("power", "status")) == "late\n"


def test_an_address_that_must_not_be_contacted_is_refused(tool: Tool) -> None:
    task = work_on(driver="ipmi", driver_info={"ipmi_address": "169.254.169.254"})
    with pytest.raises(IPMIFailure, match="link-local"):
        read(task, ("power", "status"))
    assert tool.calls == []


def test_a_name_is_resolved_once(tool: Tool) -> None:
    read(work_on(driver="ipmi", driver_info={"ipmi_address": "localhost"}), ("power", "status"))
    assert "-H localhost" not in tool.calls[0]


def test_a_name_that_can_not_be_resolved_is_said(tool: Tool) -> None:
    with pytest.raises(IPMIFailure, match="the name in ipmi_address can't be resolved"):
        read(work_on(driver="ipmi", driver_info={"ipmi_address": "bmc.invalid"}), ("power", "status"))
    assert tool.calls == []


def test_a_tool_that_was_removed_is_said(tool: Tool, task: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(IPMIFailure, match="ipmitool can't be run on this conductor: No such file"):
        read(task, ("power", "status"))


@pytest.mark.parametrize("status", [0, 1])
def test_garbage_is_no_answer_and_no_fault_of_the_service(
    tool: Tool, task: Work, tmp_path: Path, conf: Callable[..., Any], status: int
) -> None:
    conf(ipmi__command_retry_timeout=1)
    garbage = f"head -c 100000 /dev/urandom; head -c 100000 /dev/urandom >&2; exit {status}"
    (tmp_path / "ipmitool").write_text(f"#!/bin/sh\ncase $* in *-h) exit 0;; esac\n{garbage}\n")
    management = IPMIManagement()

    def outcome(act: Callable[[], object]) -> object:
        try:
            return act()
        except IronicError as error:
            assert len(str(error)) < 2000
            assert str(error).isprintable()
            return "failed"

    outcomes = [
        outcome(lambda: IPMIPower().get_power_state(task)),
        outcome(lambda: management.get_boot_device(task)),
        outcome(lambda: management.detect_vendor(task)),
        outcome(lambda: management.get_sensors_data(task)),
    ]
    no_device = {"boot_device": None, "persistent": False}
    assert outcomes == ["failed"] * 4 if status else ["error", no_device, None, "failed"]


# What a task has ordered itself


def test_a_task_orders_a_boot_device_once_for_a_start(tool: Tool, task: Work) -> None:
    management = IPMIManagement()

    def orders() -> int:
        return len([call for call in tool.calls if "bootdev" in call or "0x08 0x05" in call])

    management.set_boot_device(task, "disk", persistent=True)
    management.set_boot_device(task, "disk", persistent=True)
    assert orders() == 1
    management.set_boot_device(task, "pxe")
    management.set_boot_device(task, "disk", persistent=True)
    assert orders() == 3, "what was ordered between has replaced it"
    boot_device.power_changes(task)
    management.set_boot_device(task, "disk", persistent=True)
    assert orders() == 4, "a start may have used it up"
    management.set_boot_device(replace(task, notes=Notes()), "disk", persistent=True)
    assert orders() == 5, "another task knows nothing of it"


def test_what_a_task_knows_is_forgotten_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = Notes()
    notes.put("word", "value")
    assert notes.get("word") == "value"
    monkeypatch.setattr(Notes, "SECONDS", 0.0)
    assert notes.get("word") is None
