"""With limits per address, a client that sends as much as it can leaves the latency of another one as it was."""

import contextlib
import http.client
import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from ironic.tests.functional.life import battery, greedy
from ironic.tests.live_service import Service, all_in_one, free_port, write_options
from ironic.tests.load import machine_free_options, nodes_of

pytestmark = pytest.mark.battery

NODES, ASKED = 100, 300
# Seconds between the requests of an ordinary client, which stays below the limit itself.
PAUSE = 0.005
# The same again if other programs of this machine have disturbed a measurement.
ROUNDS = 3
GREEDY = "127.0.0.2"


class Target(NamedTuple):
    """The service, and a node that an ordinary client reads."""

    service: Service
    node: str


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    directory, port = tmp_path_factory.mktemp("greedy"), free_port()
    limits = {"requests_per_minute_address": 1200, "requests_at_once_address": 4}
    options = [machine_free_options(directory, port), write_options(directory / "more.conf", {"api": limits})]
    with all_in_one(options, directory / "ironic.log", port) as running:
        yield Target(running, nodes_of(running, NODES)[-1])


# Each measurement has an address, and thus a limit, of its own.
ADDRESSES = (f"127.0.1.{number}" for number in itertools.count(1))


def latencies(target: Target) -> list[float]:
    """Return how long an ordinary client waits for its answers, in milliseconds, sorted."""
    took = []
    assert target.service.port is not None
    client = http.client.HTTPConnection(
        "127.0.0.1", target.service.port, timeout=60, source_address=(next(ADDRESSES), 0)
    )
    with contextlib.closing(client):
        for _ in range(ASKED):
            began = time.perf_counter()
            client.request("GET", f"/v1/nodes/{target.node}")
            answer = client.getresponse()
            answer.read()
            took.append((time.perf_counter() - began) * 1000)
            assert answer.status == 200
            time.sleep(PAUSE)
    return sorted(took)


@contextlib.contextmanager
def attack(target: Target, kind: str, connections: int) -> Iterator[dict[str, int]]:
    """Have a greedy client while the block runs; gives its answers by status, after the block."""
    answers: dict[str, int] = {}
    program = [sys.executable, "-m", greedy.__name__, str(target.service.port), GREEDY, kind, str(connections)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None and client.stdin is not None
        assert client.stdout.readline() == "begun\n"
        try:
            yield answers
        finally:
            client.stdin.close()
            answers |= json.loads(client.stdout.readline())


@pytest.mark.parametrize("connections", [8, 32, 200])
@pytest.mark.parametrize("kind", greedy.KINDS)
def test_another_client_waits_no_more_than_twice_as_long(target: Target, kind: str, connections: int) -> None:
    began = time.monotonic()
    for _ in range(ROUNDS):
        alone = latencies(target)
        with attack(target, kind, connections) as answers:
            beside = latencies(target)
        assert answers.get("429")
        quiet, busy = statistics.median(alone), statistics.median(beside)
        if busy <= 2 * quiet:
            break
    else:
        raise AssertionError(f"{quiet:.1f} ms alone, {busy:.1f} ms beside the greedy client")
    at = int(ASKED * 0.95)
    text = f"p50 {quiet:.1f} -> {busy:.1f} ms, p95 {alone[at]:.1f} -> {beside[at]:.1f} ms"
    battery.survived("API server", kind, f"{connections} greedy connections", text, time.monotonic() - began)
