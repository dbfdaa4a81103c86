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
    more = write_options(directory / "more.conf", {"api": {"requests_per_minute_address": LIMIT}})
    with all_in_one([options, more], directory / "ironic.log", port) as running:
        yield running


def statuses(service: Service, address: str, number: int) -> list[int]:
    assert service.port is not None
    client = http.client.HTTPConnection("127.0.0.1", service.port, timeout=120, source_address=(address, 0))
    found = []
    with closing(client):
        for _ in range(number):
            client.request("GET", "/v1/nodes")
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
