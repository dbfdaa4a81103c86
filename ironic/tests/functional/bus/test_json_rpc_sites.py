"""Sites without a broker: logins and TLS between the processes, several conductors of one host, all-in-one pairs."""

import signal
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bcrypt
import pytest
import requests

from ironic.tests.databases import database_with_tables
from ironic.tests.live_service import Options, Service, free_port, write_options
from ironic.tests.redfish_bmc import write_certificate
from ironic.tests.site import GENERAL, HEADERS, MEMBERSHIP, Site, eventually, site


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Site]:
    """Run an API and two conductors that call each other by TLS, with a password."""
    certificate, key = write_certificate(tmp_path)
    users = tmp_path / "users"
    users.write_text(f"ironic:{bcrypt.hashpw(b's3cret', bcrypt.gensalt(4)).decode()}\n")
    options: Options = {
        "json_rpc": {
            "auth_strategy": "http_basic",
            "http_basic_auth_user_file": users,
            "username": "ironic",
            "password": "s3cret",
            "use_ssl": True,
            "cert_file": certificate,
            "key_file": key,
            "cafile": certificate,
        }
    }
    with site(tmp_path, carrier="json-rpc", options=options) as running:
        yield running


def test_calls_with_a_login_by_tls(guarded: Site) -> None:
    node = guarded.nodes_of("two")[0]
    guarded.provision(node["uuid"], "manage", "manageable")
    # Its name has the port, so that both run on this host.
    assert guarded.node(node["uuid"])["conductor"] == guarded.host("two")
    assert guarded.get(f"/v1/conductors/{guarded.host('two')}").json()["alive"] is True
    history = guarded.get(f"/v1/nodes/{node['uuid']}/history").json()["history"]
    assert history == []
    answer = requests.post(
        f"https://{guarded.host('two')}/", json={}, verify=str(guarded.directory / "server.crt"), timeout=30
    )
    assert answer.status_code == 401
    assert "s3cret" not in guarded.log


def test_a_login_that_is_refused_is_said_to_both_sides(guarded: Site) -> None:
    node = guarded.nodes_of("two")[0]
    guarded.api.stop()
    options: dict[str, dict[str, Any]] = {
        "json_rpc": {
            "auth_strategy": "http_basic",
            "username": "ironic",
            "password": "mistaken",
            "client_use_ssl": True,
            "cafile": guarded.directory / "server.crt",
        }
    }
    guarded.start_api(options).await_ready()
    answer = guarded.ask("GET", f"/v1/nodes/{node['uuid']}/management/boot_device")
    assert answer.status_code == 503
    assert "does not know the name or the password" in answer.text
    assert "http" not in answer.text and "127.0.0.1:" not in answer.text.replace(guarded.host("two"), "")
    eventually(lambda: "Log-in refused" in guarded.conductors["two"].log, True)
    assert "mistaken" not in guarded.log


def test_the_environment_names_the_port(tmp_path: Path) -> None:
    port = free_port()
    environments = {"one": {"OS_JSON_RPC__PORT": str(port)}}
    with database_with_tables("sqlite", tmp_path) as database:
        running = Site(tmp_path, database, environments=environments, carrier="json-rpc")
        running._ports["one"] = port
        try:
            running.start_api().await_ready()
            running.start_conductor("one", {"json_rpc": {"port": 1}}).await_ready()
            node = running.create_node()
            running.provision(node["uuid"], "manage", "manageable")
            assert running.node(node["uuid"])["conductor"] == f"127.0.0.1:{port}"
        finally:
            running.stop()


def test_a_conductor_that_died_leaves_the_ring_over_sqlite_too(tmp_path: Path) -> None:
    with site(tmp_path, kind="sqlite", carrier="json-rpc") as running:
        node = running.nodes_of("two")[0]
        running.kill("two")
        path = f"/v1/nodes/{node['uuid']}/management/boot_device"
        eventually(lambda: running.ask("GET", path).status_code, 200, 20)
        assert running.owner(node) == "one"


@pytest.mark.parametrize("program", ["ironic-api", "ironic-conductor"])
def test_separate_programs_without_a_carrier_do_not_start(tmp_path: Path, program: str) -> None:
    options: Options = {"DEFAULT": {**GENERAL, "rpc_transport": "none", "log_file": tmp_path / "log"}}
    started = Service(program, [write_options(tmp_path / "ironic.conf", options)], tmp_path / "log")
    status, printed = started.end()
    assert status == 1
    assert "rpc_transport" in printed and "json-rpc" in printed


class Pair:
    """Two all-in-one services over one database, as a site for high availability has them."""

    def __init__(self, directory: Path, database: str) -> None:
        self.directory, self.database = directory, database
        self.services: dict[str, Service] = {}
        self.ports = {name: (free_port(), free_port()) for name in ("one", "two")}

    def start(self, name: str) -> Service:
        port, rpc_port = self.ports[name]
        options: Options = {
            "DEFAULT": {**GENERAL, "host": "127.0.0.1", "rpc_transport": "json-rpc", "log_file": self._log(name)},
            "api": {"host_ip": "127.0.0.1", "port": port},
            "json_rpc": {"host_ip": "127.0.0.1", "port": rpc_port, "auth_strategy": "noauth"},
            "database": {"connection": self.database},
            "conductor": MEMBERSHIP,
        }
        self._log(name).unlink(missing_ok=True)
        configuration = write_options(self.directory / f"{name}.conf", options)
        self.services[name] = Service("ironic", [configuration], self._log(name), port)
        return self.services[name]

    def ask(self, name: str, method: str, path: str, body: Any = None) -> requests.Response:
        url = f"http://127.0.0.1:{self.ports[name][0]}{path}"
        return requests.request(method, url, json=body, headers=HEADERS, timeout=60)

    def _log(self, name: str) -> Path:
        return self.directory / f"{name}.log"


def test_two_services_in_one_share_the_nodes_and_one_that_dies_costs_no_other_error_than_a_503(tmp_path: Path) -> None:
    with database_with_tables("mariadb", tmp_path) as database:
        pair = Pair(tmp_path, database)
        try:
            for name in ("one", "two"):
                pair.start(name).await_ready()
            both = {f"127.0.0.1:{rpc}" for _, rpc in pair.ports.values()}

            def owners() -> set[str]:
                found = pair.ask("one", "GET", "/v1/nodes?fields=conductor").json()["nodes"]
                return {node["conductor"] for node in found}

            made = [pair.ask("one", "POST", "/v1/nodes", {"driver": "fake-hardware"}).json()["uuid"] for _ in range(12)]
            eventually(owners, both)
            statuses: Counter[int] = Counter()
            enough = threading.Event()

            def ask() -> None:
                while not enough.is_set():
                    for uuid in made:
                        path = f"/v1/nodes/{uuid}/management/boot_device"
                        statuses[pair.ask("one", "GET", path).status_code] += 1

            asking = threading.Thread(target=ask)
            asking.start()
            for _ in range(2):
                pair.services["two"].signal(signal.SIGKILL)
                pair.services["two"].end()
                eventually(owners, {f"127.0.0.1:{pair.ports['one'][1]}"})
                pair.start("two").await_ready()
                eventually(owners, both)
            enough.set()
            asking.join()
            # How many of each depends on how long it takes to see that one is gone.
            assert set(statuses) == {200, 503}, statuses
            paths = [f"/v1/nodes/{uuid}/management/boot_device" for uuid in made]
            eventually(lambda: {pair.ask("one", "GET", path).status_code for path in paths}, {200})
            assert "Traceback" not in pair.services["one"].log
        finally:
            for service in pair.services.values():
                service.stop()
