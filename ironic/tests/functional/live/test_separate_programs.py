"""`ironic-api` and two `ironic-conductor` work as one service over RabbitMQ and a database server."""

import signal
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.tests.databases import empty_database
from ironic.tests.live_service import Options, Service, create_database, free_port, write_options

BROKER = "rabbit://guest:guest@127.0.0.1:5672/"
HEADERS = {"X-OpenStack-Ironic-API-Version": "1.115"}


@dataclass
class Site:
    """An API and its conductors."""

    api: Service
    conductors: dict[str, Service]

    def put(self, path: str, body: dict[str, Any]) -> None:
        """Ask for something that takes a while."""
        answer = requests.put(f"{self.api.url}{path}", json=body, headers=HEADERS, timeout=60)
        assert answer.status_code == 202, answer.text

    def create_node(self, **values: Any) -> dict[str, Any]:
        """Create a node and return it."""
        answer = requests.post(f"{self.api.url}/v1/nodes", json=values, headers=HEADERS, timeout=60)
        assert answer.status_code == 201, answer.text
        node: dict[str, Any] = answer.json()
        return node


def options(directory: Path, name: str, port: int, database: str) -> Path:
    """Write the configuration of one program."""
    host = f"{name}-{uuid.uuid4().hex[:8]}"
    fakes = {f"enabled_{kind}_interfaces": "fake" for kind in ("boot", "deploy", "management", "power")}
    general = {
        "auth_strategy": "noauth",
        "host": host,
        "transport_url": BROKER,
        "rpc_response_timeout": 20,
        "log_file": directory / f"{name}.log",
        "enabled_hardware_types": "fake-hardware",
        "enabled_network_interfaces": "noop",
        "enabled_storage_interfaces": "noop",
        **fakes,
    }
    groups: Options = {
        "DEFAULT": general,
        "api": {"host_ip": "127.0.0.1", "port": port},
        "database": {"connection": database},
        "conductor": {"heartbeat_interval": 1, "heartbeat_timeout": 5},
    }
    return write_options(directory / f"{name}.conf", groups)


@pytest.fixture(scope="module", params=["mariadb", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Run the three programs over one database server and the broker."""
    directory = tmp_path_factory.mktemp("site")
    port = free_port()
    with ExitStack() as stack:
        database = stack.enter_context(empty_database(request.param, directory))
        files = {name: options(directory, name, port, database) for name in ("api", "one", "two")}
        create_database(files["api"])
        running = {}
        for name, path in files.items():
            program = "ironic-api" if name == "api" else "ironic-conductor"
            running[name] = Service(program, [path], directory / f"{name}.log", port)
            stack.callback(running[name].stop)
        for service in running.values():
            service.await_ready()
        yield Site(running.pop("api"), running)


def eventually(look: Callable[[], Any], wanted: Any, seconds: float = 30) -> None:
    """Look until it is as wanted."""
    deadline = time.monotonic() + seconds
    while (seen := look()) != wanted:
        assert time.monotonic() < deadline, f"it is {seen}, not {wanted}, after {seconds} s"
        time.sleep(0.1)


def test_the_api_asks_conductors_over_the_bus(site: Site) -> None:
    nodes = [site.create_node(driver="fake-hardware", name=f"n{number}") for number in range(8)]
    for node in nodes:
        site.put(f"/v1/nodes/{node['uuid']}/states/provision", {"target": "manage"})
    eventually(lambda: {n["provision_state"] for n in site.api.get("/v1/nodes").json()["nodes"]}, {"manageable"})
    conductors = {n["conductor"] for n in site.api.get("/v1/nodes/detail").json()["nodes"]}
    assert len(conductors) == 2


def test_an_error_of_a_conductor_reaches_the_user(site: Site) -> None:
    node = site.create_node(driver="fake-hardware")
    answer = requests.put(
        f"{site.api.url}/v1/nodes/{node['uuid']}/management/boot_device",
        json={"boot_device": "toaster"},
        headers=HEADERS,
        timeout=60,
    )
    assert answer.status_code == 400
    assert "toaster" in answer.text


def test_when_a_conductor_ends_the_other_serves_its_nodes(site: Site) -> None:
    gone = site.conductors["two"]
    gone.signal(signal.SIGTERM)
    assert gone.end() == (0, "")
    eventually(lambda: [c["alive"] for c in site.api.get("/v1/conductors").json()["conductors"]].count(True), 1)
    # The API's own picture of the conductors is up to hash_ring_reset_interval old.
    eventually(lambda: len({n["conductor"] for n in site.api.get("/v1/nodes/detail").json()["nodes"]}), 1)
    node = site.create_node(driver="fake-hardware")
    site.put(f"/v1/nodes/{node['uuid']}/states/provision", {"target": "manage"})
    eventually(lambda: site.api.get(f"/v1/nodes/{node['uuid']}").json()["provision_state"], "manageable")


def test_the_api_and_the_last_conductor_end_cleanly(site: Site) -> None:
    assert site.api.stop() == 0
    assert site.conductors["one"].stop() == 0
    assert "Traceback" not in site.api.log + site.conductors["one"].log
