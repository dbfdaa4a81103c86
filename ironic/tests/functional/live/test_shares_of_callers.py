"""One project's requests wait for slow BMCs and locked nodes, and others of the same address are answered."""

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import pytest
import requests

from ironic.command.http_server import THREADS_PER_WORKER
from ironic.tests.functional.live.keystone_api import trust_in
from ironic.tests.functional.wire import keystone
from ironic.tests.live_service import Service, all_in_one_below

CALLS = 2 * THREADS_PER_WORKER
# Of the threads that one address may have, two thirds.
SHARE = 12
# Seconds, of which a request that waits for a thread would need more.
SOON = 10


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with keystone.identity_server() as identity:
        options: dict[str, dict[str, object]] = {
            "DEFAULT": {
                "auth_strategy": "keystone",
                "enabled_hardware_types": "fake-hardware,redfish",
                "state_path": tmp_path,
            },
            "api": {"api_workers": 1},
            "conductor": {"graceful_shutdown_timeout": 1},
            "keystone_authtoken": trust_in(identity.url),
            "redfish": {"connection_attempts": 1, "read_timeout": 60},
        }
        with all_in_one_below(tmp_path, options) as running:
            yield running


def ask(
    service: Service, token: str, method: str, path: str, body: object = None, *, timeout: float = SOON
) -> requests.Response:
    headers = {"X-Auth-Token": token, "X-OpenStack-Ironic-API-Version": "1.115"}
    return requests.request(method, f"{service.url}{path}", json=body, headers=headers, timeout=timeout)


def enroll(service: Service, values: dict[str, object]) -> str:
    answer = ask(service, "system-admin", "POST", "/v1/nodes", values)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["uuid"])


def test_calls_of_one_project_that_wait_leave_threads_to_others(service: Service, slow_port: int) -> None:
    slow = [
        enroll(
            service,
            {
                "driver": "redfish",
                "owner": "owners",
                "driver_info": {
                    "redfish_address": f"http://127.7.0.{number + 1}:{slow_port}",
                    "redfish_username": "u",
                    "redfish_password": "p",
                },
            },
        )
        for number in range(CALLS)
    ]
    honest = enroll(service, {"driver": "fake-hardware", "owner": "lessees"})
    clients = ThreadPoolExecutor(CALLS)
    paths = [f"/v1/nodes/{node}/management/boot_device" for node in slow]
    waiting = [clients.submit(ask, service, "owner-admin", "GET", path, timeout=60) for path in paths]
    # They go on until the BMCs end.
    clients.shutdown(wait=False)

    # Those beyond the share are refused while the others wait; a refusal says when to ask again.
    for asked in itertools.islice(as_completed(waiting, timeout=60), CALLS - SHARE):
        answer = asked.result()
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        assert "[api]waiting_percentage_per_project" in answer.json()["error_message"]
    for token in ("lessee-admin", "system-admin"):
        assert ask(service, token, "GET", f"/v1/nodes/{honest}/management/boot_device").status_code == 200
        assert ask(service, token, "GET", f"/v1/nodes/{honest}/validate").status_code == 200
        assert ask(service, token, "GET", "/v1/nodes/detail").status_code == 200
    # What waits for no conductor is answered to the project as well.
    assert ask(service, "owner-admin", "GET", "/v1/nodes").status_code == 200
    assert sum(not each.done() for each in waiting) == SHARE
