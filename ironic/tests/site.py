"""The distributed service in processes of its own: one API, conductors that come and go, a database and a broker.

Every site has an exchange and host names of its own, so sites that share a broker never meet. A site without a broker
has JSON-RPC: its conductors are at ports of the loopback.
"""

import signal
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.tests.databases import database_with_tables
from ironic.tests.live_service import Options, Service, free_port, write_options

BROKER = "rabbit://guest:guest@127.0.0.1:5672/"
HEADERS = {"X-OpenStack-Ironic-API-Version": "1.115"}

FAKES = {f"enabled_{kind}_interfaces": "fake" for kind in ("boot", "deploy", "inspect", "management", "power")}
NONE = {
    f"enabled_{kind}_interfaces": f"no-{kind}" for kind in ("bios", "console", "firmware", "raid", "rescue", "vendor")
}
GENERAL = {
    "auth_strategy": "noauth",
    "enabled_hardware_types": "fake-hardware",
    "enabled_network_interfaces": "noop",
    "enabled_storage_interfaces": "noop",
    "hash_ring_reset_interval": 2,
    **FAKES,
    **NONE,
}
# For machines of which some have a BMC.
WITH_REDFISH = {f"enabled_{kind}_interfaces": "fake, redfish" for kind in ("power", "management")}
MEMBERSHIP = {"heartbeat_interval": 1, "heartbeat_timeout": 5, "check_provision_state_interval": 2}

# For tests whose fixtures make a site with this carrier: with both, or with the second one in `make battery` only.
BOTH = pytest.mark.parametrize("carrier", ["oslo", "json-rpc"])
BOTH_IN_BATTERY = pytest.mark.parametrize("carrier", ["oslo", pytest.param("json-rpc", marks=pytest.mark.battery)])

_NO_OPTIONS: Options = {}


def eventually(look: Callable[[], Any], wanted: Any, seconds: float = 60) -> None:
    """Look until it is as wanted."""
    deadline = time.monotonic() + seconds
    while (seen := look()) != wanted:
        assert time.monotonic() < deadline, f"it is {seen}, not {wanted}, after {seconds} s"
        time.sleep(0.05)


def until(holds: Callable[[], object], seconds: float = 60) -> None:
    """Wait until a function returns something true."""
    eventually(lambda: bool(holds()), True, seconds)


