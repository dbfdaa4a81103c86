"""How many threads the service has while nothing answers: doc/many-machines.md states the bound."""

import contextlib
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from ironic.tests.live_service import Service, all_in_one_below

WORKERS, API, REPORTS = 10, 20, 1
# The main thread, heartbeat, watch, periodic tasks, the event loop of the API, two that log out.
OTHERS = 7
HEADERS = {"X-OpenStack-Ironic-API-Version": "1.95"}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "state_path": tmp_path,
            "enabled_hardware_types": "redfish",
        },
        "api": {"api_workers": 1, "inspection_report_threads": REPORTS},
        "conductor": {"workers_pool_size": WORKERS, "graceful_shutdown_timeout": 1},
    }
    with all_in_one_below(tmp_path, options) as service:
        yield service


def threads(service: Service) -> int:
    status = Path(f"/proc/{service.process_id}/status").read_text()
    found = re.search(r"^Threads:\s+(\d+)$", status, re.MULTILINE)
    assert found
    return int(found[1])


def test_silent_bmcs_and_bursts_of_requests_do_not_add_threads_beyond_the_bound(service: Service) -> None:
    # They take connections and say nothing.
    silent = [socket.create_server((f"127.0.1.{number + 1}", 0), backlog=100) for number in range(30)]
    nodes = []
    for each in silent:
        address, port = each.getsockname()
        info = {"redfish_address": f"http://{address}:{port}", "redfish_system_id": "/redfish/v1/Systems/1"}
        body = {"driver": "redfish", "driver_info": info}
        nodes.append(requests.post(f"{service.url}/v1/nodes", json=body, headers=HEADERS, timeout=60).json()["uuid"])

    # Most get no answer in time, or a 503.
    def verify(node: str) -> None:
        path = f"{service.url}/v1/nodes/{node}/states/provision"
        with contextlib.suppress(requests.RequestException):
            requests.put(path, json={"target": "manage"}, headers=HEADERS, timeout=5)

    def read(node: str) -> None:
        path = f"{service.url}/v1/nodes/{node}/management/boot_device"
        with contextlib.suppress(requests.RequestException):
            requests.get(path, headers=HEADERS, timeout=5)

    callers = [threading.Thread(target=act, args=(node,)) for act in (verify, read, read, read) for node in nodes]
    most = 0
    for caller in callers:
        caller.start()
    while any(caller.is_alive() for caller in callers):
        most = max(most, threads(service))
        time.sleep(0.05)
    for each in silent:
        each.close()
    assert WORKERS + API < most <= WORKERS + API + REPORTS + OTHERS
