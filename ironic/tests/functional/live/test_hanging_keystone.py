"""A Keystone that accepts connections and does not answer holds up those with new tokens, and nobody else."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from ironic.command.http_server import THREADS_PER_WORKER
from ironic.command.wsgi_bridge import LOGIN_THREADS
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import Identity
from ironic.tests.live_service import Service, all_in_one, free_port, write_options

KNOWN, CLIENTS = "system-reader", 3 * THREADS_PER_WORKER
# Seconds, of which a request that waits for a thread of the service would need more.
SOON = 10


@pytest.fixture
def played() -> Iterator[Identity]:
    with keystone.identity_server() as server:
        yield server
        server.answers.set()


@pytest.fixture
def service(tmp_path: Path, played: Identity) -> Iterator[Service]:
    port, log = free_port(), tmp_path / "log"
    trust = {"www_authenticate_uri": played.url, "auth_type": "admin_token", "endpoint": f"{played.url}/v3"}
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "auth_strategy": "keystone",
            "rpc_transport": "none",
            "enabled_hardware_types": "fake-hardware",
            "log_file": log,
            "state_path": tmp_path,
        },
        "database": {"connection": f"sqlite:///{tmp_path}/ironic.sqlite"},
        "api": {"host_ip": "127.0.0.1", "port": port, "api_workers": 1},
        "keystone_authtoken": {**trust, "token": "ours"},
    }
    with all_in_one([write_options(tmp_path / "ironic.conf", options)], log, port) as running:
        yield running


def status(service: Service, token: str, path: str = "/v1/nodes", timeout: float = 60) -> int:
    headers = {"X-Auth-Token": token} if token else {}
    return requests.get(f"{service.url}{path}", headers=headers, timeout=timeout).status_code


def test_only_new_tokens_wait_for_it(service: Service, played: Identity) -> None:
    assert status(service, KNOWN) == 200
    played.validated.clear()
    played.answers.clear()
    with ThreadPoolExecutor(CLIENTS) as clients:
        waiting = [clients.submit(status, service, f"new-{number}") for number in range(CLIENTS)]
        try:
            deadline = time.monotonic() + 30
            while len(played.validated) < LOGIN_THREADS:
                assert time.monotonic() < deadline, played.validated
                time.sleep(0.01)
            assert status(service, KNOWN, timeout=SOON) == 200
            assert status(service, "", "/v1", timeout=SOON) == 200
            assert status(service, "", "/v1/lookup?addresses=52:54:00:00:00:aa", timeout=SOON) == 404
            assert len(played.validated) == LOGIN_THREADS
        finally:
            played.answers.set()
        # None of them was known; each got its turn.
        assert {each.result() for each in waiting} == {401}
    assert len(set(played.validated)) == CLIENTS
