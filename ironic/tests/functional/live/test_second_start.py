"""A second start beside the first ends by itself and touches nothing; a crashed process is replaced at once."""

import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from ironic.tests.live_service import Options, Service, create_database, free_port, listens, write_options
from ironic.tests.site import FAKES, NONE, eventually

HEADERS = {"X-OpenStack-Ironic-API-Version": "1.115"}
HEARTBEAT = 1

Start = Callable[..., Service]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts `ironic` on one database: by port, and by the directory of its state."""
    started: list[Service] = []

    def act(port: int, state: str = "state", **options: object) -> Service:
        directory = tmp_path / state
        directory.mkdir(exist_ok=True)
        number = len(started)
        log = tmp_path / f"{number}.log"
        groups: Options = {
            "DEFAULT": {
                "auth_strategy": "noauth",
                "rpc_transport": "none",
                "host": "conductor-1",
                "log_file": log,
                "state_path": directory,
                "enabled_hardware_types": "fake-hardware",
                "enabled_network_interfaces": "noop",
                "enabled_storage_interfaces": "noop",
                **FAKES,
                **NONE,
                **options,
            },
            "api": {"host_ip": "127.0.0.1", "port": port},
            "conductor": {"heartbeat_interval": HEARTBEAT, "heartbeat_timeout": 30},
            "database": {"connection": f"sqlite:///{tmp_path}/service.sqlite"},
            "fake": {"deploy_delay": 4},
        }
        path = write_options(tmp_path / f"{number}.conf", groups)
        create_database(path)
        started.append(Service("ironic", [path], log, port))
        return started[-1]

    yield act
    for each in started:
        each.signal(signal.SIGCONT)
        each.stop()


def ask(service: Service, method: str, path: str, body: object = None) -> requests.Response:
    """Send a request."""
    return requests.request(method, f"{service.url}{path}", json=body, headers=HEADERS, timeout=30)


def deploying(service: Service) -> str:
    """Return the UUID of a node whose deployment has begun."""
    uuid: str = ask(service, "POST", "/v1/nodes", {"driver": "fake-hardware", "automated_clean": False}).json()["uuid"]
    for verb, state in (("manage", "manageable"), ("provide", "available"), ("active", "deploying")):
        answer = ask(service, "PUT", f"/v1/nodes/{uuid}/states/provision", {"target": verb})
        assert answer.status_code == 202, answer.text
        eventually(lambda: state_of(service, uuid), state)
    return uuid


def state_of(service: Service, uuid: str) -> str:
    """Return the provision state of a node."""
    state: str = ask(service, "GET", f"/v1/nodes/{uuid}").json()["provision_state"]
    return state


@pytest.mark.parametrize(
    ("port", "state", "said"),
    [
        ("same", "state", "is taken, so another process listens there"),
        ("same", "elsewhere", "is taken, so another process listens there"),
        ("other", "state", "of this host already runs conductor conductor-1"),
        ("other", "elsewhere", "a process that this host does not know runs conductor conductor-1"),
    ],
)
def test_a_second_start_is_refused_and_the_deployment_of_the_first_goes_on(
    start: Start, port: str, state: str, said: str
) -> None:
    first = start(free_port())
    first.await_ready()
    node = deploying(first)
    second = start(first.port if port == "same" else free_port(), state)
    status, output = second.end()
    assert status == 1
    assert "The all-in-one service can't start: " in output and said in output
    assert "Traceback" not in output + second.log
    eventually(lambda: state_of(first, node), "active")
    time.sleep(3 * HEARTBEAT)
    assert ask(first, "GET", "/v1/conductors").json()["conductors"][0]["alive"]
    assert "newer process" not in first.log
    assert first.stop() == 0


def test_of_two_starts_at_once_one_serves(start: Start) -> None:
    port = free_port()
    one, two = start(port), start(port)
    eventually(lambda: "is ready after" in one.log + two.log, True)
    loser, winner = (one, two) if "is ready after" in two.log else (two, one)
    assert loser.end()[0] == 1
    assert winner.get("/v1/conductors").json()["conductors"][0]["alive"]


def test_a_killed_process_is_replaced_at_once(start: Start) -> None:
    first = start(free_port())
    first.await_ready()
    node = deploying(first)
    first.signal(signal.SIGKILL)
    first.end()
    again = start(first.port)
    again.await_ready()
    assert "may still run in another process" not in again.log
    eventually(lambda: state_of(again, node), "deploy failed")


def test_a_killed_process_is_replaced_elsewhere_after_a_heartbeat_that_does_not_come(start: Start) -> None:
    first = start(free_port())
    first.await_ready()
    first.signal(signal.SIGKILL)
    first.end()
    again = start(free_port(), "elsewhere")
    again.await_ready()
    assert "may still run in another process" in again.log
    assert "does not beat any more and is replaced" in again.log


def test_a_frozen_process_is_replaced_and_says_why_it_ends(start: Start) -> None:
    first = start(free_port())
    first.await_ready()
    first.signal(signal.SIGSTOP)
    newer = start(free_port(), "elsewhere")
    newer.await_ready()
    first.signal(signal.SIGCONT)
    status, output = first.end()
    assert status == 1
    assert "A newer process runs as conductor conductor-1, so this one ends and its work is lost." in output
    assert first.log.count("A newer process runs") == 1
    assert newer.get("/v1/conductors").json()["conductors"][0]["alive"]


def test_an_orderly_restart_waits_for_nothing(start: Start) -> None:
    first = start(free_port())
    first.await_ready()
    assert first.stop() == 0
    for state in ("state", "elsewhere"):
        again = start(free_port(), state)
        again.await_ready()
        assert "may still run" not in again.log
        assert again.stop() == 0


def test_what_can_not_start_gives_its_address_and_its_name_back(start: Start) -> None:
    port = free_port()
    refused = start(port, enabled_power_interfaces="missing")
    assert refused.end()[0] == 1
    assert not listens(port)
    start(port).await_ready()


def test_an_address_of_another_host_is_told_with_those_of_this_one(start: Start, tmp_path: Path) -> None:
    path = write_options(
        tmp_path / "elsewhere.conf",
        {
            "DEFAULT": {"auth_strategy": "noauth", "rpc_transport": "none", "log_file": tmp_path / "own.log"},
            "api": {"host_ip": "203.0.113.9", "port": free_port()},
            "database": {"connection": f"sqlite:///{tmp_path}/own.sqlite"},
        },
    )
    create_database(path)
    status, output = Service("ironic", [path], tmp_path / "own.log").end()
    assert status == 1
    assert "203.0.113.9 is no address of this host, which has " in output
    assert re.search(r"which has [^;]*\b127\.0\.0\.1\b", output)
    assert "Set [api]host_ip to one of them" in output


def test_who_started_it_reads_where_it_is_and_where_it_logs(start: Start) -> None:
    service = start(free_port())
    service.await_ready()
    service.signal(signal.SIGTERM)
    status, output = service.end()
    told = f"The all-in-one service is ready at {service.url}; it logs to {service.log_file}; its configuration is "
    assert (status, output[: len(told)]) == (0, told)
    (path,) = re.findall(r"^(/.+\.conf)\.\n$", output[len(told) :])
    assert Path(path).read_text()


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_the_service_manager_hears_when_it_serves_and_when_it_stops(tmp_path: Path, start: Start, kind: str) -> None:
    name = str(tmp_path / "notify") if kind == "path" else f"\0ironic-test-{tmp_path}"[:100]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(name)
        manager.settimeout(60)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("NOTIFY_SOCKET", name.replace("\0", "@"))
            patch.setenv("WATCHDOG_USEC", "400000")
            service = start(free_port())
        assert manager.recv(100) == b"READY=1"
        assert listens(service.port or 0)
        assert manager.recv(100) == b"WATCHDOG=1"
        service.signal(signal.SIGHUP)
        while (told := manager.recv(100)) == b"WATCHDOG=1":
            pass
        assert told.startswith(b"RELOADING=1\nMONOTONIC_USEC=")
        assert manager.recv(100) == b"READY=1"
        service.signal(signal.SIGTERM)
        while (told := manager.recv(100)) == b"WATCHDOG=1":
            pass
        assert told == b"STOPPING=1"
        assert service.end()[0] == 0
