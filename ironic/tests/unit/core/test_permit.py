"""One thread computes at a time; one that waits lets others, and a permit that is never given back stops nobody."""

import threading

import pytest

from ironic.core.permit import MustWait, Permit


def test_it_is_held_by_one_thread_and_given_up_while_it_waits() -> None:
    permit = Permit(patience=60)
    seen: list[bool] = []

    def other() -> None:
        with permit.computing():
            seen.append(permit.is_mine)

    with permit.computing():
        assert permit.is_mine
        thread = threading.Thread(target=other)
        thread.start()
        with permit.waiting():
            assert not permit.is_mine
            thread.join(30)
        assert seen == [True]
        assert permit.is_mine
    assert not permit.is_mine


def test_a_thread_without_it_waits_as_it_likes() -> None:
    permit = Permit()
    with permit.waiting():
        assert not permit.is_mine
    with permit.computing():
        assert permit.is_mine


def test_a_holder_that_keeps_it_too_long_loses_it() -> None:
    permit = Permit(patience=0.01)
    seen: list[bool] = []

    def other() -> None:
        with permit.computing():
            seen.append(permit.is_mine)

    with permit.computing():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(30)
        assert seen == [True]
        assert not permit.is_mine
    with permit.computing():
        assert permit.is_mine


def test_many_threads_leave_it_as_it_was() -> None:
    permit = Permit(patience=0.0005)
    inside: list[int] = []

    def work() -> None:
        for number in range(200):
            with permit.computing():
                sum(range(number))
                with permit.waiting():
                    inside.append(number)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(inside) == 1600
    with permit.computing():
        assert permit.is_mine


def test_it_is_free_again_after_an_error() -> None:
    permit = Permit(patience=0)
    for _ in range(2):
        try:
            with permit.computing(), permit.waiting():
                raise ValueError
        except ValueError:
            assert not permit.is_mine
    with permit.computing():
        assert permit.is_mine


def test_a_thread_in_a_hurry_computes_without_it_and_never_waits() -> None:
    permit = Permit(patience=60)
    done: list[str] = []

    def other() -> None:
        with permit.hurrying(), permit.computing():
            done.append("computed")
            with pytest.raises(MustWait), permit.waiting():
                done.append("waited")
            with pytest.raises(MustWait):
                permit.must_not_hurry()
        permit.must_not_hurry()

    with permit.computing():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(30)
        assert permit.is_mine
    assert done == ["computed"]


def test_a_wait_is_told_once_whether_for_the_permit_or_in_a_wait() -> None:
    permit = Permit(patience=0.01)
    told: list[str] = []

    def other() -> None:
        permit.tell_of_wait(lambda: told.append("for the permit"))
        with permit.computing(), permit.waiting():
            pass
        permit.tell_of_wait(lambda: told.append("for something"))
        with permit.computing():
            assert told == ["for the permit"]
            with permit.waiting():
                pass
            with permit.waiting():
                pass

    with permit.computing():
        thread = threading.Thread(target=other)
        thread.start()
        while not told:
            threading.Event().wait(0.01)
    thread.join(30)
    assert told == ["for the permit", "for something"]
