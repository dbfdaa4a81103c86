"""Waits that end early."""

import threading
import time
from collections.abc import Iterator

import pytest

from ironic.drivers import waiting


@pytest.fixture(autouse=True)
def not_stopping() -> Iterator[None]:
    waiting.allow()
    yield
    waiting.allow()


def test_a_pause_takes_its_time() -> None:
    begun = time.monotonic()
    assert waiting.pause(0.02)
    assert time.monotonic() - begun >= 0.02
    assert waiting.pause(-1)


def test_a_pause_ends_when_the_service_stops() -> None:
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(waiting.pause(30)))
    thread.start()
    waiting.interrupt()
    thread.join(timeout=5)
    assert answers == [False]
    assert waiting.pause(30) is False


def test_it_asks_until_the_answer_is_yes() -> None:
    answers = iter([False, False, True])
    assert waiting.until(lambda: next(answers), timeout=5, interval=0.001)


def test_it_asks_at_least_once() -> None:
    assert waiting.until(lambda: True, timeout=0, interval=1)
    assert not waiting.until(lambda: False, timeout=0, interval=1)


def test_a_late_answer_still_counts() -> None:
    answers = iter([False, True])
    assert waiting.until(lambda: next(answers), timeout=0.01, interval=60)


def test_waiting_for_an_answer_ends_when_the_service_stops() -> None:
    waiting.interrupt()
    assert not waiting.until(lambda: False, timeout=30, interval=10)
