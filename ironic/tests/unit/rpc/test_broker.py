"""What may block for ever is done aside, and given up when the reason to wait is gone."""

import threading

import pytest

from ironic.rpc.broker import run_in_thread


class GivenUp(Exception):
    pass


def give_up():
    raise GivenUp


def test_it_returns_what_was_done():
    assert run_in_thread(lambda: 5, give_up, 5) == 5


def test_it_raises_what_went_wrong():
    def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_in_thread(fail, give_up, 5)


def test_it_waits_as_long_as_there_is_reason_to():
    done, checks = threading.Event(), []

    def check():
        checks.append(1)
        if len(checks) == 3:
            done.set()

    assert run_in_thread(lambda: done.wait(5), check, 0.01) is True
    assert len(checks) >= 3


def test_it_gives_up_when_there_is_none():
    done = threading.Event()
    with pytest.raises(GivenUp):
        run_in_thread(lambda: done.wait(5), give_up, 0.01)
    done.set()
