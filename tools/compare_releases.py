"""Compare the CPU time of requests with that of another checkout: `make compare OLD=DIRECTORY`.

The directory is a checkout of the older release with a virtual environment `.venv` in which it is installed. Both
services run at the same time, with an SQLite file and the same 1,000 nodes with a port each, and answer the same
requests in turn over one connection. What counts is the ratio of the medians of CPU time per request: it suffers little
from other programs, and above 1 the newer one costs more. Beside programs that compute, the ratio of the least figures
is the steadier one, with `--rounds 20` and `--only` for some cases. With `OLD=.` the ratios show the noise of the day.
"""

import argparse
import contextlib
import http.client
import json
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

NODES: Final = 1000
START_SECONDS: Final = 60
HEADERS: Final = {"X-OpenStack-Ironic-API-Version": "1.80", "Content-Type": "application/json"}
OPTIONS: Final = """
[DEFAULT]
auth_strategy = noauth
rpc_transport = none
host = compared
state_path = {directory}
enabled_hardware_types = fake-hardware
enabled_boot_interfaces = fake
enabled_deploy_interfaces = fake
enabled_inspect_interfaces = fake,no-inspect
enabled_management_interfaces = fake
enabled_network_interfaces = noop
default_network_interface = noop
enabled_power_interfaces = fake
[api]
host_ip = 127.0.0.1
port = {port}
[conductor]
sync_power_state_interval = 0
automated_clean = false
[database]
connection = sqlite:///{directory}/ironic.sqlite
[deploy]
http_root = {directory}/httpboot
[pxe]
tftp_root = {directory}/tftpboot
[dhcp]
dhcp_provider = none
"""

Request = tuple[str, str, object]


class Release:
    """A running service of one checkout."""

    def __init__(self, checkout: Path) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="compared-"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        options, programs = self._directory / "ironic.conf", checkout / ".venv" / "bin"
        options.write_text(OPTIONS.format(directory=self._directory, port=self._port))
        chosen = ["--config-file", str(options)]
        subprocess.run([programs / "ironic-dbsync", *chosen, "upgrade"], check=True, capture_output=True)
        with open(self._directory / "ironic.log", "w") as log:
            self._process = subprocess.Popen([programs / "ironic", *chosen], stdout=log, stderr=log)
        self._client = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        self.asked = 0
        try:
            self._await_start()
            self._fill()
        except BaseException:
            self.stop()
            raise

    def _await_start(self) -> None:
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                self.ask(("GET", "/v1/nodes", None))
                return
            except OSError:
                self._client.close()
                if time.monotonic() > until or self._process.poll() is not None:
                    raise SystemExit(f"It does not serve: {(self._directory / 'ironic.log').read_text()}") from None
                time.sleep(0.1)

    def _fill(self) -> None:
        self.nodes: list[str] = []
        for number in range(NODES):
            properties = {"cpus": 8, "memory_mb": 16384, "local_gb": 100, "capabilities": "boot_mode:uefi"}
            node = {"driver": "fake-hardware", "name": f"n{number}", "resource_class": f"c{number % 10}"}
            extra = {"rack": number % 40, "site": "one"}
            made = self.ask(("POST", "/v1/nodes", {**node, "properties": properties, "extra": extra}))
            self.nodes.append(json.loads(made)["uuid"])
            self.ask(("POST", "/v1/ports", {"node_uuid": self.nodes[-1], "address": mac(2, number)}))

    def ask(self, request: Request) -> bytes:
        """Return the body of an answer; raises SystemExit for one that is not good."""
        method, path, body = request
        data = None if body is None else json.dumps(body)
        self.asked += 1
        for is_last in (False, True):
            try:
                self._client.request(method, path, data, HEADERS)
                answer = self._client.getresponse()
                break
            except (http.client.RemoteDisconnected, BrokenPipeError):
                # It was idle for too long.
                self._client.close()
                if is_last:
                    raise
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{method} {path} is answered with {answer.status}: {text[:200]!r}")
        return text

    def cpu_ms(self, act: Callable[[], None]) -> float:
        """Return the CPU milliseconds that the service takes for an action."""
        before = self._cpu()
        act()
        return (self._cpu() - before) / 1e6

    def _cpu(self) -> int:
        spent = 0
        for thread in Path(f"/proc/{self._process.pid}/task").iterdir():
            # A thread may end meanwhile.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                spent += int((thread / "schedstat").read_text().split()[0])
        return spent

    def stop(self) -> None:
        """End the service and remove its files."""
        self._process.terminate()
        self._process.wait()
        shutil.rmtree(self._directory)


def mac(first: int, number: int) -> str:
    """Return a MAC address of a number."""
    return ":".join(f"{byte:02x}" for byte in (first, 0, *number.to_bytes(4)))


