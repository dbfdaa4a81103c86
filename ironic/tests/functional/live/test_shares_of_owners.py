"""One owner's machines, whose BMCs say one byte a second, leave workers to the machines and ramdisks of others."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.functional.live.asking import call
from ironic.tests.live_service import Service, all_in_one_below

WORKERS, SLOW, HONEST = 30, 45, 6


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {"enabled_hardware_types": "fake-hardware,redfish", "state_path": tmp_path},
        # Waiting for the BMCs ends soon at the end of the test.
        "conductor": {"workers_pool_size": WORKERS, "graceful_shutdown_timeout": 1},
        "redfish": {"connection_attempts": 1, "read_timeout": 30},
    }
    with all_in_one_below(tmp_path, options) as running:
        yield running


def enroll(service: Service, values: dict[str, Any]) -> str:
    answer = call(service, "POST", "/v1/nodes", values)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["uuid"])


def manage(service: Service, node: str) -> tuple[int, str]:
    answer = call(service, "PUT", f"/v1/nodes/{node}/states/provision", {"target": "manage"})
    return answer.status_code, answer.text


def state(service: Service, node: str) -> str:
    return str(call(service, "GET", f"/v1/nodes/{node}").json()["provision_state"])


def test_slow_machines_of_one_owner_leave_workers_to_others(service: Service, slow_port: int) -> None:
    slow = [
        enroll(
            service,
            {
                "driver": "redfish",
                "owner": "greedy",
                "driver_info": {
                    "redfish_address": f"http://127.7.0.{number + 1}:{slow_port}",
                    "redfish_username": "u",
                    "redfish_password": "p",
                },
            },
        )
        for number in range(SLOW)
    ]
    honest = [enroll(service, {"driver": "fake-hardware", "owner": "honest"}) for _ in range(HONEST)]

    found = [manage(service, node) for node in slow]
    accepted = [status for status, _ in found if status == 202]
    refused = [text for status, text in found if status == 503]
    assert len(accepted) + len(refused) == SLOW
    # Two thirds of the workers, and not more.
    assert WORKERS // 2 <= len(accepted) <= WORKERS * 2 // 3
    assert all("[conductor]workers_percentage_per_owner" in text for text in refused)

    for node in honest:
        assert manage(service, node)[0] == 202
        deadline = time.monotonic() + 20
        while state(service, node) != "manageable":
            assert time.monotonic() < deadline, state(service, node)
            time.sleep(0.05)
        body = {"callback_url": "http://127.0.0.1:9999", "agent_version": "9.0.0", "agent_token": "t"}
        beat = call(service, "POST", f"/v1/heartbeat/{node}", body)
        # It finds a worker; what is wrong is its token, as no ramdisk of the node runs.
        assert beat.status_code != 503, beat.text
    # All the time the slow ones were at work.
    assert sum(state(service, node) == "verifying" for node in slow) == len(accepted)
