"""With limits per address, a client that sends as much as it can is refused what is beyond them.

In the whole battery the latency of another client is measured as well: it stays as it was.
"""

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

NODES, ASKED = 100, 150
# Seconds between the requests of an ordinary client, which stays below the limit itself.
PAUSE = 0.005
# Both are measured in turn, and most rounds decide, as other programs of this machine may disturb one.
ROUNDS = 3
# Milliseconds up to which a median says more about this machine than about the service; without limits it is above 100.
NOISE = 1.0
GREEDY = "127.0.0.2"


class Target(NamedTuple):
    """The service, and a node that an ordinary client reads."""

    service: Service
    node: str


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    directory, port = tmp_path_factory.mktemp("greedy"), free_port()
    # Low enough that the first greedy round of a busy machine goes beyond it.
    limits = {"requests_per_minute_address": 400, "requests_at_once_address": 4, "ramdisk_calls_per_minute": 400}
    more = write_options(directory / "more.conf", {"api": limits, "healthcheck": {"enabled": True}})
    options = [machine_free_options(directory, port), more]
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


@pytest.mark.parametrize("kind", greedy.ALL_KINDS)
def test_what_is_beyond_the_limits_is_refused(target: Target, kind: str) -> None:
    with attack(target, kind, 32) as answers:
        latencies(target)
    assert answers.get(_refused_with(kind)), answers


def _refused_with(kind: str) -> str:
    return "503" if kind in greedy.KINDS_OF_RAMDISKS else "429"


@pytest.mark.battery
@pytest.mark.parametrize("connections", [8, 32, 200])
@pytest.mark.parametrize("kind", greedy.ALL_KINDS)
def test_another_client_waits_no_more_than_twice_as_long(target: Target, kind: str, connections: int) -> None:
    began = time.monotonic()
    alone, beside = [], []
    for _ in range(ROUNDS):
        alone.append(latencies(target))
        with attack(target, kind, connections) as answers:
            beside.append(latencies(target))
        assert answers.get(_refused_with(kind)), answers
    quiet, busy = (statistics.median(map(statistics.median, each)) for each in (alone, beside))
    assert busy <= 2 * max(quiet, NOISE)
    at = int(ASKED * 0.95)
    p95 = [statistics.median(each[at] for each in rounds) for rounds in (alone, beside)]
    text = f"p50 {quiet:.1f} -> {busy:.1f} ms, p95 {p95[0]:.1f} -> {p95[1]:.1f} ms"
    battery.survived("API server", kind, f"{connections} greedy connections", text, time.monotonic() - began)
