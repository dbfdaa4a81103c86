"""What is measured, under which names, and how it gets to a statsd server."""

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from ironic.common import metrics_utils
from ironic.common.exception import InvalidMetricConfig
from ironic.integrations import statsd
from ironic.integrations.metrics import METRICS, Metrics
from ironic.integrations.statsd import StatsdSender
from ironic.tests.conftest import Setter
from ironic.tests.site import eventually

LAB = Metrics("lab.power")


@pytest.fixture
def kept(conf: Setter, measure: Callable[[], None]) -> None:
    conf(metrics__backend="collector")
    measure()


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """Listen as a statsd server does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.settimeout(60)
        yield listening


@pytest.fixture
def sender(server: socket.socket) -> Iterator[StatsdSender]:
    made = StatsdSender("127.0.0.1", server.getsockname()[1])
    yield made
    made.close()


def double(number: int) -> int:
    if number < 0:
        raise ValueError("too small")
    return 2 * number


@pytest.mark.usefixtures("kept")
def test_a_timer_counts_calls_and_adds_up_milliseconds() -> None:
    timed = LAB.timer("Fan.double")(double)
    assert timed(2) == 4 and timed(number=3) == 6
    with pytest.raises(ValueError, match="too small"):
        timed(-1)
    entry = METRICS.collected()["lab.power.Fan.double"]
    assert (entry["count"], entry["type"]) == (2, "timer")
    assert 0 < entry["sum"] < 60_000
    with LAB.timer("Fan.block"):
        time.sleep(0.01)
    assert METRICS.collected()["lab.power.Fan.block"]["sum"] >= 10


@pytest.mark.usefixtures("kept")
def test_a_block_is_measured_even_if_it_ends_with_an_error() -> None:
    with pytest.raises(ValueError), LAB.timer("Fan.block"):
        double(-1)
    assert METRICS.collected()["lab.power.Fan.block"]["count"] == 1


@pytest.mark.usefixtures("kept")
def test_a_counter_counts_and_a_gauge_has_the_last_value() -> None:
    counted, gauged = LAB.counter("calls")(double), LAB.gauge("result")(double)
    for number in (1, 2, 3):
        assert counted(number) == gauged(number) == 2 * number
    LAB.send_counter("calls", 10)
    LAB.send_counter("never", 1, sample_rate=0)
    LAB.send_timer("by_hand", 1.5)
    assert METRICS.collected() == {
        "lab.power.calls": {"count": 13, "type": "counter"},
        "lab.power.result": {"value": 6, "type": "gauge"},
        "lab.power.by_hand": {"count": 1, "sum": 1.5, "type": "timer"},
    }


@pytest.mark.usefixtures("kept")
def test_what_threads_count_at_the_same_time_is_counted() -> None:
    def count() -> None:
        for _ in range(2000):
            LAB.send_counter("calls", 1)

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert METRICS.collected()["lab.power.calls"]["count"] == 16_000


def test_nothing_is_measured_unless_a_backend_takes_it(measure: Callable[[], None]) -> None:
    measure()
    assert not METRICS.on
    assert LAB.timer("Fan.double")(double)(2) == 4
    LAB.send_gauge("result", 1)
    assert METRICS.collected() == {}


@pytest.mark.parametrize(
    ("options", "front"),
    [
        ({}, ""),
        ({"global_prefix": "site1"}, "site1."),
        ({"prepend_host": True}, "example.rack.c1."),
        ({"prepend_host": True, "prepend_host_reverse": False}, "c1.rack.example."),
        ({"prepend_host": True, "global_prefix": "site1"}, "site1.example.rack.c1."),
    ],
)
def test_the_options_say_what_stands_before_a_name(
    conf: Setter, measure: Callable[[], None], options: dict[str, object], front: str
) -> None:
    conf(host="c1.rack.example", metrics__backend="collector")
    conf(**{f"metrics__{name}": value for name, value in options.items()})
    measure()
    LAB.send_gauge("result", 1)
    assert list(METRICS.collected()) == [f"{front}lab.power.result"]


def test_a_host_name_can_not_break_a_packet(conf: Setter, measure: Callable[[], None]) -> None:
    conf(host="c1:6385|c", metrics__backend="collector", metrics__prepend_host=True)
    measure()
    LAB.send_gauge("result", 1)
    assert list(METRICS.collected()) == ["c1_6385_c.lab.power.result"]


def test_a_wrong_name_or_rate_is_refused_where_it_is_declared() -> None:
    with pytest.raises(TypeError):
        LAB.timer(double)  # type: ignore[arg-type]  # as a decorator without parentheses
    for rate in (-0.1, 1.1):
        with pytest.raises(ValueError, match="0 to 1"):
            LAB.counter("calls", sample_rate=rate)


# statsd


def test_each_kind_has_the_form_that_servers_know(server: socket.socket, sender: StatsdSender) -> None:
    sender.timer("a.b", 12.3456)
    sender.counter("a.c", 1, None)
    sender.counter("a.c", 1, 0.1)
    sender.gauge("a.d", 7)
    heard = [server.recv(1000).decode() for _ in range(4)]
    assert heard == ["a.b:12.346|ms", "a.c:1|c", "a.c:1|c|@0.1", "a.d:7|g"]


def test_a_name_is_looked_up_once_for_many_packets(
    server: socket.socket, sender: StatsdSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, asked = socket.getaddrinfo, []

    def look_up(*args: object, **kwargs: object) -> object:
        asked.append(args)
        return real(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    for number in range(100):
        sender.gauge("a", number)
    heard = [server.recv(1000) for _ in range(100)]
    assert heard[-1] == b"a:99|g"
    assert len(asked) == 1


def test_a_resolver_that_hangs_delays_nothing_and_is_told_once(
    server: socket.socket, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real, resume, asked = socket.getaddrinfo, threading.Event(), threading.Event()

    def look_up(*args: object, **kwargs: object) -> object:
        asked.set()
        resume.wait(60)
        return real(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(statsd, "_QUEUE_SIZE", 100)
    sender = StatsdSender("127.0.0.1", server.getsockname()[1])
    sender.gauge("a", 0)
    assert asked.wait(60)
    for number in range(1, 1000):
        sender.gauge("a", number)
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "too many wait to be sent" in warnings[0].getMessage()
    assert len(warnings) == 1
    resume.set()
    heard = [server.recv(1000) for _ in range(101)]
    assert heard[0] == b"a:0|g" and heard[-1] == b"a:100|g"
    sender.close()


def test_a_server_without_an_address_is_told_and_asked_for_again(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, server: socket.socket
) -> None:
    real = socket.getaddrinfo
    is_known = threading.Event()

    def look_up(*args: object, **kwargs: object) -> object:
        if not is_known.is_set():
            raise socket.gaierror("unknown name")
        return real(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(statsd, "_TRY_AGAIN_SECONDS", 0)
    sender = StatsdSender("127.0.0.1", server.getsockname()[1])
    sender.gauge("a", 1)
    eventually(lambda: "unknown name" in caplog.text, True)
    is_known.set()
    sender.gauge("a", 2)
    assert server.recv(1000) == b"a:2|g"
    sender.close()


def test_what_can_not_be_sent_stops_nobody(
    conf: Setter, measure: Callable[[], None], caplog: pytest.LogCaptureFixture
) -> None:
    conf(metrics__backend="statsd", metrics_statsd__statsd_host="no-such-host.invalid")
    measure()
    LAB.send_gauge("lost", 1)
    eventually(lambda: "not sent to statsd at no-such-host.invalid port 8125" in caplog.text, True)
    LAB.send_gauge("lost", 2)


def test_the_end_of_the_process_sends_what_waits(
    conf: Setter, measure: Callable[[], None], server: socket.socket
) -> None:
    conf(metrics__backend="statsd", metrics_statsd__statsd_host="127.0.0.1")
    conf(metrics_statsd__statsd_port=server.getsockname()[1])
    measure()
    LAB.send_gauge("last", 1)
    METRICS.close()
    assert server.recv(1000) == b"lab.power.last:1|g"


def test_metrics_of_a_plug_in(kept: None) -> None:
    logger = metrics_utils.get_metrics_logger("acme/power", backend="statsd", host="h1", delimiter="/")
    logger.send_counter("changes", 3)
    metrics_utils.get_metrics_logger().send_gauge("temperature", 41)

    @logger.timer("reboot")
    def reboot() -> str:
        return "done"

    assert reboot() == "done"
    found = METRICS.collected()
    assert found["acme.power.changes"] == {"count": 3, "type": "counter"}
    assert found["temperature"] == {"value": 41, "type": "gauge"}
    assert found["acme.power.reboot"]["count"] == 1


def test_a_plug_in_that_asks_for_an_unknown_backend() -> None:
    with pytest.raises(InvalidMetricConfig, match="carbon"):
        metrics_utils.get_metrics_logger("acme", backend="carbon")
