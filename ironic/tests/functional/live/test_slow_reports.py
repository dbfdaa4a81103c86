"""Early rules that call a slow service make reports wait their turn, or be refused, and nothing else."""

import http.client
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.command import wsgi_bridge
from ironic.command.http_server import ApiServer, ServerSettings
from ironic.core.permit import FULL, LANE, QUICK, SLOW, MustMove
from ironic.tests.functional.inspection.call_catcher import Catcher, call_catcher
from ironic.tests.functional.live.asking import call
from ironic.tests.functional.live.http_server import LOOPBACK, hello, port_of
from ironic.tests.live_service import Service, all_in_one_below
from ironic.tests.unit.inspection.lab import inventory

THREADS, WAITING, BEYOND = 2, 3, 4


@pytest.fixture
def target() -> Iterator[Catcher]:
    with call_catcher() as made:
        yield made


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "enabled_hardware_types": "fake-hardware",
            "state_path": tmp_path,
        },
        "api": {
            "api_workers": 1,
            "inspection_report_threads": THREADS,
            "inspection_reports_waiting": WAITING,
        },
    }
    with all_in_one_below(tmp_path, options) as running:
        yield running


def report(service: Service, number: int) -> requests.Response:
    """Post the report of an unknown machine."""
    return call(service, "POST", "/v1/continue_inspection", {"inventory": inventory(f"52:54:00:00:01:{number:02x}")})


def seconds_of(act: Callable[[], requests.Response], status: int) -> float:
    began = time.monotonic()
    answer = act()
    assert answer.status_code == status, answer.text
    return time.monotonic() - began


def worst(service: Service) -> float:
    """Return the seconds that the slowest of many quick requests took, reading ones and writing ones."""
    name = [{"op": "replace", "path": "/extra", "value": {"a": 1}}]
    return max(
        seconds_of(one, 200)
        for one in (
            lambda: call(service, "GET", "/v1/nodes"),
            lambda: call(service, "GET", "/v1/nodes/quick"),
            lambda: call(service, "PATCH", "/v1/nodes/quick", name),
        )
        * 20
    )


@pytest.mark.demand("S115")
def test_a_slow_target_makes_reports_wait_or_be_refused_and_nothing_else(service: Service, target: Catcher) -> None:
    answer = call(service, "POST", "/v1/nodes", {"driver": "fake-hardware", "name": "quick"})
    assert answer.status_code == 201, answer.text
    alone = worst(service)
    action = {"op": "api-call", "args": {"url": target.url, "timeout": 9}}
    answer = call(service, "POST", "/v1/inspection_rules", {"phase": "early", "actions": [action]})
    assert answer.status_code == 201, answer.text
    gate = threading.Event()

    def wait() -> None:
        gate.wait(8)

    target.on_call = wait
    statuses: list[int] = []
    ramdisks = [
        threading.Thread(target=lambda number=number: statuses.append(report(service, number).status_code))
        for number in range(THREADS + WAITING + BEYOND)
    ]
    try:
        for each in ramdisks:
            each.start()
        deadline = time.monotonic() + 5
        while len(statuses) < BEYOND or len(target.asked) < THREADS:
            assert time.monotonic() < deadline, (statuses, target.paths)
            time.sleep(0.02)
        assert statuses == [503] * BEYOND
        assert worst(service) < max(0.5, 5 * alone)
        # No request was accepted meanwhile.
        assert (len(statuses), len(target.asked)) == (BEYOND, THREADS)
    finally:
        gate.set()
        for each in ramdisks:
            each.join(30)
    # The machines are unknown; each waiting request got its turn.
    assert sorted(statuses) == [404] * (THREADS + WAITING) + [503] * BEYOND
    assert len(target.asked) == THREADS + WAITING


