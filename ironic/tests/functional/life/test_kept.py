"""What is over is forgotten: a process of the service holds no more after many lives, requests and callbacks.

An ordinary run has a short version, with figures that the leaks of the past exceed many times; `make battery` has the
long one.
"""

import http.client
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.tests.functional.life import battery
from ironic.tests.functional.life.counts import Counted, Counts, grown
from ironic.tests.functional.life.lives import Site as Lives
from ironic.tests.live_service import Options, Service, create_database, free_port, write_options
from ironic.tests.load import HEADERS, machine_free_options
from ironic.tests.random_requests import RandomRequests

# Bytes that a life may leave behind, and what is allowed once, whatever was done: SQLite keeps 2 MiB of pages for each
# connection that is in use at the moment of counting, a burst of work leaves threads behind for a while.
PER_LIFE = 1536
ONCE = 4 * 1024 * 1024
FEW, FEW_CLASSES = 12, 60
# Objects of Python are known exactly; a life of old left hundreds.
OBJECTS_ONCE = 3000


class Whole:
    """The all-in-one service, which can be asked what it holds."""

    def __init__(self, directory: Path) -> None:
        self._began = time.monotonic()
        self.port, self.counted = free_port(), Counted(directory, "ironic")
        options = machine_free_options(directory, self.port)
        # Fakes that take no time, and no limit that a single sender would meet.
        more: Options = {
            "DEFAULT": {"enabled_bios_interfaces": "fake"},
            "api": {"ramdisk_calls_per_minute": 0, "inspection_reports_per_minute": 0},
            "inspector": {"rejected_callbacks_kept": 10},
        }
        files = [options, write_options(directory / "more.conf", more)]
        create_database(*files)
        self.service = Service("ironic", files, directory / "ironic.log", self.port, self.counted.environment)
        self.service.await_ready()

    def check(self, before: Counts, kind: str, number: int, per_life: int = 0) -> None:
        """Check that so many lives, or what else there was, left no more than so many bytes each, and nothing else."""
        lives = number if per_life else 0
        most = Counts(
            bytes=ONCE + per_life * lives,
            files=FEW,
            threads=FEW,
            connections=FEW,
            objects=OBJECTS_ONCE + 5 * lives,
            # Modules are loaded when they are needed first.
            classes=FEW_CLASSES,
            wsme=0,
        )
        kept = grown(self.counted, before, most)
        assert not [name for name, more, limit in zip(Counts._fields, kept, most, strict=True) if more > limit], kept
        text = f"{kept.bytes / number:.0f} bytes and {kept.objects / number:.2f} objects kept of each"
        battery.survived("all in one", kind, str(number), text, time.monotonic() - self._began)


@pytest.fixture
def whole(tmp_path: Path) -> Iterator[Whole]:
    running = Whole(tmp_path)
    yield running
    assert running.service.stop() == 0


@pytest.mark.parametrize(("warm", "lives"), [(10, 20), pytest.param(200, 2000, marks=pytest.mark.battery)])
def test_lives_leave_nothing(whole: Whole, warm: int, lives: int) -> None:
    users = Lives(whole.service.url, seed=1)
    users.live(warm)
    before = whole.counted.now()
    users.live(lives)
    whole.check(before, "lives", lives, PER_LIFE)


def send(whole: Whole, number: int, drawn: Iterator[tuple[str, str, bytes | None]]) -> None:
    """Send so many requests over one connection; the service may end it at any time."""
    connection = http.client.HTTPConnection("127.0.0.1", whole.port, timeout=120)
    headers = HEADERS | {"X-OpenStack-Ironic-API-Version": "1.115"}
    for method, path, body in itertools.islice(drawn, number):
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            answer.read()
        except (http.client.HTTPException, OSError):
            connection.close()
            continue
        assert answer.status < 500 or answer.status == 503, (method, path, body, answer.status)
    connection.close()


@pytest.mark.parametrize(("warm", "requests"), [(1500, 2500), pytest.param(5000, 100_000, marks=pytest.mark.battery)])
def test_requests_leave_nothing(whole: Whole, warm: int, requests: int) -> None:
    # Nothing is created, so nothing is there to be kept; names are of things that are not there, or of all nodes.
    drawn = iter(RandomRequests(115, 7, {"driver": "fake-hardware"}, skip="openapi|^POST .*/(nodes|ports|chassis)$"))
    send(whole, warm, drawn)
    before = whole.counted.now()
    send(whole, requests, drawn)
    whole.check(before, "requests", requests)


def callbacks() -> Iterator[tuple[str, str, bytes | None]]:
    """Return what ramdisks send, each with other addresses."""
    for number in itertools.count():
        mac = f"52:54:00:{number >> 16 & 255:02x}:{number >> 8 & 255:02x}:{number & 255:02x}"
        report = {"inventory": {"interfaces": [{"mac_address": mac}], "bmc_address": f"10.{number % 250}.0.1"}}
        yield "POST", "/v1/continue_inspection", json.dumps(report).encode()
        yield "GET", f"/v1/lookup?addresses={mac}", None
        uuid = f"99999999-0000-4000-8000-{number:012x}"
        beat = {"callback_url": f"https://192.0.2.1/{number}", "agent_token": f"t{number}", "agent_version": "1"}
        yield "POST", f"/v1/heartbeat/{uuid}", json.dumps(beat).encode()


@pytest.mark.parametrize(("warm", "calls"), [(300, 900), pytest.param(1000, 10_000, marks=pytest.mark.battery)])
def test_callbacks_leave_nothing(whole: Whole, warm: int, calls: int) -> None:
    sent = callbacks()
    send(whole, warm, sent)
    before = whole.counted.now()
    send(whole, calls, sent)
    whole.check(before, "callbacks", calls)
