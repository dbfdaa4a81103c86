import threading
import time

import pytest

from ironic.conductor.workers import Workers
from ironic.core.errors import NoFreeConductorWorker


@pytest.fixture
def gate():
    """Return an event that work waits for; it is set at the end, so that nothing hangs."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def pool():
    """Return a pool of one's own."""
    return Workers("c1", 4)


def test_work_runs_on_another_thread_and_gives_its_result(pool):
    found = pool.take("thread").start(threading.get_ident).result(5)
    assert found != threading.get_ident()


def test_arguments_are_handed_on(pool):
    assert pool.take("sum").start(sum, [1, 2], start=4).result(5) == 7


def test_a_full_pool_refuses(pool, gate):
    for _ in range(4):
        pool.take("work").start(gate.wait)
    with pytest.raises(NoFreeConductorWorker) as raised:
        pool.take("one more")
    assert raised.value.facts == {"host": "c1"}
    assert raised.value.status == 503


def test_a_place_counts_from_when_it_is_taken(pool):
    slots = [pool.take("later") for _ in range(4)]
    with pytest.raises(NoFreeConductorWorker):
        pool.take("one more")
    for slot in slots:
        slot.release()
        slot.release()
    assert pool.taken == 0


def test_a_place_is_free_again_when_its_work_has_ended_even_badly(pool):
    failed = pool.take("fail").start(int, "no number")
    assert isinstance(failed.exception(5), ValueError)
    assert pool.drain(5) == []
    assert pool.taken == 0


def test_a_place_is_used_once(pool):
    slot = pool.take("once")
    slot.start(int).result(5)
    with pytest.raises(RuntimeError):
        slot.start(int)


@pytest.mark.parametrize("percentage, background", [(0, 10), (20, 8), (50, 5), (5, 10)])
def test_background_work_can_not_have_the_reserved_share(percentage, background):
    pool = Workers("c1", 10, percentage)
    slots = [pool.take("job", background=True) for _ in range(background)]
    with pytest.raises(NoFreeConductorWorker):
        pool.take("one more job", background=True)
    slots += [pool.take("a user's request") for _ in range(10 - background)]
    with pytest.raises(NoFreeConductorWorker):
        pool.take("one request more")


def test_all_places_run_at_once(pool):
    meeting = threading.Barrier(4, timeout=5)
    futures = [pool.take("meet").start(meeting.wait) for _ in range(4)]
    assert sorted(future.result(5) for future in futures) == [0, 1, 2, 3]


def of_pools():
    """Return the threads of pools; other tests may have left threads of other kinds."""
    return {one for one in threading.enumerate() if one.name == "conductor-worker"}


def test_threads_come_with_the_work_and_go_with_it(gate):
    before = of_pools()
    pool = Workers("c1", 40)
    assert of_pools() <= before
    for _ in range(40):
        pool.take("burst").start(gate.wait)
    assert len(of_pools() - before) == 40
    gate.set()
    assert pool.drain(5) == []
    pool.close()
    assert of_pools() <= before


def test_a_closed_pool_starts_no_work(pool):
    slot = pool.take("late")
    pool.close()
    with pytest.raises(NoFreeConductorWorker):
        slot.start(int)
    assert pool.taken == 0


def test_draining_names_what_does_not_end(gate):
    pool = Workers("c1", 4)
    pool.take("node cleaning of node n1").start(gate.wait)
    assert pool.drain(0.05) == ["node cleaning of node n1"]
    with pytest.raises(NoFreeConductorWorker):
        pool.take("too late")


def test_draining_waits_for_work_that_ends(pool):
    pool.take("short").start(time.sleep, 0.1)
    began = time.monotonic()
    assert pool.drain(10) == []
    assert time.monotonic() - began < 5


def test_a_place_taken_before_the_end_may_still_be_used(pool):
    slot = pool.take("accepted")
    waiter = threading.Thread(target=pool.drain, args=(10,))
    waiter.start()
    assert slot.start(int, "7").result(5) == 7
    waiter.join(5)
    assert not waiter.is_alive()


def test_no_more_threads_are_lost_than_there_are_places(gate, caplog):
    before = of_pools()
    pool = Workers("c1", 3)
    for _round in range(3):
        while True:
            try:
                pool.take("hangs").start(gate.wait)
            except NoFreeConductorWorker:
                break
        pool.write_off(0)
    threads = of_pools() - before
    assert len(threads) == 6
    assert pool.taken == 3
    assert "has lost 3 threads and replaces no more; 3 workers stay busy" in caplog.text
    gate.set()
    # What is written off is named while it runs, but not waited for.
    for thread in threads:
        thread.join(5)
    assert pool.drain(5) == []