class Site:
    """One API and its conductors.

    ``files`` are read before what makes the site a site; ``environments`` are added to the one of this process, by the
    name of a conductor or "api".
    """

    def __init__(
        self,
        directory: Path,
        database: str,
        broker: str = BROKER,
        files: Sequence[Path] = (),
        environments: Mapping[str, Mapping[str, str]] | None = None,
        carrier: str = "oslo",
    ) -> None:
        self._carrier = carrier
        # The ports of conductors that are called by JSON-RPC.
        self._ports: dict[str, int] = {}
        self._environments = environments or {}
        self.name = f"site{uuid.uuid4().hex[:8]}"
        self.conductors: dict[str, Service] = {}
        self.directory, self.database, self._broker, self._files = directory, database, broker, files
        self._earlier_lives: list[str] = []
        self._port = free_port()
        self.configuration = self._configuration("api", _NO_OPTIONS)

    # The processes

    @property
    def api(self) -> Service:
        """The API's process."""
        return self._api

    def start_api(self, options: Options = _NO_OPTIONS) -> Service:
        """Start the API, or start it again; it needs a moment until it is ready."""
        self._log("api").unlink(missing_ok=True)
        files = self.configuration if not options else self._configuration("api", options)
        self._api = Service("ironic-api", files, self._log("api"), self._port, self._environments.get("api"))
        return self._api

    def start_conductor(self, name: str, options: Options = _NO_OPTIONS) -> Service:
        """Start a conductor, or start it again; it needs a moment until it is ready."""
        if name in self.conductors:
            self._earlier_lives.append(self.conductors[name].log)
        self._log(name).unlink(missing_ok=True)
        files = self._configuration(name, options)
        environment = self._environments.get(name)
        self.conductors[name] = Service("ironic-conductor", files, self._log(name), environment=environment)
        return self.conductors[name]

    def reconfigure(self, name: str, options: Options) -> None:
        """Give a running process, "api" or a conductor, other options, and have it read them."""
        self._configuration(name, options)
        (self._api if name == "api" else self.conductors[name]).signal(signal.SIGHUP)

    def host(self, name: str) -> str:
        """Return the host name of a conductor, unique on the broker; without one it is the address."""
        if self._carrier == "oslo":
            return f"{self.name}-{name}"
        return f"127.0.0.1:{self._ports.setdefault(name, free_port())}"

    def name_of(self, host: str) -> str:
        """Return the name that a conductor has here."""
        return next((name for name in self.conductors if self.host(name) == host), host)

    def kill(self, name: str) -> None:
        """End a conductor as a power cut would."""
        self.conductors[name].signal(signal.SIGKILL)
        self.conductors[name].end()

    def stop(self) -> None:
        """End everything, also what was paused."""
        services = [*self.conductors.values(), *([self._api] if hasattr(self, "_api") else [])]
        for service in services:
            service.signal(signal.SIGCONT)
            service.signal(signal.SIGTERM)
        for service in services:
            service.end()

    def _log(self, name: str) -> Path:
        return self.directory / f"{name}.log"

    def _configuration(self, name: str, options: Options) -> list[Path]:
        groups: dict[str, Mapping[str, object]] = {
            "DEFAULT": {
                **(GENERAL if not self._files else {}),
                "rpc_transport": self._carrier,
                **self._carrier_options(name),
                "log_file": self._log(name),
            },
            "api": {"host_ip": "127.0.0.1", "port": self._port},
            "database": {"connection": self.database},
            "conductor": MEMBERSHIP,
        }
        if self._carrier == "json-rpc":
            port = self.host(name).partition(":")[2]
            groups["json_rpc"] = {"host_ip": "127.0.0.1", "port": port, "timeout": 20}
        for group, values in options.items():
            groups[group] = {**groups.get(group, {}), **values}
        return [*self._files, write_options(self.directory / f"{name}.conf", groups)]

    def _carrier_options(self, name: str) -> dict[str, object]:
        if self._carrier == "json-rpc":
            return {"host": "127.0.0.1"}
        return {
            "host": self.host(name),
            "transport_url": self._broker,
            "control_exchange": self.name,
            "rpc_response_timeout": 20,
        }

    @property
    def logs(self) -> list[str]:
        """What each process has logged, those included that were started again under the same name."""
        return [*self._earlier_lives, *(service.log for service in [self._api, *self.conductors.values()])]

    # What is asked of it

    @property
    def url(self) -> str:
        """Where its API answers."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def log(self) -> str:
        """What all its processes have logged."""
        return "".join(service.log for service in [self._api, *self.conductors.values()])

    def get(self, path: str, version: str = "1.115") -> requests.Response:
        """Ask the API."""
        return self._api.get(path, version)

    def ask(self, method: str, path: str, body: Any = None) -> requests.Response:
        """Send a request and return the answer, whatever it is."""
        return requests.request(method, f"{self.url}{path}", json=body, headers=HEADERS, timeout=60)

    def put(self, path: str, body: Mapping[str, Any]) -> None:
        """Ask for something that takes a while."""
        answer = self.ask("PUT", path, body)
        assert answer.status_code == 202, answer.text

    def create_node(self, **values: Any) -> dict[str, Any]:
        """Create a node and return it."""
        answer = self.ask("POST", "/v1/nodes", {"driver": "fake-hardware", **values})
        assert answer.status_code == 201, answer.text
        node: dict[str, Any] = answer.json()
        return node

    def node(self, uuid: str) -> dict[str, Any]:
        """Return a node."""
        node: dict[str, Any] = self.get(f"/v1/nodes/{uuid}").json()
        return node

    def provision(self, uuid: str, verb: str, state: str) -> None:
        """Send a verb and wait for the state it leads to."""
        self.put(f"/v1/nodes/{uuid}/states/provision", {"target": verb})
        eventually(lambda: self.node(uuid)["provision_state"], state)

    def alive(self) -> set[str]:
        """Return the conductors that the API takes for alive, by the names they have here."""
        found = self.get("/v1/conductors").json()["conductors"]
        return {self.name_of(each["hostname"]) for each in found if each["alive"]}

    def await_conductors(self, *names: str) -> None:
        """Wait until the API chooses among these conductors, and no others; its table of drivers is never older."""

        def chosen_from() -> set[str]:
            found = self.get("/v1/drivers").json()["drivers"]
            return {self.name_of(host) for driver in found for host in driver["hosts"]}

        eventually(chosen_from, set(names))

    def owner(self, node: Mapping[str, Any]) -> str:
        """Return the conductor that serves a node, by the name it has here."""
        host: str = self.node(node["uuid"])["conductor"]
        return self.name_of(host)

    def nodes_of(self, name: str, count: int = 1, **values: Any) -> list[dict[str, Any]]:
        """Create nodes until so many belong to a conductor, and return those."""
        found: list[dict[str, Any]] = []
        while len(found) < count:
            node = self.create_node(**values)
            if self.owner(node) == name:
                found.append(node)
        return found


@contextmanager
def site(
    directory: Path,
    *,
    kind: str = "mariadb",
    conductors: Sequence[str] = ("one", "two"),
    options: Options = _NO_OPTIONS,
    files: Sequence[Path] = (),
    environments: Mapping[str, Mapping[str, str]] | None = None,
    carrier: str = "oslo",
) -> Iterator[Site]:
    """Run an API and conductors over an empty database of a kind and the shared broker, until the block ends."""
    with ExitStack() as stack:
        database = stack.enter_context(database_with_tables(kind, directory))
        running = Site(directory, database, files=files, environments=environments, carrier=carrier)
        stack.callback(running.stop)
        services = [running.start_api(options), *(running.start_conductor(name, options) for name in conductors)]
        for service in services:
            service.await_ready()
        yield running
