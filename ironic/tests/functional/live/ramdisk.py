"""A machine's ramdisk as the service sees it: looks itself up, sends heartbeats, takes commands over TLS."""

import re
import time
from pathlib import Path
from typing import Any

import requests

from ironic.tests.agent_double import AgentDouble
from ironic.tests.live_service import Answering

PATIENCE = 60


class Ramdisk:
    """Drives an agent double against a running service, for one node."""

    def __init__(self, service: Answering, agent: AgentDouble, uuid: str, mac: str) -> None:
        self._service, self.agent, self._uuid, self._mac = service, agent, uuid, mac

    def boot(self, served: Path | None = None) -> None:
        """Come up and say where the agent is; the token is from the CD, if the service has one below this directory."""
        self.agent.restart()
        if cds := [path.read_bytes() for path in served.glob("vmedia/*.boot.*")] if served else []:
            (cd,) = cds
            self.agent.token = re.findall(rb"ipa-agent-token=([\w-]+)", cd)[0].decode()
        else:
            found = self._until(lambda: self._call("GET", f"/v1/lookup?addresses={self._mac}"), 200).json()
            self.agent.token = found["config"]["agent_token"]
        self.beat()

    def beat(self) -> None:
        """Send a heartbeat."""
        beat = {**self.agent.beat(), "agent_token": self.agent.token}
        self._until(lambda: self._call("POST", f"/v1/heartbeat/{self._uuid}", beat), 202)

    def next_step(self) -> dict[str, Any]:
        """Wait for a command that takes time; return its step."""
        deadline = time.monotonic() + PATIENCE
        while not any(command["command_status"] == "RUNNING" for command in self.agent.commands):
            assert time.monotonic() < deadline, self.agent.names
            time.sleep(0.02)
        step: dict[str, Any] = self.agent.received[-1][1]["step"]
        return step

    def end(self, *args: Any, **more: Any) -> None:
        """End the command that runs, and say so."""
        self.agent.end(*args, **more)
        self.beat()

    def _call(self, method: str, path: str, body: Any = None) -> requests.Response:
        headers = {"X-OpenStack-Ironic-API-Version": "1.68"}
        return requests.request(method, f"{self._service.url}{path}", json=body, headers=headers, timeout=30)

    def _until(self, call: Any, status: int) -> requests.Response:
        deadline = time.monotonic() + PATIENCE
        while True:
            answer: requests.Response = call()
            if answer.status_code == status:
                return answer
            assert time.monotonic() < deadline, (answer.status_code, answer.text)
            time.sleep(0.05)
