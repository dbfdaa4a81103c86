"""Serial over LAN: the real ipmitool behind the real socat, with ipmi_sim and a serial port that repeats everything."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.errors.hardware_errors import ConsoleError
from ironic.drivers.modules.ipmi.socat_console import IPMISocatConsole
from ironic.tests.conftest import Setter
from ironic.tests.functional.consoles.lines import Viewer, kill, processes, until
from ironic.tests.ipmi_bmc import PASSWORD, IpmiBmc, free_udp_port, ipmi_sim
from ironic.tests.live_service import free_port
from ironic.tests.unit.drivers.machine import work_on


@contextlib.contextmanager
def serial_port() -> Iterator[int]:
    """Run a serial port as ipmi_sim connects to one: what is written to it is read back in capitals."""
    with socket.create_server(("127.0.0.1", free_port())) as listener:

        def repeat() -> None:
            while True:
                try:
                    client, _address = listener.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(client,), daemon=True).start()

        def answer(client: socket.socket) -> None:
            with client, contextlib.suppress(OSError):
                while said := client.recv(4096):
                    client.sendall(said.upper())

        threading.Thread(target=repeat, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def bmc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IpmiBmc]:
    with serial_port() as port, ipmi_sim(tmp_path_factory.mktemp("sim") / "bmc", sol_port=port) as running:
        yield running


@pytest.fixture(autouse=True)
def no_pauses(conf: Setter) -> None:
    conf(ipmi__min_command_interval=0, bmc__telemetry_timeout=10)


@pytest.fixture
def console() -> IPMISocatConsole:
    return IPMISocatConsole()


@pytest.fixture
def task(bmc: IpmiBmc, ports: range) -> Any:
    return work_on(driver="ipmi", driver_info=bmc.driver_info())


def typed(url: str, text: bytes) -> None:
    """Type into the machine until it answers: what is typed while the session begins may be lost."""
    with contextlib.closing(Viewer(url)) as viewer:
        viewer.read_until(b"SOL Session operational")
        until(lambda: text.strip().upper() in viewer.asked(text), "the machine answers")


def test_a_viewer_speaks_with_the_machine(console: IPMISocatConsole, task: Any, pid_file: Path) -> None:
    console.validate(task)
    console.start_console(task)
    found = console.get_console(task)
    assert found["type"] == "socat"
    typed(found["url"], b"login: me\n")
    typed(console.get_console(task)["url"], b"and again\n")
    console.stop_console(task)
    assert processes(pid_file) == []
    assert task.node.saved["driver_internal_info"] == {}


def test_a_viewer_is_thrown_off_for_who_asks_next(console: IPMISocatConsole, task: Any) -> None:
    console.start_console(task)
    url = console.get_console(task)["url"]
    first = Viewer(url)
    first.read_until(b"SOL Session operational")
    assert console.get_console(task)["url"] == url
    assert first.is_over()
    typed(url, b"mine now\n")
    console.stop_console(task)


def test_the_password_is_in_no_argument_and_no_file(
    console: IPMISocatConsole, task: Any, pid_file: Path, tmp_path: Path
) -> None:
    console.start_console(task)
    viewer = Viewer(console.get_console(task)["url"])
    viewer.read_until(b"SOL Session operational")
    running = processes(pid_file)
    programs = [Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") for pid in running]
    assert any(words[0].endswith(b"ipmitool") and words[-3:-1] == [b"sol", b"activate"] for words in programs)
    assert PASSWORD not in str(programs)
    secret = PASSWORD.encode()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if secret in path.read_bytes()]
    kill(pid_file)
    console.stop_console(task)
    assert viewer.is_over()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and secret in path.read_bytes()]
    assert processes(pid_file) == []


def test_a_bmc_that_is_away_costs_little_and_comes_back(
    console: IPMISocatConsole, ports: range, conf: Setter, pid_file: Path
) -> None:
    conf(bmc__telemetry_timeout=2)
    task: Any = work_on(
        driver="ipmi",
        driver_info={"ipmi_address": "127.0.0.1", "ipmi_port": free_udp_port(), "ipmi_cipher_suite": "3"},
    )
    console.start_console(task)
    assert len(processes(pid_file)) == 1
    console.stop_console(task)


HOSTILE = ["$(touch /tmp/x)", "`id`", "a b", "-f/etc/passwd", "x,EXEC:id", "'", '"', "\\", "!!", "{[(", "a;b|c&d"]


@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_login_is_one_word(console: IPMISocatConsole, task: Any, value: str) -> None:
    task.node.driver_info |= {"ipmi_username": value, "ipmi_password": value}
    command = console.console_command(task)
    words = list(command.words)
    assert words[words.index("-U") + 1] == value
    assert PASSWORD not in str(words)
    assert command.environment["IPMI_PASSWORD"] == value.encode()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"ipmi_address": None}, MissingParameterValue, "ipmi_address"),
        ({"ipmi_protocol_version": "1.5", "ipmi_cipher_suite": None}, InvalidParameterValue, "2.0"),
        ({"ipmi_terminal_port": "70000"}, InvalidParameterValue, "ipmi_terminal_port"),
        ({"ipmi_terminal_port": "1,EXEC:id"}, InvalidParameterValue, "ipmi_terminal_port"),
        ({"ipmi_terminal_port": True}, InvalidParameterValue, "ipmi_terminal_port"),
        ({"ipmi_terminal_port": 0}, InvalidParameterValue, "ipmi_terminal_port"),
    ],
)
def test_driver_info_is_checked(
    console: IPMISocatConsole, bmc: IpmiBmc, ports: range, changes: Any, error: Any, message: str
) -> None:
    task: Any = work_on(driver="ipmi", driver_info=bmc.driver_info(**changes))
    with pytest.raises(error, match=message):
        console.validate(task)


def test_a_forbidden_address_is_not_called(console: IPMISocatConsole, task: Any) -> None:
    task.node.driver_info["ipmi_address"] = "169.254.169.254"
    with pytest.raises(ConsoleError, match="ipmi_address"):
        console.start_console(task)


def test_a_port_of_the_node(console: IPMISocatConsole, bmc: IpmiBmc, place: Path) -> None:
    port = free_port()
    task: Any = work_on(driver="redfish", driver_info=bmc.driver_info(ipmi_terminal_port=str(port)))
    console.validate(task)
    console.start_console(task)
    assert console.get_console(task) == {"type": "socat", "url": f"tcp://127.0.0.1:{port}"}
    typed(f"tcp://127.0.0.1:{port}", b"fixed\n")
    console.stop_console(task)
