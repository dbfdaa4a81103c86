"""Users who change and read nodes as fast as they get answers; for what must hold under load, and for measuring it."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import requests

from ironic.tests.live_service import Options, Service, write_options

HEADERS = {"X-OpenStack-Ironic-API-Version": "1.115", "Content-Type": "application/json"}


@dataclass
class Outcome:
    """What the users of one kind met: statuses with their number, seconds per answer, bodies of what was no success."""

    statuses: dict[int, int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    def note(self, status: int, body: bytes, seconds: float) -> None:
        """Count one answer."""
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self.seconds.append(seconds)
        if status >= 400:
            self.refusals.append(body.decode(errors="replace")[:500])

    def add(self, other: "Outcome") -> None:
        """Count what others met, too."""
        for status, number in other.statuses.items():
            self.statuses[status] = self.statuses.get(status, 0) + number
        self.seconds += other.seconds
        self.refusals += other.refusals

    def percentile(self, share: float) -> float:
        """Return the seconds below which this share of the answers came."""
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(share * len(self.seconds)))]


@dataclass
class Result:
    """What was met altogether, and the last change of each node that was acknowledged."""

    writes: Outcome = field(default_factory=Outcome)
    reads: Outcome = field(default_factory=Outcome)
    acknowledged: dict[str, int] = field(default_factory=dict)


def run(port: int, nodes: Sequence[str], *, writers: int, readers: int, seconds: float) -> Result:
    """Have so many users change the nodes, each its own ones, and others read them, for a while.

    It takes longer where a writer needs more time to change each of its nodes once.
    """
    result, until, guard = Result(), time.monotonic() + seconds, threading.Lock()

    def work(outcome: Outcome, asked: Iterator[Request], noted: Callable[[Request], None], least: int) -> None:
        mine = Outcome()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while time.monotonic() < until or len(mine.seconds) < least:
            request = next(asked)
            began = time.monotonic()
            connection.request(request.method, request.path, request.body, HEADERS)
            answer = connection.getresponse()
            body = answer.read()
            mine.note(answer.status, body, time.monotonic() - began)
            if answer.status < 300:
                noted(request)
        connection.close()
        with guard:
            outcome.add(mine)

    def acknowledged(request: Request) -> None:
        result.acknowledged[request.node] = request.number

    users = [
        *((result.writes, _writes(own), acknowledged, len(own)) for own in (nodes[n::writers] for n in range(writers))),
        *((result.reads, _reads(nodes[number:]), lambda _: None, 1) for number in range(readers)),
    ]
    threads = [threading.Thread(target=work, args=user) for user in users]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return result


@dataclass(frozen=True)
class Request:
    """One request; a change says of which node, and its number."""

    method: str
    path: str
    body: bytes | None = None
    node: str = ""
    number: int = 0


def _writes(nodes: Sequence[str]) -> Iterator[Request]:
    for number, node in enumerate(cycle(nodes), 1):
        patch: list[dict[str, Any]] = [{"op": "add", "path": "/extra/number", "value": number}]
        yield Request("PATCH", f"/v1/nodes/{node}", json.dumps(patch).encode(), node, number)


def _reads(nodes: Sequence[str]) -> Iterator[Request]:
    for place, node in enumerate(cycle(nodes)):
        yield Request("GET", f"/v1/nodes/{node}" if place % 4 else "/v1/nodes?limit=50")


def machine_free_options(directory: Path, port: int) -> Path:
    """Write the options of an all-in-one service over SQLite whose machines are fakes."""
    kinds = ("boot", "deploy", "inspect", "management", "power")
    groups: Options = {
        "DEFAULT": {
            "auth_strategy": "noauth",
            "host": "under-load",
            "rpc_transport": "none",
            "enabled_hardware_types": "fake-hardware",
            "enabled_network_interfaces": "noop",
            "enabled_storage_interfaces": "noop",
            "log_file": directory / "ironic.log",
            **{f"enabled_{kind}_interfaces": "fake" for kind in kinds},
        },
        "api": {"host_ip": "127.0.0.1", "port": port},
        "database": {"connection": f"sqlite:///{directory}/ironic.sqlite"},
        # Beside the users a conductor is at work.
        "conductor": {"heartbeat_interval": 1, "heartbeat_timeout": 5, "sync_power_state_interval": 5},
    }
    return write_options(directory / "ironic.conf", groups)


def nodes_of(service: Service, count: int) -> list[str]:
    """Create nodes and return their UUIDs."""
    made = [
        requests.post(f"{service.url}/v1/nodes", json={"driver": "fake-hardware"}, headers=HEADERS, timeout=30)
        for _ in range(count)
    ]
    return [answer.json()["uuid"] for answer in made]
