"""A serial console with the real socat: it is opened, seen, closed, and closed again after whatever has happened."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ironic.core.errors import MissingParameterValue
from ironic.core.errors.hardware_errors import ConsoleError, ConsoleSubprocessFailed, NoFreeIPMITerminalPorts
from ironic.drivers.modules.console import socat_command
from ironic.drivers.modules.console.console_servers import SERVERS, ConsoleEnd
from ironic.drivers.modules.console.socat_command import ConsoleCommand
from ironic.tests.conftest import Setter
from ironic.tests.effort import examples
from ironic.tests.functional.consoles.line_console import LineConsole
from ironic.tests.functional.consoles.lines import Viewer, kill, processes, talk, until
from ironic.tests.live_service import free_port
from ironic.tests.unit.drivers.machine import work_on


def test_a_viewer_types_and_reads(console: LineConsole, task: Any, ports: range, pid_file: Path) -> None:
    console.validate(task)
    console.start_console(task)
    found = console.get_console(task)
    assert found["type"] == "socat"
    assert int(found["url"].removeprefix("tcp://127.0.0.1:")) in ports
    assert task.node.saved["driver_internal_info"]["allocated_ipmi_terminal_port"] in ports
    assert b"hello" in talk(found["url"])
    assert b"again" in talk(found["url"], b"again\n")
    console.stop_console(task)
    assert processes(pid_file) == []
    assert not pid_file.exists()
    assert task.node.saved["driver_internal_info"] == {}
    with pytest.raises(ConnectionRefusedError):
        talk(found["url"])
    console.stop_console(task)


def test_a_viewer_and_its_command_end_with_the_console(console: LineConsole, task: Any, pid_file: Path) -> None:
    console.start_console(task)
    viewer = Viewer(console.get_console(task)["url"])
    viewer.send(b"here\n")
    viewer.read_until(b"here")
    assert len(processes(pid_file)) >= 3  # the one that listens, the one of the viewer, the command
    console.stop_console(task)
    assert viewer.is_over()
    assert processes(pid_file) == []


def test_a_second_viewer_waits_for_the_first(console: LineConsole, task: Any) -> None:
    console.start_console(task)
    url = console.get_console(task)["url"]
    with contextlib.closing(Viewer(url)) as first, contextlib.closing(Viewer(url)) as second:
        second.send(b"two\n")
        first.send(b"one\n")
        assert b"two" not in first.read_until(b"one")
        first.close()
        assert b"one" not in second.read_until(b"two")
    console.stop_console(task)


def test_opening_an_open_console_replaces_it(console: LineConsole, task: Any, pid_file: Path) -> None:
    console.start_console(task)
    before = pid_file.read_text()
    console.start_console(task)
    assert pid_file.read_text() != before
    assert len(processes(pid_file)) == 1
    assert talk(console.get_console(task)["url"])


def test_a_port_of_the_node_wins(console: LineConsole, ports: range, conf: Setter) -> None:
    own = free_port()
    task: Any = work_on(driver_info={"line_port": own})
    conf(console__port_range=None)
    console.validate(task)
    console.start_console(task)
    assert console.get_console(task)["url"] == f"tcp://127.0.0.1:{own}"
    assert talk(console.get_console(task)["url"])
    assert "allocated_ipmi_terminal_port" not in task.node.driver_internal_info
    console.stop_console(task)


def test_a_node_needs_a_port(console: LineConsole, task: Any, conf: Setter) -> None:
    conf(console__port_range=None)
    with pytest.raises(MissingParameterValue, match="port_range"):
        console.validate(task)


def test_consoles_get_ports_of_their_own_and_give_them_back(console: LineConsole, place: Path, conf: Setter) -> None:
    port = free_port()
    conf(console__port_range=[range(port, port + 1)])
    one, two = work_on(), work_on(uuid="0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b12")
    console.start_console(one)
    with pytest.raises(NoFreeIPMITerminalPorts) as refusal:
        console.start_console(two)
    assert refusal.value.status == 503
    console.stop_console(one)
    console.start_console(two)
    console.stop_console(two)


def test_a_port_that_another_program_has_is_passed_over(console: LineConsole, task: Any, ports: range) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", ports[0]))
        other.listen()
        console.start_console(task)
        assert console.get_console(task)["url"] != f"tcp://127.0.0.1:{ports[0]}"
        console.stop_console(task)


def test_a_start_that_fails_says_why_and_leaves_nothing(
    console: LineConsole, task: Any, ports: range, pid_file: Path, conf: Setter
) -> None:
    conf(console__socat_address="192.0.2.77")
    with pytest.raises(ConsoleSubprocessFailed, match="Cannot assign requested address"):
        console.start_console(task)
    assert processes(pid_file) == []
    assert not pid_file.exists()
    conf(console__socat_address="127.0.0.1", console__port_range=[range(ports[0], ports[0] + 1)])
    console.start_console(task)
    console.stop_console(task)


def test_a_missing_program_is_said(console: LineConsole, task: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ConsoleSubprocessFailed, match="socat can't be started"):
        console.start_console(task)


def test_a_folder_that_can_not_be_made_is_said(console: LineConsole, task: Any, conf: Setter) -> None:
    conf(console__terminal_pid_dir="/proc/consoles")
    with pytest.raises(ConsoleError, match="terminal_pid_dir"):
        console.start_console(task)


def test_a_console_ends_without_its_file_being_removed(
    console: LineConsole, task: Any, pid_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    console.start_console(task)
    # What can't be removed, as on a disk that has become read-only.
    pid_file.unlink()
    pid_file.mkdir()
    console.stop_console(task)
    assert processes(pid_file) == []
    assert f"{pid_file} can't be removed" in caplog.text


def test_what_socat_leaves_on_a_full_disk_is_removed(
    console: LineConsole, task: Any, pid_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # ulimit counts blocks, of which the file with the process ID may have none.
    program = tmp_path / "bin" / "socat"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nulimit -f 0\nexec {shutil.which("socat")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    with pytest.raises(ConsoleSubprocessFailed):
        console.start_console(task)
    assert list(pid_file.parent.iterdir()) == []


def test_a_foreign_process_with_the_number_of_ours_lives(console: LineConsole, task: Any, pid_file: Path) -> None:
    console.start_console(task)
    kill(pid_file)
    until(lambda: not processes(pid_file), "the console is gone")
    with subprocess.Popen(["sleep", "300"]) as foreign:
        try:
            pid_file.write_text(str(foreign.pid))
            console.start_console(task)
            console.stop_console(task)
            assert foreign.poll() is None
        finally:
            foreign.kill()


def test_a_process_that_ignores_its_end_is_killed(console: LineConsole, task: Any, pid_file: Path) -> None:
    task.node.driver_info["line_command"] = ["sh", "-c", "trap '' TERM HUP; echo ready; while :; do sleep 1; done"]
    console.start_console(task)
    viewer = Viewer(console.get_console(task)["url"])
    viewer.read_until(b"ready")
    console.stop_console(task)
    assert viewer.is_over()
    assert processes(pid_file) == []


@pytest.mark.parametrize(("seconds", "ends_well"), [(30, True), (0, False)])
def test_a_process_has_some_time_to_end(
    console: LineConsole, task: Any, tmp_path: Path, conf: Setter, seconds: int, ends_well: bool
) -> None:
    conf(console__kill_timeout=seconds)
    farewell = tmp_path / "farewell"
    script = f"trap 'sleep 0.5; echo bye > {farewell}; exit' TERM; echo ready; while :; do sleep 0.1; done"
    task.node.driver_info["line_command"] = ["sh", "-c", script]
    console.start_console(task)
    with contextlib.closing(Viewer(console.get_console(task)["url"])) as viewer:
        viewer.read_until(b"ready")
        console.stop_console(task)
    assert farewell.exists() is ends_well


def test_a_server_that_does_not_get_ready_is_given_up(
    console: LineConsole, task: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, conf: Setter, pid_file: Path
) -> None:
    conf(console__subprocess_timeout=1, console__subprocess_checking_interval=1)
    (tmp_path / "socat").write_text("#!/bin/sh\nexec sleep 600\n")
    (tmp_path / "socat").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(ConsoleSubprocessFailed, match="did not listen in time"):
        console.start_console(task)
    assert processes(pid_file) == []


def test_an_end_is_reported_with_its_reason(console: LineConsole, task: Any, pid_file: Path) -> None:
    ends: list[ConsoleEnd] = []
    SERVERS.report_to(ends.append)
    console.start_console(task)
    kill(pid_file)
    until(lambda: ends, "the end is reported")
    assert ends == [ConsoleEnd(task.node.uuid, "socat was killed by signal 9")]
    console.stop_console(task)
    console.start_console(task)
    console.stop_console(task)
    assert len(ends) == 1


def test_an_end_that_can_not_be_handled_hides_no_later_one(
    console: LineConsole, task: Any, pid_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ends: list[ConsoleEnd] = []

    def fail_once(end: ConsoleEnd) -> None:
        ends.append(end)
        if len(ends) == 1:
            raise RuntimeError("no database")

    SERVERS.report_to(fail_once)
    console.start_console(task)
    kill(pid_file)
    until(lambda: "no database" in caplog.text, "the end is reported")
    console.start_console(task)
    kill(pid_file)
    until(lambda: len(ends) == 2, "the next end is reported")


def test_an_event_of_a_console_that_is_gone_harms_none_that_has_its_descriptor(console: LineConsole, task: Any) -> None:
    console.start_console(task)
    served = SERVERS._served[task.node.uuid]
    assert SERVERS._handle_event(served.handle) is None
    assert talk(console.get_console(task)["url"])
    assert SERVERS._served[task.node.uuid] is served
    console.stop_console(task)


def test_a_console_that_comes_while_leftovers_are_ended_goes_on(console: LineConsole, task: Any) -> None:
    console.start_console(task)
    before = console.get_console(task)["url"]

    def is_needed(_uuid: str) -> bool:
        console.start_console(task)
        return False

    SERVERS.sweep(is_needed)
    assert talk(console.get_console(task)["url"]), before
    console.stop_console(task)


_LIFE = """
import os, sys
from ironic.conf import CONF, prepare
prepare(sys.argv[2:])
from ironic.drivers.modules.console.console_servers import SERVERS
from ironic.drivers.modules.console.socat_command import ConsoleCommand
SERVERS.start(sys.argv[1], ConsoleCommand(["cat"]), {port})
os._exit(9)
"""


def test_a_console_outlives_its_conductor_and_is_replaced(
    console: LineConsole, task: Any, place: Path, pid_file: Path, tmp_path: Path
) -> None:
    port, file = free_port(), tmp_path / "options"
    file.write_text(
        f"[DEFAULT]\nhost=elsewhere\ntempdir={tmp_path}\n[console]\nterminal_pid_dir={place}\nsocat_address=127.0.0.1\n"
    )
    program = [sys.executable, "-c", _LIFE.format(port=port), task.node.uuid, f"--config-file={file}"]
    subprocess.run(program, check=False)
    url = f"tcp://127.0.0.1:{port}"
    for _each in range(3):  # socat complains of these, and the other end of its standard error is gone
        broken = socket.create_connection(("127.0.0.1", port))
        broken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        broken.sendall(b"x\n")
        broken.close()
    assert talk(url)
    SERVERS.sweep(lambda _uuid: False)
    assert talk(url), "a console of another conductor was ended"
    console.start_console(task)
    with pytest.raises(ConnectionRefusedError):
        talk(url)
    assert talk(console.get_console(task)["url"])
    console.stop_console(task)


def test_what_an_earlier_life_left_is_swept_away(console: LineConsole, task: Any, place: Path) -> None:
    console.start_console(task)
    url = console.get_console(task)["url"]
    other = "0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b12"
    left = [place / f"{other}.pid", place / f"{other}.pid.BakCkq", place / "notes.pid"]
    fresh = place / "0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b13.pid"
    for path in (*left, fresh):
        path.write_text("1")
    for path in left:
        os.utime(path, (1, 1))
    SERVERS.sweep(lambda uuid: uuid == task.node.uuid)
    assert [path.exists() for path in (*left, fresh)] == [False, False, True, True]
    assert talk(url)
    SERVERS.sweep(lambda _uuid: False)
    with pytest.raises(ConnectionRefusedError):
        talk(url)


def test_ipv6(console: LineConsole, task: Any, conf: Setter) -> None:
    conf(console__socat_address="::1")
    console.start_console(task)
    assert console.get_console(task)["url"].startswith("tcp://[::1]:")
    assert talk(console.get_console(task)["url"])
    console.stop_console(task)


def test_an_idle_viewer_is_sent_away(console: LineConsole, task: Any, conf: Setter) -> None:
    conf(console__terminal_timeout=1)
    console.start_console(task)
    viewer = Viewer(console.get_console(task)["url"])
    viewer.send(b"here\n")
    viewer.read_until(b"here")
    assert viewer.is_over()
    console.stop_console(task)


_SHOW = "import sys,json,os; print(json.dumps([sys.argv[1:], os.environ['PLAIN']]))"
_WORD = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)


@settings(max_examples=examples(25))
@given(st.lists(_WORD, max_size=5))
@example(["", "a  b", "c,pty:d!!e", "'; touch /tmp/x; '", '"$(id)"', "`id`", "\\", "\n", "-L/etc/passwd", "{[(*?~#"])
@example(["x" * 5000, ",EXEC:id,", "é"])
def test_no_word_of_a_command_is_more_than_a_word(words: list[str]) -> None:
    command = ConsoleCommand([sys.executable, "-c", _SHOW, *words], {"PLAIN": "yes"})
    *_options, shell = socat_command.arguments("127.0.0.1", 1, Path("/nowhere/x.pid"), 0)
    variables = socat_command.environment(command, Path("/nowhere/x.pid"), "here")
    run = subprocess.run(["socat", "-u", shell, "STDOUT"], env=variables, capture_output=True, check=True)
    assert json.loads(run.stdout) == [words, "yes"]
