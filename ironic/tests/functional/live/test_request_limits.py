"""A client that exceeds the limit of its address is slowed down, and others are served as ever."""

import http.client
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from ironic.tests.live_service import Service, all_in_one, free_port, write_options
from ironic.tests.load import machine_free_options

GREEDY, ORDINARY = "127.0.0.2", "127.0.0.3"
LIMIT = 20


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory, port = tmp_path_factory.mktemp("limits"), free_port()
    options = machine_free_options(directory, port)
    more = write_options(
        directory / "more.conf", {"api": {"requests_per_minute_address": LIMIT, "ramdisk_calls_per_minute": LIMIT}}
    )
    with all_in_one([options, more], directory / "ironic.log", port) as running:
        yield running


def statuses(service: Service, address: str, number: int, path: str = "/v1/nodes") -> list[int]:
    assert service.port is not None
    client = http.client.HTTPConnection("127.0.0.1", service.port, timeout=120, source_address=(address, 0))
    found = []
    with closing(client):
        for _ in range(number):
            client.request("GET", path, headers={"X-OpenStack-Ironic-API-Version": "1.90"})
            answer = client.getresponse()
            answer.read()
            found.append(answer.status)
    return found


def test_a_greedy_client_waits_for_each_refusal_and_others_do_not_notice(service: Service) -> None:
    began = time.monotonic()
    # A token comes back every three seconds, so on a slow machine some more requests are admitted.
    while statuses(service, GREEDY, 1) == [200]:
        pass
    first = time.monotonic()
    refused = statuses(service, GREEDY, 4).count(429)
    assert time.monotonic() - first >= refused
    assert statuses(service, ORDINARY, LIMIT // 2) == [200] * (LIMIT // 2)
    assert time.monotonic() - began >= 1


def test_a_ramdisk_s_call_beyond_its_limit_is_refused_as_late_and_logged_once(service: Service) -> None:
    path, address = "/v1/lookup?addresses=52:54:00:00:00:01", "127.0.0.4"
    while statuses(service, address, 1, path) == [404]:
        pass
    began = time.monotonic()
    refused = statuses(service, address, 3, path).count(503)
    assert refused
    assert time.monotonic() - began >= refused
    assert service.log.count(f"503: address {address} makes more calls") == 1
