"""`ironic` on SQLite is killed like a power cut, whatever it is doing, and goes on when it is started again."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic import db
from ironic.core.flows import states
from ironic.tests.functional.life import battery
from ironic.tests.functional.life.account import check_ended, check_moves
from ironic.tests.functional.life.works import (
    DELAYS,
    FAKES,
    SLOW,
    WORKS,
    begin,
    check_failed,
    create,
    is_over,
    row,
)
from ironic.tests.live_service import Options, Service, create_database, free_port, write_options
from ironic.tests.site import eventually

HEADERS = {"X-OpenStack-Ironic-API-Version": "1.115"}

# A restarted conductor has taken its work up after so many seconds.
RESUMED = 15


class OneProcess:
    """The all-in-one service with its database beside it."""

    def __init__(self, directory: Path) -> None:
        self.directory, self._port, self._lives = directory, free_port(), 0
        self._database = f"sqlite:///{directory}/ironic.sqlite"
        create_database(self._configuration({}))
        self.store = db.connect(self._database)

    def start(self, delays: dict[str, float]) -> None:
        """Start the service, or start it again."""
        self._lives += 1
        log = self.directory / f"life{self._lives}.log"
        self.service = Service("ironic", [self._configuration(delays, log)], log, self._port)
        self.service.await_ready()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.service.signal(signal.SIGKILL)
        self.service.end()

    def ask(self, method: str, path: str, body: Any = None) -> requests.Response:
        """Send a request and return the answer."""
        return requests.request(method, f"http://127.0.0.1:{self._port}{path}", json=body, headers=HEADERS, timeout=60)

    def _configuration(self, delays: dict[str, float], log: Path | None = None) -> Path:
        general = {
            "auth_strategy": "noauth",
            "host": "the-one",
            "rpc_transport": "none",
            "enabled_hardware_types": "fake-hardware",
            "enabled_network_interfaces": "noop",
            "enabled_storage_interfaces": "noop",
            "enabled_console_interfaces": "fake",
            **FAKES,
        }
        groups: Options = {
            "DEFAULT": general | ({"log_file": log} if log else {}),
            "api": {"host_ip": "127.0.0.1", "port": self._port},
            "database": {"connection": self._database},
            "conductor": {"heartbeat_interval": 1, "heartbeat_timeout": 5, "check_provision_state_interval": 2},
            "fake": delays,
        }
        return write_options(self.directory / "ironic.conf", groups)


@pytest.fixture
def one(tmp_path: Path) -> Iterator[OneProcess]:
    """Run the service with slow machines."""
    running = OneProcess(tmp_path)
    running.start(DELAYS)
    yield running
    running.service.stop()
    running.store.close()


@contextmanager
def writing(one: OneProcess, uuid: str) -> Iterator[list[int]]:
    """Change a node again and again; give the changes that were acknowledged."""
    acknowledged: list[int] = []
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            patch = [{"op": "add", "path": "/extra/number", "value": number}]
            try:
                answer = one.ask("PATCH", f"/v1/nodes/{uuid}", patch)
            except requests.RequestException:
                return
            if answer.status_code == 200:
                acknowledged.append(number)

    thread = threading.Thread(target=write)
    thread.start()
    yield acknowledged
    stop.set()
    thread.join()


def leave_unfinished(one: OneProcess) -> str:
    """Have the conductor be at work on an allocation, and an open console; return the allocation."""
    values = {"driver": "fake-hardware", "resource_class": "rack"}
    node = one.ask("POST", "/v1/nodes", values).json()["uuid"]
    assert one.ask("PUT", f"/v1/nodes/{node}/states/console", {"enabled": True}).status_code == 202
    eventually(lambda: one.store.nodes.row(("console_enabled", "reservation"), node), (True, None))
    one.store.nodes.update(node, {"provision_state": states.AVAILABLE, "power_state": states.POWER_ON})
    (conductor,) = one.store.conductors.find()
    unfinished = {"state": "allocating", "resource_class": "rack", "conductor_affinity": conductor.id}
    return one.store.allocations.create(unfinished).uuid


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(0.0, marks=pytest.mark.battery),
        0.5,
        pytest.param(0.75, marks=pytest.mark.battery),
    ],
)
def test_whatever_it_was_doing_ends_with_a_reason_and_can_be_done_again(one: OneProcess, after: float) -> None:
    nodes = create(one.ask, one.store)
    left = leave_unfinished(one)
    idle = one.ask("POST", "/v1/nodes", {"driver": "fake-hardware"}).json()["uuid"]
    with writing(one, idle) as acknowledged:
        begin(one.ask, one.store, nodes)
        time.sleep(after * SLOW)
        one.kill()
    caught = {uuid: row(one.store, uuid)[0] for uuid in nodes}

    began = time.monotonic()
    one.start({})
    eventually(lambda: [uuid for uuid in nodes if not is_over(one.store, uuid)], [], RESUMED)
    eventually(lambda: one.store.allocations.get(left).state, "active", RESUMED)
    eventually(lambda: "its console is open again" in one.service.log, True, RESUMED)
    seconds = time.monotonic() - began
    battery.survived("all-in-one", "looking for a node", f"kill -9 after {after:.0%} of a step", "allocated", seconds)
    for uuid, state in caught.items():
        if state in states.WORKING:
            ended = check_failed(one.store, uuid, state, "conductor the-one was restarted")
            battery.survived("all-in-one", state, f"kill -9 after {after:.0%} of a step", ended, seconds)
    assert sum(state in states.WORKING for state in caught.values()) >= len(WORKS) - 2, caught
    assert acknowledged and one.store.nodes.get(idle).extra["number"] >= acknowledged[-1]
    logs = [path.read_text() for path in one.directory.glob("life*.log")]
    check_moves(logs, {uuid: work.begins for uuid, work in nodes.items()}, one.store)
    check_ended(one.store, nodes)

    (again,) = (uuid for uuid, work in nodes.items() if work.state == states.INSPECTING)
    assert caught[again] == states.INSPECTING
    assert one.ask("PUT", f"/v1/nodes/{again}/states/provision", {"target": "inspect"}).status_code == 202
    eventually(lambda: row(one.store, again), (states.MANAGEABLE, None, None))


@pytest.mark.parametrize("kind", [states.POWER_OFF, pytest.param(states.REBOOT, marks=pytest.mark.battery)])
def test_a_power_change_it_was_doing_is_given_up(one: OneProcess, kind: str) -> None:
    uuid = one.ask("POST", "/v1/nodes", {"driver": "fake-hardware"}).json()["uuid"]
    one.store.nodes.update(uuid, {"provision_state": states.ACTIVE, "power_state": states.POWER_ON})
    assert one.ask("PUT", f"/v1/nodes/{uuid}/states/power", {"target": kind}).status_code == 202
    one.kill()
    assert one.store.nodes.get(uuid).target_power_state == states.POWER_TARGET[kind]
    began = time.monotonic()
    one.start({})
    eventually(lambda: is_over(one.store, uuid), True)
    found = one.store.nodes.get(uuid)
    assert (found.target_power_state, found.provision_state) == (None, states.ACTIVE)
    assert "was given up: conductor the-one was restarted" in str(found.last_error)
    battery.survived("all-in-one", f"changing power ({kind})", "kill -9", "active", time.monotonic() - began)
