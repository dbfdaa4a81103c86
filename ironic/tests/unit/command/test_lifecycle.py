"""A process starts its components in order, handles signals and stops its components in reverse."""

import logging
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ironic.command import lifecycle, server_wait
from ironic.command.lifecycle import SIGNALS, Pause
from ironic.conf import CONF
from ironic.core.errors import DriverLoadError


class Recorder(lifecycle.Component):
    """A part that writes down what happens to it, and calls a function when it starts."""

    def __init__(self, name: str, diary: list[str], on_start: Callable[[], None] = lambda: None) -> None:
        self._name, self._diary, self._on_start = name, diary, on_start

    def start(self) -> None:
        self._diary.append(f"start {self._name}")
        self._on_start()

    def stop(self) -> None:
        self._diary.append(f"stop {self._name}")

    def reload(self) -> None:
        self._diary.append(f"reload {self._name}")


def send(*numbers: int) -> Callable[[], None]:
    """Return a function that sends signals to this process."""

    def act() -> None:
        for number in numbers:
            os.kill(os.getpid(), number)

    return act


def fail(error: Exception) -> Callable[[], None]:
    """Return a function that raises."""

    def act() -> None:
        raise error

    return act


@pytest.fixture
def diary() -> list[str]:
    return []


def run(components: Sequence[Recorder]) -> int:
    """Run the components as the program called Test."""
    return lifecycle.run_components(CONF, "Test", lambda _pause: components)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_parts_in_reverse(diary: list[str], number: int) -> None:
    assert run([Recorder("a", diary), Recorder("b", diary, send(number))]) == 0
    assert diary == ["start a", "start b", "stop b", "stop a"]


def test_afterwards_signals_do_what_they_did_before(diary: list[str]) -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    run([Recorder("a", diary, send(signal.SIGTERM))])
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_a_part_that_can_not_start_ends_the_process(diary: list[str], caplog: pytest.LogCaptureFixture) -> None:
    broken = Recorder("b", diary, fail(DriverLoadError(faults="one, two")))
    assert run([Recorder("a", diary), broken, Recorder("c", diary)]) == 1
    assert diary == ["start a", "start b", "stop a"]
    (message,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert message.getMessage() == "Test can't start: The enabled drivers can't be loaded: one, two"
    assert not message.exc_info


def test_a_mistake_of_ours_is_logged_with_its_traceback(diary: list[str], caplog: pytest.LogCaptureFixture) -> None:
    assert run([Recorder("a", diary, fail(AttributeError("oops")))]) == 1
    assert caplog.records[-1].exc_info


def test_who_logs_to_a_file_still_sees_why_it_did_not_start(
    diary: list[str], conf: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    conf(log_file="/some/file")
    run([Recorder("a", diary, fail(ValueError("no good")))])
    assert capsys.readouterr().err == "Test can't start: no good\n"


def test_hup_makes_every_part_read_options_again(diary: list[str], tmp_path: Path) -> None:
    path = tmp_path / "a.conf"
    path.write_text("[api]\nmax_limit = 10\n")
    CONF([], default_config_files=[str(path)])

    def change() -> None:
        path.write_text("[api]\nmax_limit = 20\n")
        send(signal.SIGHUP, signal.SIGTERM)()

    try:
        run([Recorder("a", diary, change), Recorder("b", diary)])
        assert CONF.api.max_limit == 20
    finally:
        CONF.clear()
    assert diary == ["start a", "start b", "reload a", "reload b", "stop b", "stop a"]


def test_a_file_that_has_become_unreadable_changes_nothing(
    diary: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.conf"
    path.write_text("[api]\nmax_limit = 10\n")
    CONF([], default_config_files=[str(path)])

    def spoil() -> None:
        path.write_text("[api\nmax_limit")
        send(signal.SIGHUP, signal.SIGTERM)()

    try:
        assert run([Recorder("a", diary, spoil)]) == 0
        assert CONF.api.max_limit == 10
    finally:
        CONF.clear()
    assert diary == ["start a", "stop a"]
    assert "nothing changes" in caplog.text


def test_a_part_that_fails_to_stop_does_not_keep_the_others_up(diary: list[str]) -> None:
    class Stubborn(Recorder):
        def stop(self) -> None:
            raise RuntimeError("no")

    assert run([Recorder("a", diary), Stubborn("b", diary, send(signal.SIGTERM))]) == 0
    assert diary == ["start a", "start b", "stop a"]


class Busy(Recorder):
    """A part with work that ends after some looks, or never."""

    def __init__(self, name: str, diary: list[str], *, looks: int, on_start: Callable[[], None] = lambda: None) -> None:
        super().__init__(name, diary, on_start)
        self._looks = looks

    @property
    def is_idle(self) -> bool:
        self._looks -= 1
        return self._looks < 0

    def retire(self) -> None:
        self._diary.append("retire")


def test_draining_ends_when_the_work_has_ended(diary: list[str]) -> None:
    busy = Busy("b", diary, looks=2, on_start=send(signal.SIGUSR2, signal.SIGUSR2))
    assert run([Recorder("a", diary), busy]) == 0
    assert diary == ["start a", "start b", "retire", "stop b", "stop a"]


def test_a_signal_to_end_ends_draining(diary: list[str]) -> None:
    busy = Busy("b", diary, looks=1000, on_start=send(signal.SIGUSR2, signal.SIGTERM))
    assert run([busy]) == 0
    assert diary == ["start b", "retire", "stop b"]


def test_draining_takes_no_longer_than_it_may(
    diary: list[str], conf: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    conf(drain_shutdown_timeout=1)
    assert run([Busy("b", diary, looks=1000, on_start=send(signal.SIGUSR2))]) == 0
    assert "drained for 1 seconds" in caplog.text


def test_work_that_was_left_behind_shows_in_the_status(diary: list[str], caplog: pytest.LogCaptureFixture) -> None:
    class Stuck(Recorder):
        def stop(self) -> None:
            self.unfinished = ["cleaning of node n1"]

    assert run([Stuck("a", diary, send(signal.SIGTERM))]) == lifecycle.UNFINISHED
    assert "cleaning of node n1" in caplog.text


def test_it_can_be_told_to_end_before_it_is_ready(diary: list[str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    def build(pause: Pause) -> Sequence[lifecycle.Component]:
        def never_there() -> Exception:
            return ConnectionError("refused")

        return [
            Recorder("a", diary, send(signal.SIGHUP, signal.SIGTERM)),
            Recorder("b", diary, lambda: server_wait.until(never_there, "Godot", pause)),
        ]

    assert lifecycle.run_components(CONF, "Test", build) == 0
    assert diary == ["start a", "start b", "stop a"]
    assert "before it was ready" in caplog.text
    assert "can't start" not in caplog.text
