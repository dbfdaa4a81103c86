"""What a tenant has in plenty, large rows or slow machines, an honest client of the service hardly notices.

Times are measured in the whole battery only; `live/test_shares_of_owners.py` and `live/test_shares_of_callers.py` count
who is served. Programs that read large pages mostly parse them, which takes all cores of a small machine, so waiting
beside them is compared with waiting beside as many programs that parse a page again and again and ask for none.
"""

import contextlib
import http.client
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from ironic.tests.functional.life import battery
from ironic.tests.functional.life.many_bmcs import driver_info, many_bmcs
from ironic.tests.live_service import Service, all_in_one_below
from ironic.tests.load import HEADERS

ROWS = 120
READERS, MACHINES = 3, 40
ASKED, ROUNDS = 300, 3
# Seconds up to which a 99th percentile says more about this machine than about the service.
NOISE = 0.01
# As much as [api]largest_json_field allows by default.
LARGE = {"a": "x" * (255 * 1024)}

# Reads all pages of a list again and again, until its input ends.
READER = """
import http.client, json, sys, threading
port, path = int(sys.argv[1]), sys.argv[2]
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
pages = 0
client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
while not ended.is_set():
    page = path
    while page and not ended.is_set():
        client.request("GET", page, headers={"X-OpenStack-Ironic-API-Version": "1.115"})
        page = json.loads(client.getresponse().read()).get("next", "").partition(f":{port}")[2]
        pages += 1
        if pages == 1:
            print("begun", flush=True)
print(pages, flush=True)
"""

# Does what a reader does with a page, without asking for any.
PARSER = """
import json, sys, threading
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
page = json.dumps({"allocations": [{"uuid": str(n), "extra": {"a": "x" * 255 * 1024}} for n in range(64)]}).encode()
print("begun", flush=True)
while not ended.is_set():
    json.loads(page)
"""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {"enabled_hardware_types": "fake-hardware,redfish", "state_path": tmp_path},
        "conductor": {"workers_pool_size": 30, "graceful_shutdown_timeout": 1},
        "redfish": {"connection_attempts": 1},
    }
    with all_in_one_below(tmp_path, options) as running:
        yield running


def ask(service: Service, method: str, path: str, body: object = None) -> requests.Response:
    return requests.request(method, f"http://127.0.0.1:{service.port}{path}", json=body, headers=HEADERS, timeout=60)


def p99(service: Service) -> float:
    """Return the 99th percentile of an honest client's seconds per answer."""
    took = []
    assert service.port is not None
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)) as client:
        for _ in range(ASKED):
            began = time.perf_counter()
            client.request("GET", "/v1/nodes?limit=10", headers=HEADERS)
            answer = client.getresponse()
            answer.read()
            assert answer.status == 200
            took.append(time.perf_counter() - began)
            time.sleep(0.005)
    return sorted(took)[int(ASKED * 0.99)]


@contextlib.contextmanager
def readers_of_large_pages(service: Service) -> Iterator[None]:
    for _ in range(ROWS - len(ask(service, "GET", "/v1/allocations?fields=uuid").json()["allocations"])):
        assert ask(service, "POST", "/v1/allocations", {"resource_class": "gold", "extra": LARGE}).status_code == 201
    with programs(READER, str(service.port), "/v1/allocations?limit=1000"):
        yield


@contextlib.contextmanager
def parsers(_service: Service) -> Iterator[None]:
    with programs(PARSER):
        yield


@contextlib.contextmanager
def programs(text: str, *arguments: str) -> Iterator[None]:
    """Run as many programs as there are readers while the block runs; each has begun when it starts."""
    command = [sys.executable, "-c", text, *arguments]
    with contextlib.ExitStack() as running:
        for _ in range(READERS):
            one = running.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            assert one.stdin is not None and one.stdout is not None
            running.callback(one.stdin.close)
            assert one.stdout.readline() == "begun\n"
        yield


@contextlib.contextmanager
def slow_machines(service: Service) -> Iterator[None]:
    # Every second one accepts connections and says nothing.
    with many_bmcs(MACHINES, dead=MACHINES) as addresses:
        for address in addresses[1::2]:
            values = {"driver": "redfish", "owner": "greedy", "driver_info": driver_info(address)}
            node = ask(service, "POST", "/v1/nodes", values).json()["uuid"]
            status = ask(service, "PUT", f"/v1/nodes/{node}/states/provision", {"target": "manage"}).status_code
            assert status in (202, 503)
        yield


Greed = Callable[[Service], contextlib.AbstractContextManager[None]]


@pytest.mark.battery
@pytest.mark.parametrize(
    ("name", "quiet", "greed"),
    [
        ("large pages", parsers, readers_of_large_pages),
        ("slow BMCs of one owner", contextlib.nullcontext, slow_machines),
    ],
    ids=["large-pages", "slow-bmcs"],
)
def test_an_honest_client_waits_at_most_twice_as_long(service: Service, name: str, quiet: Greed, greed: Greed) -> None:
    for _ in range(10):
        assert ask(service, "POST", "/v1/nodes", {"driver": "fake-hardware", "owner": "honest"}).status_code == 201
    began, alone, beside = time.monotonic(), [], []
    p99(service)
    for _ in range(ROUNDS):
        with quiet(service):
            alone.append(p99(service))
        with greed(service):
            beside.append(p99(service))
    found = (statistics.median(alone), statistics.median(beside))
    how = f"p99 {found[0] * 1000:.1f} ms without, {found[1] * 1000:.1f} ms with"
    battery.survived("a tenant with plenty", name, how, "an ordinary answer", time.monotonic() - began)
    assert found[1] <= max(NOISE, 2 * found[0]), how
