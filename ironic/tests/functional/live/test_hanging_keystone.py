"""A Keystone that accepts connections and does not answer holds up those with new tokens, and nobody else."""

import http.client
import itertools
import statistics
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import requests

from ironic.command.http_server import THREADS_PER_WORKER
from ironic.command.wsgi_bridge import LOGIN_SHARE
from ironic.tests.functional.live.keystone_api import trust_in
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import Identity
from ironic.tests.live_service import Service, all_in_one, free_port, write_options
from ironic.tests.site import eventually

KNOWN, CLIENTS = "system-reader", 3 * THREADS_PER_WORKER
GREEDY, OTHER = "127.0.0.2", "127.0.0.3"
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
        "keystone_authtoken": trust_in(played.url),
    }
    with all_in_one([write_options(tmp_path / "ironic.conf", options)], log, port) as running:
        yield running


def status(service: Service, token: str, path: str = "/v1/nodes", timeout: float = 60) -> int:
    headers = {"X-Auth-Token": token} if token else {}
    return requests.get(f"{service.url}{path}", headers=headers, timeout=timeout).status_code


def status_for(service: Service, address: str, token: str) -> int:
    """Return the status for a client of this address of the loopback."""
    client = http.client.HTTPConnection("127.0.0.1", service.port or 0, timeout=60, source_address=(address, 0))
    with closing(client):
        client.request("GET", "/v1/nodes", headers={"X-Auth-Token": token})
        return client.getresponse().status


def test_only_new_tokens_wait_for_it(service: Service, played: Identity) -> None:
    assert status(service, KNOWN) == 200
    played.validated.clear()
    played.answers.clear()
    with ThreadPoolExecutor(CLIENTS) as clients:
        waiting = [clients.submit(status, service, f"new-{number}") for number in range(CLIENTS)]
        try:
            deadline = time.monotonic() + 30
            while len(played.validated) < LOGIN_SHARE:
                assert time.monotonic() < deadline, played.validated
                time.sleep(0.01)
            assert status(service, KNOWN, timeout=SOON) == 200
            assert status(service, "", "/v1", timeout=SOON) == 200
            assert status(service, "", "/v1/lookup?addresses=52:54:00:00:00:aa", timeout=SOON) == 404
            assert len(played.validated) == LOGIN_SHARE
        finally:
            played.answers.set()
        # None of them was known; each got its turn.
        assert {each.result() for each in waiting} == {401}
    assert len(set(played.validated)) == CLIENTS


def test_random_tokens_of_one_address_do_not_delay_the_new_token_of_another(service: Service, played: Identity) -> None:
    # How long Keystone takes for a token, in seconds; the crowd alone keeps it busy for CLIENTS / LOGIN_SHARE of those.
    played.seconds = 0.5
    tokens = (f"random-{number}" for number in itertools.count())
    ended = threading.Event()

    def flood() -> None:
        while not ended.is_set():
            assert status_for(service, GREEDY, next(tokens)) in (401, 429, 503)

    took = []
    with ThreadPoolExecutor(CLIENTS) as clients:
        flooding = [clients.submit(flood) for _ in range(CLIENTS)]
        try:
            eventually(lambda: len(played.validated) >= LOGIN_SHARE, True)
            for token in ("owner-member", "owner-admin", "lessee-admin", "stranger", "system-admin"):
                began = time.monotonic()
                assert status_for(service, OTHER, token) == 200
                took.append(time.monotonic() - began)
        finally:
            ended.set()
        for each in flooding:
            each.result()
    # Its own question to Keystone, and some patience with this machine, but not a place behind the crowd.
    assert statistics.median(took) < 2 * played.seconds
    assert max(took) < CLIENTS / LOGIN_SHARE * played.seconds
