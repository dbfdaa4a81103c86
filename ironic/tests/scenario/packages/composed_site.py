"""The site of etc/container/compose.yaml, brought up by podman-compose in a room: namespaces of networks and mounts.

The address of the site and the bridges of its networks are in the room only, so they disturb no other program, and end
with it. Where no systemd runs, podman asks no health check by itself, and podman-compose knows no conditions of
`depends_on` with Podman before 4.6: here each check is run, and each condition waited for, as the file says.
"""

import graphlib
import json
import subprocess
import time
from pathlib import Path
from typing import Final

import yaml

from ironic.tests.live_service import PROGRAMS
from ironic.tests.repository import ROOT
from ironic.tests.scenario.command_line import Baremetal
from ironic.tests.scenario.packages.images import Images

ADDRESS: Final = "192.0.2.7"
OWN: Final = ("api", "conductor-1", "conductor-2")
FILE: Final = ROOT / "etc" / "container" / "compose.yaml"
_ROOM: Final = f"ip link set lo up && ip addr add {ADDRESS}/32 dev lo && mkdir -p /run/netns && echo ready && exec cat"
_SECONDS: Final = 120.0


class ComposedSite:
    """The site; ``added`` are options of the service beside those of the file. `close` ends and removes it."""

    def __init__(self, images: Images, directory: Path, added: dict[str, str]) -> None:
        self._images = images
        self._environ = {
            **images.environ,
            "ADDRESS": ADDRESS,
            "DATABASE_PASSWORD": "of-the-database",
            "BROKER_PASSWORD": "of-the-broker",
            "DATABASE_IMAGE": "localhost/test-database",
            "BROKER_IMAGE": "localhost/test-broker",
        }
        override = directory / "override.yaml"
        override.write_text(yaml.safe_dump({"services": {name: {"environment": added} for name in OWN}}))
        self._files = ("--file", str(FILE), "--file", str(override))
        self._room = subprocess.Popen(
            ["unshare", "--net", "--mount", "sh", "-c", _ROOM], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._room.stdout and self._room.stdout.readline() == b"ready\n"
        self._enter = ("nsenter", "--target", str(self._room.pid), "--net", "--mount", "--")

    def up(self) -> None:
        """Start each service once what it depends on is as the file says."""
        services = yaml.safe_load(FILE.read_text())["services"]
        wanted = {name: service.get("depends_on", {}) for name, service in services.items()}
        for name in graphlib.TopologicalSorter(wanted).static_order():
            for other, wish in wanted[name].items():
                self._await(other, wish["condition"])
            self.compose("up", "--detach", "--no-deps", name)

    def _await(self, service: str, condition: str) -> None:
        if condition == "service_healthy":
            self.await_health(service)
            return
        assert condition == "service_completed_successfully"
        assert self.podman("wait", container(service)) == "0", self.podman("logs", container(service))

    def await_health(self, service: str) -> None:
        """Run the health check of a service until it is well, as podman's timer does."""
        end = time.monotonic() + _SECONDS
        while (fault := self.unhealthy(service)) is not None:
            assert time.monotonic() < end, f"{service}: {fault} {self.podman('logs', container(service))[-3000:]}"
            time.sleep(1)

    def unhealthy(self, service: str) -> str | None:
        """Run the health check of a service once and return what it says, None if all is well."""
        try:
            self.podman("healthcheck", "run", container(service))
        except AssertionError as error:
            log = json.loads(self.podman("inspect", "--format", "{{json .State.Healthcheck.Log}}", container(service)))
            return f"{error} {log[-1]['Output'] if log else ''}"
        return None

    def compose(self, *words: str) -> str:
        """Return what podman-compose prints; AssertionError with the reason where it fails."""
        return self._run(str(PROGRAMS / "podman-compose"), *self._files, *words)

    def podman(self, *words: str) -> str:
        """Return what podman prints about the containers of the site."""
        return self._images.podman(*words, before=self._enter)

    def baremetal(self, *words: str) -> str:
        """Return what the command line of a user prints."""
        environ = Baremetal(f"http://{ADDRESS}:6385").environment()
        return self._run(str(PROGRAMS / "baremetal"), *words, environ=environ)

    def written(self, service: str) -> set[str]:
        """Return what a container has written into its own root."""
        return self._images.written(container(service), self._enter)

    def process(self, service: str) -> int:
        """Return the process of a container by its number on the host; 0 if it does not run."""
        return int(self.podman("inspect", "--format", "{{.State.Pid}}", container(service)))

    def _run(self, *words: str, environ: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            [*self._enter, *words],
            env=environ or self._environ,
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def close(self) -> None:
        """Remove the containers, the networks and the volumes, then the room."""
        try:
            self.compose("down", "--volumes", "--timeout", "0")
        finally:
            self._room.communicate(timeout=30)


def container(service: str) -> str:
    """Return the name that podman-compose gives to the container of a service."""
    return f"ironic_{service}_1"
