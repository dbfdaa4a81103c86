"""What an operator does with the service in these tests, over TLS."""

import tarfile
import time
from collections.abc import Callable
from typing import Any

import requests

from ironic.tests.scenario.agent.machine import Machine
from ironic.tests.scenario.agent.secure_service import SecureService

HEADERS = {"X-OpenStack-Ironic-API-Version": "1.115"}
PATIENCE = 90.0


def step(name: str, **args: Any) -> dict[str, Any]:
    """Return a step of the agent's as users write it."""
    return {"interface": "deploy", "step": name, "args": args}


class Provisioning:
    """The service, called by a client that trusts its certificate only."""

    def __init__(self, service: SecureService) -> None:
        self.service = service

    def ask(self, method: str, path: str, body: Any = None) -> requests.Response:
        """Send a request and return the answer."""
        trusted = str(self.service.certificate)
        return requests.request(
            method, f"{self.service.url}{path}", json=body, headers=HEADERS, timeout=30, verify=trusted
        )

    def get(self, path: str) -> Any:
        """Return a document."""
        answer = self.ask("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def node(self, uuid: str) -> dict[str, Any]:
        """Return a node."""
        found: dict[str, Any] = self.get(f"/v1/nodes/{uuid}")
        return found

    def patch(self, uuid: str, **values: Any) -> None:
        """Set fields of a node."""
        changes = [{"op": "add", "path": f"/{name}", "value": value} for name, value in values.items()]
        answer = self.ask("PATCH", f"/v1/nodes/{uuid}", changes)
        assert answer.status_code == 200, answer.text

    def enroll(self, machine: Machine) -> str:
        """Make a node of a machine, and bring it to manageable."""
        created = self.ask("POST", "/v1/nodes", {"driver": "fake-hardware", "driver_info": machine.driver_info})
        assert created.status_code == 201, created.text
        uuid: str = created.json()["uuid"]
        port = self.ask("POST", "/v1/ports", {"node_uuid": uuid, "address": machine.macs[0]})
        assert port.status_code == 201, port.text
        self.provision(uuid, "manage", "manageable")
        return uuid

    def begin(self, uuid: str, verb: str, **more: Any) -> None:
        """Send a verb."""
        answer = self.ask("PUT", f"/v1/nodes/{uuid}/states/provision", {"target": verb, **more})
        assert answer.status_code == 202, answer.text

    def follow(self, uuid: str, *ends: str) -> list[dict[str, Any]]:
        """Look at a node until it is in one of these states or in trouble; return every look."""
        looks: list[dict[str, Any]] = []
        until = time.monotonic() + PATIENCE
        while True:
            looks.append(self.node(uuid))
            state = looks[-1]["provision_state"]
            if state in ends and looks[-1]["reservation"] is None:
                return looks
            assert state in ends or not state.endswith(("failed", "error")), (state, looks[-1]["last_error"])
            assert time.monotonic() < until, (state, looks[-1]["last_error"], looks[-1]["clean_step"])
            time.sleep(0.1)

    def await_true(self, look: Callable[[], bool]) -> None:
        """Wait until it is so."""
        until = time.monotonic() + PATIENCE
        while not look():
            assert time.monotonic() < until, f"it did not come to pass in {PATIENCE} s"
            time.sleep(0.05)

    def logs_of(self, uuid: str) -> dict[str, dict[str, str]]:
        """Return the kept logs of a node's ramdisks: for each archive what is in its files."""
        found = {}
        for path in sorted(self.service.directory.joinpath("logs").glob(f"{uuid}_*.tar.gz")):
            with tarfile.open(path) as archive:
                files = {member.name: archive.extractfile(member) for member in archive.getmembers()}
                found[path.name] = {
                    name: file.read().decode("utf-8", "replace") for name, file in files.items() if file
                }
        return found

    def provision(self, uuid: str, verb: str, *ends: str, **more: Any) -> list[dict[str, Any]]:
        """Send a verb and wait for a state; return every look at the node."""
        self.begin(uuid, verb, **more)
        return self.follow(uuid, *ends)