class Case(NamedTuple):
    """A request, made anew each time, and how often it is asked in a round."""

    name: str
    times: int
    request: Callable[[Release], Request]


def _node(of: Release) -> str:
    return f"/v1/nodes/{of.nodes[of.asked % NODES]}"


def _life(of: Release) -> None:
    """Lead a node from enroll to active and back."""
    made = {"driver": "fake-hardware", "name": f"life{of.asked}", "instance_info": {"image_source": "none"}}
    path = f"/v1/nodes/{json.loads(of.ask(('POST', '/v1/nodes', made)))['uuid']}"
    for verb, state in (
        ("manage", "manageable"),
        ("provide", "available"),
        ("active", "active"),
        ("deleted", "available"),
    ):
        of.ask(("PUT", f"{path}/states/provision", {"target": verb}))
        while json.loads(of.ask(("GET", f"{path}?fields=provision_state", None)))["provision_state"] != state:
            time.sleep(0.02)


CASES: Final = (
    Case("GET /v1", 300, lambda of: ("GET", "/v1", None)),
    Case("GET nodes, 100 a page", 120, lambda of: ("GET", "/v1/nodes?limit=100", None)),
    Case("GET nodes, 1,000 a page", 12, lambda of: ("GET", "/v1/nodes", None)),
    Case("GET nodes, four fields", 12, lambda of: ("GET", "/v1/nodes?fields=uuid,name,provision_state,extra", None)),
    Case("GET nodes after a marker", 120, lambda of: ("GET", f"/v1/nodes?limit=100&marker={_node(of)[10:]}", None)),
    Case("GET nodes by a filter", 60, lambda of: ("GET", "/v1/nodes?resource_class=c3&fields=uuid,name", None)),
    Case("GET nodes/detail, 1,000 a page", 8, lambda of: ("GET", "/v1/nodes/detail", None)),
    Case("GET one node", 200, lambda of: ("GET", _node(of), None)),
    Case("GET ports/detail, 1,000 a page", 10, lambda of: ("GET", "/v1/ports/detail", None)),
    Case("GET port by its MAC", 200, lambda of: ("GET", f"/v1/ports?address={mac(2, of.asked % NODES)}", None)),
    Case("PATCH extra", 100, lambda of: ("PATCH", _node(of), [{"op": "add", "path": "/extra/k", "value": of.asked}])),
    Case("PUT maintenance", 100, lambda of: ("PUT", f"{_node(of)}/maintenance", {"reason": "r"})),
    Case("POST node", 60, lambda of: ("POST", "/v1/nodes", {"driver": "fake-hardware", "extra": {"a": 1}})),
    Case("POST port", 60, lambda of: ("POST", "/v1/ports", {"node_uuid": of.nodes[0], "address": mac(6, of.asked)})),
)


def round_of(release: Release, case: Case) -> float:
    """Return the CPU milliseconds per request of one round."""

    def act() -> None:
        for _ in range(case.times):
            release.ask(case.request(release))

    return release.cpu_ms(act) / case.times


def compare(old: Release, new: Release, rounds: int, only: str) -> None:
    """Print a line per case whose name contains a text."""
    print(f"{'CPU ms':<40}{'old':>9}{'new':>9}{'ratio':>8}{'of least':>10}")
    measured: list[tuple[str, Callable[[Release], float]]] = [
        *((case.name, lambda release, case=case: round_of(release, case)) for case in CASES),
        ("a life from enroll to active and back", lambda release: release.cpu_ms(lambda: _life(release))),
    ]
    for name, measure in measured:
        if only not in name:
            continue
        found: dict[Release, list[float]] = {old: [], new: []}
        for turn in range(rounds + 1):
            for release in (old, new) if turn % 2 else (new, old):
                found[release].append(measure(release))
        # The first round fills caches.
        before, now = (statistics.median(each[1:]) for each in found.values())
        least, least_now = (min(each[1:]) for each in found.values())
        print(f"{name:<40}{before:>9.3f}{now:>9.3f}{now / before:>8.3f}{least_now / least:>10.3f}", flush=True)


def main() -> None:
    """Start both releases, compare them, and stop them."""
    parser = argparse.ArgumentParser(description="CPU milliseconds per request of two releases, in turn.")
    parser.add_argument("old", type=Path, help="a checkout of the older release, installed in its .venv")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="a part of the names of the cases to measure")
    given = parser.parse_args()
    with contextlib.ExitStack() as running:
        old, new = (Release(checkout.resolve()) for checkout in (given.old, Path(__file__).parents[1]))
        running.callback(old.stop)
        running.callback(new.stop)
        compare(old, new, given.rounds, given.only)


if __name__ == "__main__":
    main()