class Slow:
    """An application that moves to the slow lane and waits there; notes the threads of its calls."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.entered, self.leave = threading.Semaphore(0), threading.Event()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        self.told.append((environ[LANE], threading.current_thread().name))
        if environ["PATH_INFO"] == "/slow":
            if environ[LANE] == QUICK:
                raise MustMove
            if environ[LANE] == SLOW:
                self.entered.release()
                self.leave.wait(30)
        return hello(environ, start_response)


def test_slow_requests_have_threads_of_their_own_and_a_bounded_line(serve: Callable[..., ApiServer]) -> None:
    slow = Slow()
    port = port_of(serve(slow, ServerSettings(LOOPBACK, threads=1, slow_threads=1, slow_waiting=1)))
    clients = [http.client.HTTPConnection("127.0.0.1", port, timeout=30) for _ in range(3)]
    clients[0].request("POST", "/slow", headers={"Content-Length": "0"})
    assert slow.entered.acquire(timeout=30)
    clients[1].request("POST", "/slow", headers={"Content-Length": "0"})
    deadline = time.monotonic() + 30
    while len(slow.told) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    clients[2].request("POST", "/slow", headers={"Content-Length": "0"})
    assert clients[2].getresponse().read() == b"hello"
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as quick:
        quick.request("POST", "/")
        assert quick.getresponse().read() == b"hello"
    slow.leave.set()
    for client in clients[:2]:
        assert client.getresponse().read() == b"hello"
    for client in clients:
        client.close()
    assert slow.told == [
        (QUICK, "api"),
        (SLOW, "api-slow"),
        (QUICK, "api"),
        (QUICK, "api"),
        (FULL, "api"),
        (QUICK, "api"),
        (SLOW, "api-slow"),
    ]


def test_large_bodies_do_not_wait_in_line(serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wsgi_bridge, "MOST_SLOW_BODIES", 10)
    slow = Slow()
    port = port_of(serve(slow, ServerSettings(LOOPBACK, threads=1, slow_threads=1, slow_waiting=5)))
    first, refused = (http.client.HTTPConnection("127.0.0.1", port, timeout=30) for _ in range(2))
    first.request("POST", "/slow", b"x" * 11)  # a thread is free, so it does not wait
    assert slow.entered.acquire(timeout=30)
    refused.request("POST", "/slow", b"x" * 11)
    assert refused.getresponse().read() == b"hello"
    assert slow.told[-1] == (FULL, "api")
    slow.leave.set()
    assert first.getresponse().read() == b"hello"
    first.close()
    refused.close()


def test_who_waits_too_long_is_refused(serve: Callable[..., ApiServer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wsgi_bridge, "LONGEST_WAIT", 0.2)
    slow = Slow()
    port = port_of(serve(slow, ServerSettings(LOOPBACK, threads=1, slow_threads=1, slow_waiting=5)))
    first, *others = (http.client.HTTPConnection("127.0.0.1", port, timeout=30) for _ in range(3))
    first.request("POST", "/slow", headers={"Content-Length": "0"})
    assert slow.entered.acquire(timeout=30)
    for each in others:
        each.request("POST", "/slow", headers={"Content-Length": "0"})
    for each in others:
        assert each.getresponse().read() == b"hello"
        each.close()
    assert [told for told in slow.told if told[0] == FULL] == [(FULL, "api")] * 2
    # The thread that they waited for is found by the next one.
    slow.leave.set()
    assert first.getresponse().read() == b"hello"
    first.request("POST", "/slow", headers={"Content-Length": "0"})
    assert first.getresponse().read() == b"hello"
    assert slow.told[-1] == (SLOW, "api-slow")
    first.close()


def test_who_leaves_the_line_is_not_waited_for(serve: Callable[..., ApiServer]) -> None:
    slow = Slow()
    port = port_of(serve(slow, ServerSettings(LOOPBACK, threads=1, slow_threads=1, slow_waiting=1)))
    first, gone, last = (http.client.HTTPConnection("127.0.0.1", port, timeout=30) for _ in range(3))
    first.request("POST", "/slow", headers={"Content-Length": "0"})
    assert slow.entered.acquire(timeout=30)
    gone.request("POST", "/slow", headers={"Content-Length": "0"})
    deadline = time.monotonic() + 30
    while len(slow.told) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert gone.sock is not None
    # A reset: who only closes may still wait for the answer.
    gone.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    gone.close()
    time.sleep(0.2)
    last.request("POST", "/slow", headers={"Content-Length": "0"})
    slow.leave.set()
    assert first.getresponse().read() == b"hello"
    assert last.getresponse().read() == b"hello"
    first.close()
    last.close()
    assert [told for told, _ in slow.told].count(SLOW) == 2
    assert FULL not in [told for told, _ in slow.told]
