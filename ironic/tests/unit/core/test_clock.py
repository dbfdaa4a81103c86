"""Waits that end early."""

import threading
import time

import pytest

from ironic.core.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_pause_takes_its_time(clock: Clock) -> None:
    begun = time.monotonic()
    assert clock.sleep(0.02)
    assert time.monotonic() - begun >= 0.02
    assert clock.sleep(-1)


def test_a_pause_ends_when_the_service_stops(clock: Clock) -> None:
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(clock.sleep(30)))
    thread.start()
    clock.interrupt()
    thread.join(timeout=5)
    assert answers == [False]
    assert clock.sleep(30) is False


def test_it_asks_until_the_answer_is_yes(clock: Clock) -> None:
    answers = iter([False, False, True])
    assert clock.until(lambda: next(answers), timeout=5, interval=0.001)


def test_it_asks_soon_at_first_and_then_less_often(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> bool:
        pauses.append(seconds)
        return True

    monkeypatch.setattr(clock, "sleep", pause)
    answers = iter([False] * 6 + [True])
    assert clock.until(lambda: next(answers), timeout=60, interval=5, first=0.5)
    assert pauses == [0.5, 1, 2, 4, 5, 5]
    pauses.clear()
    answers = iter([False, True])
    assert clock.until(lambda: next(answers), timeout=60, interval=0.1, first=0.5)
    assert pauses == [0.1]


def test_it_asks_at_least_once(clock: Clock) -> None:
    assert clock.until(lambda: True, timeout=0, interval=1)
    assert not clock.until(lambda: False, timeout=0, interval=1)


def test_a_late_answer_still_counts(clock: Clock) -> None:
    answers = iter([False, True])
    assert clock.until(lambda: next(answers), timeout=0.01, interval=60)


def test_waiting_for_an_answer_ends_when_the_service_stops(clock: Clock) -> None:
    clock.interrupt()
    assert not clock.until(lambda: False, timeout=30, interval=10)


class Unlucky:
    """Fails a number of times with one error, then answers."""

    def __init__(self, failures: int, error: Exception) -> None:
        self.left, self.error, self.calls = failures, error, 0
        self.called = threading.Event()

    def __call__(self, answer: str) -> str:
        self.calls += 1
        self.called.set()
        if self.calls <= self.left:
            raise self.error
        return answer


def on_lost(error: BaseException) -> bool:
    return isinstance(error, ConnectionError)


def test_it_tries_again_and_tells_why(clock: Clock) -> None:
    error, told = ConnectionError("lost"), list[BaseException | None]()
    unlucky = Unlucky(2, error)
    assert clock.retrying(3, 0, on_lost, told.append)(unlucky, "done") == "done"
    assert (unlucky.calls, told) == (3, [error, error])


@pytest.mark.parametrize("attempts", [1, 3])
def test_the_last_attempt_tells_its_error_without_a_pause(
    clock: Clock, attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses, told = list[float](), list[BaseException | None]()

    def pause(seconds: float) -> bool:
        pauses.append(seconds)
        return True

    monkeypatch.setattr(clock, "sleep", pause)
    unlucky = Unlucky(9, ConnectionError("lost"))
    with pytest.raises(ConnectionError, match="lost"):
        clock.retrying(attempts, 7, on_lost, told.append)(unlucky, "done")
    assert (unlucky.calls, pauses, len(told)) == (attempts, [7] * (attempts - 1), attempts - 1)


def test_an_error_that_waiting_does_not_mend_is_raised_at_once(clock: Clock) -> None:
    unlucky = Unlucky(1, ValueError("never"))
    with pytest.raises(ValueError, match="never"):
        clock.retrying(3, 30, on_lost, lambda _error: pytest.fail("it tries again"))(unlucky, "done")
    assert unlucky.calls == 1


def test_nothing_is_tried_again_once_the_service_stops(clock: Clock) -> None:
    unlucky, raised = Unlucky(9, ConnectionError("lost")), list[str]()

    def work() -> None:
        try:
            clock.retrying(9, 30, on_lost, lambda _error: None)(unlucky, "done")
        except ConnectionError as error:
            raised.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    assert unlucky.called.wait(5)
    clock.interrupt()
    thread.join(timeout=5)
    assert (unlucky.calls, raised) == (1, ["lost"])
