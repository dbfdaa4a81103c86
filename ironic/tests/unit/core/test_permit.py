"""One thread computes at a time; one that waits lets others, and a permit that is never given back stops nobody."""

import threading

from ironic.core.permit import Permit


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
