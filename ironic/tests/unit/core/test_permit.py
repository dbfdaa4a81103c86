"""One thread computes at a time; one that waits lets others, and a permit that is never released stops no thread."""

import threading

import pytest

from ironic.core.permit import MustWait, Permit


def test_it_is_held_by_one_thread_and_given_up_while_it_waits() -> None:
    permit = Permit(max_hold=60)
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
    permit = Permit(max_hold=0.01)
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
    permit = Permit(max_hold=0.0005)
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
    permit = Permit(max_hold=0)
    for _ in range(2):
        try:
            with permit.computing(), permit.waiting():
                raise ValueError
        except ValueError:
            assert not permit.is_mine
    with permit.computing():
        assert permit.is_mine


def test_a_thread_in_a_hurry_computes_without_it_and_never_waits() -> None:
    permit = Permit(max_hold=60)
    done: list[str] = []

    def other() -> None:
        with permit.nonblocking(), permit.computing():
            done.append("computed")
            with pytest.raises(MustWait), permit.waiting():
                done.append("waited")
            with pytest.raises(MustWait):
                permit.check_may_wait()
        permit.check_may_wait()

    with permit.computing():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(30)
        assert permit.is_mine
    assert done == ["computed"]


def test_a_wait_is_told_once_whether_for_the_permit_or_in_a_wait() -> None:
    permit = Permit(max_hold=0.01)
    told: list[str] = []

    def other() -> None:
        permit.on_first_wait(lambda: told.append("for the permit"))
        with permit.computing(), permit.waiting():
            pass
        permit.on_first_wait(lambda: told.append("for something"))
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


class HeldUp:
    """The lock of a permit that holds one thread up, on its way to its turn, until it may go on."""

    def __init__(self, thread: str) -> None:
        self.thread, self.reached, self.go_on = thread, threading.Event(), threading.Event()
        self.lock = threading.Lock()

    def __enter__(self) -> None:
        if threading.current_thread().name == self.thread and not self.reached.is_set():
            self.reached.set()
            self.go_on.wait(30)
        self.lock.acquire()

    def __exit__(self, *error: object) -> None:
        self.lock.release()


def test_nothing_is_taken_from_a_thread_whose_turn_only_begins() -> None:
    permit = Permit(max_hold=0.001)
    guard = HeldUp("slow")
    permit._guard = guard  # type: ignore[assignment]  # what a permit uses of a lock
    seen: list[tuple[str, bool]] = []

    def work() -> None:
        with permit.computing():
            seen.append((threading.current_thread().name, permit.is_mine))

    slow, other = threading.Thread(target=work, name="slow"), threading.Thread(target=work, name="other")
    slow.start()
    assert guard.reached.wait(30)
    other.start()
    other.join(0.2)
    guard.go_on.set()
    slow.join(30)
    other.join(30)
    # Both have come to their end: neither has released what the other one had.
    assert seen == [("slow", True), ("other", True)]
    with permit.computing():
        assert permit.is_mine
