"""Waiting says what for, at once and then now and again, and ends by a signal or by the time-out."""

import logging
import os
import signal
import threading
from collections.abc import Callable

import pytest

from ironic.command import server_wait
from ironic.command.lifecycle import HANG_UP, StopRequested, receive_signals

REFUSED = ConnectionError("refused")


class Absent:
    """Something that is there after it was looked for some times."""

    def __init__(self, times: int) -> None:
        self._times = times

    def __call__(self) -> Exception | None:
        self._times -= 1
        return REFUSED if self._times >= 0 else None


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], bool]:
    """Return a pause that makes time go on without waiting."""
    now = [100.0]
    monkeypatch.setattr("ironic.command.server_wait.time.monotonic", lambda: now[0])

    def pause(seconds: float) -> bool:
        now[0] += seconds
        return False

    return pause


def test_what_is_there_is_not_mentioned(clock: Callable[[float], bool], caplog: pytest.LogCaptureFixture) -> None:
    server_wait.until(Absent(0), "the thing", clock)
    assert caplog.records == []


def test_it_says_at_once_what_is_missing_and_when_it_came(
    clock: Callable[[float], bool], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    server_wait.until(Absent(3), "the thing", clock)
    assert [record.getMessage() for record in caplog.records] == [
        "Waiting for the thing (0 seconds so far): refused",
        "Connected to the thing after 3.0 seconds",
    ]


def test_it_repeats_itself_now_and_again_only(clock: Callable[[float], bool], caplog: pytest.LogCaptureFixture) -> None:
    server_wait.until(Absent(60), "the thing", clock)
    # Another test may have left a level at which the end of the wait is logged as well.
    assert [record.levelname for record in caplog.records].count("WARNING") == 6


def test_after_the_timeout_the_reason_is_raised(clock: Callable[[float], bool]) -> None:
    with pytest.raises(ConnectionError, match="refused"):
        server_wait.until(Absent(1000), "the thing", clock, timeout=30)


def test_a_signal_ends_it() -> None:
    with pytest.raises(StopRequested):
        server_wait.until(Absent(1000), "the thing", lambda _seconds: True)


def test_a_signal_to_read_options_does_not_end_it_and_is_not_lost() -> None:
    with receive_signals() as inbox:
        os.kill(os.getpid(), HANG_UP)
        assert inbox.pause(0.05) is False
        assert inbox.pause(0.05) is False
        assert inbox.next(1) == HANG_UP
        assert inbox.next(0.05) is None


def test_a_signal_that_another_thread_got_ends_the_wait_too() -> None:
    def send() -> None:
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    with receive_signals() as inbox:
        threading.Timer(0.2, send).start()
        assert inbox.next(10) == signal.SIGTERM
