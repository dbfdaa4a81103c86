"""A release of the reference as a process: API and conductor in one, on the loopback, with fake hardware."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import requests
from change_over.releases import Release

HOST = "127.0.0.1"
START_TIMEOUT = 90.0  # seconds
PATIENCE = 60  # seconds that a request may take

_CONFIGURATION = """\
[DEFAULT]
auth_strategy = noauth
rpc_transport = none
host = machine-room
my_ip = 127.0.0.1
state_path = {directory}
log_file = {directory}/ironic.log
enabled_hardware_types = fake-hardware
enabled_bios_interfaces = fake,no-bios
enabled_boot_interfaces = fake
enabled_console_interfaces = fake,no-console
enabled_deploy_interfaces = fake,direct
enabled_firmware_interfaces = fake,no-firmware
enabled_inspect_interfaces = {inspect}
default_inspect_interface = no-inspect
enabled_management_interfaces = fake
enabled_network_interfaces = noop
enabled_power_interfaces = fake
enabled_raid_interfaces = fake,no-raid
enabled_rescue_interfaces = fake,no-rescue
enabled_storage_interfaces = noop
enabled_vendor_interfaces = fake,no-vendor
[api]
host_ip = 127.0.0.1
port = {port}
[conductor]
automated_clean = false
node_history = true
[service_catalog]
endpoint_override = http://127.0.0.1:{port}
[database]
connection = {url}
[deploy]
http_url = http://127.0.0.1:{port}
http_root = {directory}
[inspector]
require_managed_boot = false
[agent]
require_tls = false
"""


class Reference:
    """A running service of one release on a database; `start` may follow `kill`."""

    def __init__(self, release: Release, directory: Path, url: str) -> None:
        """Write its configuration; the database is made by `make_schema`."""
        self.release, self.directory = release, directory
        with socket.create_server((HOST, 0)) as probe:
            self.port = probe.getsockname()[1]
        self.base = f"http://{HOST}:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None
        self._file = directory / "reference.conf"
        # The interface that calls the standalone inspector went with 33.0.
        inspect = "agent,no-inspect,fake" + (",inspector" if int(release.version.partition(".")[0]) < 33 else "")
        self._file.write_text(_CONFIGURATION.format(directory=directory, port=self.port, url=url, inspect=inspect))
        self._session = requests.Session()
        self._session.headers["X-OpenStack-Ironic-API-Version"] = "latest"

    def run(self, program: str, *words: str) -> None:
        """Run one of its programs to its end; raises CalledProcessError when it fails."""
        command: list[str | Path] = [self.release.program(program), "--config-file", self._file, *words]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, cwd=self.directory, capture_output=True)

    def make_schema(self) -> None:
        """Make the tables in an empty database."""
        self.run("ironic-dbsync", "create_schema")

    def start(self, more: str = "") -> None:
        """Start it, with more lines of configuration, and wait until a conductor serves fake hardware."""
        extra = self.directory / "more.conf"
        extra.write_text(more)
        with (self.directory / "output").open("ab") as output:
            self._process = subprocess.Popen(
                [self.release.program("ironic"), "--config-file", self._file, "--config-file", extra],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_TIMEOUT
        while not self._serves():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"Release {self.release.version} does not start: see {self.directory}/output")
            time.sleep(0.5)

    def _serves(self) -> bool:
        try:
            return bool(self.get("/v1/drivers")["drivers"])
        except (requests.RequestException, KeyError):
            return False

    def kill(self) -> None:
        """End it and its child processes as a power cut would."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Send a request and return the body of the answer; raises HTTPError for a refusal."""
        answer = self._session.request(method, self.base + path, json=body, timeout=PATIENCE)
        if answer.status_code >= 400:
            raise requests.HTTPError(f"{method} {path}: {answer.status_code} {answer.text[:500]}", response=answer)
        return answer.json() if answer.content else None

    def get(self, path: str) -> Any:
        """Return the answer to a GET."""
        return self.call("GET", path)

    def version(self) -> str:
        """Return the newest version of its API."""
        return str(self.get("/")["default_version"]["version"])
