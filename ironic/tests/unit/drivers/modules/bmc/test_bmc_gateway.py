"""The gateway to a BMC: places, precedence, pace and shared reads."""

import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Any

import pytest

from ironic.drivers.modules.bmc.bmc_gateway import (
    RECENT,
    BmcBusy,
    CallClass,
    Exhausted,
    Gateway,
    Operation,
    RequestLimits,
    gateway_to,
)

BOUND = 60.0
POWER, CHANGE, READ, TELEMETRY = CallClass.POWER, CallClass.CHANGE, CallClass.READ, CallClass.TELEMETRY


class Time:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def gateway(time: Time) -> Gateway:
    return Gateway("https://192.0.2.1", time)


def have_latency(gateway: Gateway, time: Time, seconds: float) -> None:
    for _ in range(10):
        with gateway.request(READ, 1):
            time.now += seconds


def test_one_server_has_one_gateway() -> None:
    one = gateway_to("https://192.0.2.9")
    assert gateway_to("https://192.0.2.9") is one
    assert gateway_to("https://192.0.2.9:8443") is not one


def test_power_has_a_place_when_all_others_are_taken(gateway: Gateway) -> None:
    with gateway.request(READ, 0), gateway.request(READ, 0), gateway.request(READ, 0):
        for kind in (CHANGE, READ, TELEMETRY):
            with pytest.raises(BmcBusy, match="no room"), gateway.request(kind, 0):
                pytest.fail("there was a place")
        with gateway.request(POWER, 0):
            pass


def test_no_more_requests_are_under_way_than_the_option_says(gateway: Gateway, conf: Callable[..., None]) -> None:
    conf(bmc__concurrent_requests=2)
    with gateway.request(POWER, 0), gateway.request(POWER, 0), pytest.raises(BmcBusy), gateway.request(POWER, 0):
        pytest.fail("there was a place")


def test_a_place_that_becomes_free_is_given_on() -> None:
    gateway = Gateway("https://192.0.2.1")
    taken = [gateway.request(READ, 0) for _ in range(3)]
    for place in taken:
        place.__enter__()
    with ThreadPoolExecutor() as pool:
        entered = threading.Event()

        def enter() -> None:
            with gateway.request(CHANGE, BOUND):
                entered.set()

        waiting = pool.submit(enter)
        taken.pop().__exit__(None, None, None)
        waiting.result(BOUND)
    assert entered.is_set()


def test_telemetry_takes_half_of_the_time(gateway: Gateway, time: Time) -> None:
    with gateway.request(TELEMETRY, 0):
        time.now += 3
    with pytest.raises(BmcBusy), gateway.request(TELEMETRY, 0):
        pytest.fail("too early")
    with gateway.request(READ, 0):
        pass  # others are not paced
    time.now += 3
    with gateway.request(TELEMETRY, 0):
        pass


def test_telemetry_is_one_request_at_a_time(gateway: Gateway) -> None:
    with gateway.request(TELEMETRY, 0), pytest.raises(BmcBusy), gateway.request(TELEMETRY, 0):
        pytest.fail("there was a place")


def test_a_slow_bmc_gets_one_request_besides_power(gateway: Gateway, time: Time) -> None:
    have_latency(gateway, time, 30)
    assert gateway.is_slow
    with gateway.request(READ, 0):
        with pytest.raises(BmcBusy), gateway.request(READ, 0):
            pytest.fail("there was a place")
        with gateway.request(POWER, 0):
            pass
    have_latency(gateway, time, 0.1)
    assert not gateway.is_slow


def test_a_bmc_with_an_overdue_answer_is_slow(gateway: Gateway, time: Time) -> None:
    with gateway.request(READ, 0):
        assert not gateway.is_slow
        time.now += 6
        assert gateway.is_slow


def test_a_slow_bmc_holds_no_more_than_its_share_of_workers(gateway: Gateway, time: Time) -> None:
    have_latency(gateway, time, 30)
    with gateway.operation(READ), gateway.operation(TELEMETRY):
        with pytest.raises(BmcBusy, match="2 other operations"), gateway.operation(TELEMETRY):
            pytest.fail("it was let in")
        with gateway.operation(READ), gateway.operation(CHANGE):
            with pytest.raises(BmcBusy, match="4 other operations"), gateway.operation(CHANGE):
                pytest.fail("it was let in")
            with gateway.operation(POWER):
                pass  # never turned away
    with gateway.operation(TELEMETRY):
        pass


def test_an_operation_has_an_end(gateway: Gateway, time: Time) -> None:
    with gateway.operation(READ) as running:
        assert running.seconds_left(time.now, 60) == 60
        time.now += 590
        assert running.seconds_left(time.now, 60) == 10
        time.now += 10
        with pytest.raises(Exhausted, match="longer than 600 seconds"):
            running.seconds_left(time.now, 60)


def test_an_operation_does_not_read_in_circles(gateway: Gateway, time: Time) -> None:
    with gateway.operation(READ) as running:
        for _ in range(Operation.MOST_REQUESTS):
            running.seconds_left(time.now, 60)
        with pytest.raises(Exhausted, match="more than"):
            running.seconds_left(time.now, 60)


# Shared reads


class Fetches:
    """Counts what is fetched."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> int:
        self.count += 1
        return self.count


@pytest.fixture
def fetch() -> Fetches:
    return Fetches()


@pytest.fixture(autouse=True)
def moments(monkeypatch: pytest.MonkeyPatch, time: Time) -> Iterator[None]:
    monkeypatch.setattr(RECENT, "_clock", time)
    monkeypatch.setattr(RECENT, "_kept", type(RECENT._kept)())
    yield


def once(gateway: Gateway, fetch: Fetches, *, anew: bool = False) -> int:
    with gateway.operation(READ, anew=anew) as running:
        return gateway.read_once("/a", running, fetch)


def test_equal_reads_within_a_moment_are_one(gateway: Gateway, time: Time, fetch: Fetches) -> None:
    assert [once(gateway, fetch) for _ in range(5)] == [1] * 5
    time.now += 1.1
    assert once(gateway, fetch) == 2


def test_a_change_ends_the_moment(gateway: Gateway, fetch: Fetches) -> None:
    once(gateway, fetch)
    gateway.machine_changes()
    assert once(gateway, fetch) == 2


def test_what_changes_by_itself_is_read_anew(gateway: Gateway, fetch: Fetches) -> None:
    once(gateway, fetch)
    assert once(gateway, fetch, anew=True) == 2


def test_an_operation_that_reads_again_gets_it_anew(gateway: Gateway, fetch: Fetches) -> None:
    with gateway.operation(READ) as running:
        assert [gateway.read_once("/a", running, fetch) for _ in range(2)] == [1, 2]


class Watched(Gateway):
    """A gateway that counts the threads that wait for the answer to another one."""

    def __init__(self) -> None:
        super().__init__("https://192.0.2.1")
        self.joined = threading.Semaphore(0)

    def _join(self, *arguments: Any) -> Any:
        self.joined.release()
        return super()._join(*arguments)


def test_reads_at_the_same_time_are_one() -> None:
    gateway, begun, go_on, fetched = Watched(), threading.Event(), threading.Event(), []

    def slow() -> str:
        fetched.append(1)
        begun.set()
        assert go_on.wait(BOUND)
        return "answer"

    def read(anew: bool) -> str:
        with gateway.operation(READ, anew=anew) as running:
            return gateway.read_once("/slow", running, slow)

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(read, False)
        assert begun.wait(BOUND)
        others = [pool.submit(read, anew) for anew in (True, False, True)]
        for _ in others:
            assert gateway.joined.acquire(timeout=BOUND)
        go_on.set()
        assert [one.result(BOUND) for one in (first, *others)] == ["answer"] * 4
    assert len(fetched) == 1


@pytest.mark.parametrize("urgent, other, fetches", [(READ, TELEMETRY, 2), (TELEMETRY, READ, 1), (READ, READ, 1)])
def test_who_goes_first_does_not_wait_for_the_answer_to_others(
    urgent: CallClass, other: CallClass, fetches: int
) -> None:
    gateway, begun, go_on, fetched = Watched(), threading.Event(), threading.Event(), []

    def fetch() -> int:
        fetched.append(1)
        if len(fetched) == 1:
            begun.set()
            assert go_on.wait(BOUND)
        return len(fetched)

    def read(kind: CallClass) -> int:
        with gateway.operation(kind) as running:
            return gateway.read_once("/a", running, fetch)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(read, other)
        assert begun.wait(BOUND)
        second = pool.submit(read, urgent)
        if fetches == 1:
            assert gateway.joined.acquire(timeout=BOUND)
        else:
            assert second.result(BOUND) == 2
        go_on.set()
        assert (first.result(BOUND), second.result(BOUND)) == (fetches, fetches)
    assert gateway._shared == {}


def test_an_error_is_not_shared(gateway: Gateway, fetch: Fetches) -> None:
    def fail() -> int:
        raise OSError

    with gateway.operation(READ) as running, pytest.raises(OSError):
        gateway.read_once("/a", running, fail)
    assert once(gateway, fetch) == 1


class Crowd:
    """Ten threads that read the same, all before the first one has its answer."""

    def __init__(self, gateway: Gateway, fetch: Callable[[], str]) -> None:
        self.calls, self._gateway, self._fetch = 0, gateway, fetch
        self.may_go_on = threading.Event()

    def read(self) -> str:
        try:
            with self._gateway.operation(READ) as operation:
                return self._gateway.read_once("/", operation, self._first)
        except BmcBusy as error:
            return str(error)
        except RuntimeError as error:
            return str(error)

    def _first(self) -> str:
        self.calls += 1
        with self._gateway.request(READ, BOUND):
            self.may_go_on.wait(BOUND)
            return self._fetch()

    def come(self, pool: ThreadPoolExecutor) -> "list[Future[str]]":
        coming = [pool.submit(self.read) for _ in range(10)]
        while len(self._gateway._operations) < 10:
            threading.Event().wait(0.01)
        return coming


def test_of_a_crowd_that_waits_for_a_slow_answer_a_few_stay(conf: Callable[..., None]) -> None:
    conf(bmc__slow_seconds=1, bmc__workers_at_slow_bmc=4)
    crowd = Crowd(Gateway("https://192.0.2.1"), lambda: "answer")
    with ThreadPoolExecutor(10) as pool:
        coming = crowd.come(pool)
        gone = [one.result(0) for one in itertools.islice(as_completed(coming, BOUND), 6)]
        assert all("it answers slowly" in text for text in gone)
        crowd.may_go_on.set()
        assert sorted(one.result(BOUND) for one in coming)[:4] == ["answer"] * 4
    assert crowd.calls == 1


def test_of_a_crowd_that_waits_for_an_error_a_few_ask_again(conf: Callable[..., None]) -> None:
    conf(bmc__workers_at_slow_bmc=4)
    others_are_gone = threading.Event()

    def fail() -> str:
        if crowd.calls > 1:
            others_are_gone.wait(BOUND)
        raise RuntimeError("a wrong answer")

    crowd = Crowd(Gateway("https://192.0.2.1"), fail)
    with ThreadPoolExecutor(10) as pool:
        coming = crowd.come(pool)
        crowd.may_go_on.set()
        # The first one, whose error it was, and those who do not ask again.
        gone = [one.result(0) for one in itertools.islice(as_completed(coming, BOUND), 6)]
        others_are_gone.set()
        for one in coming:
            one.result(BOUND)
    assert sum("it has just failed" in text for text in gone) >= 5
    assert crowd.calls <= 5


def test_large_answers_are_not_kept(gateway: Gateway, fetch: Fetches) -> None:
    with gateway.operation(READ) as running:
        gateway.read_once("/a", running, fetch, lambda _answer: False)
    assert once(gateway, fetch) == 2


def test_few_answers_are_kept(gateway: Gateway) -> None:
    with gateway.operation(READ) as running:
        for number in range(1000):
            gateway.read_once(f"/{number}", running, lambda: 1)
    assert len(RECENT) <= 256


# A protocol with one conversation at a time


@pytest.fixture
def single(time: Time) -> Gateway:
    """Return a gateway with one place and a pause of five seconds."""
    return Gateway("ipmi://192.0.2.1:623", time, RequestLimits(lambda: 1, lambda: 5.0))


@pytest.mark.parametrize("first", CallClass)
@pytest.mark.parametrize("second", CallClass)
def test_one_place_is_one_for_all(single: Gateway, first: CallClass, second: CallClass) -> None:
    with single.request(first, 0), pytest.raises(BmcBusy), single.request(second, 0):
        pytest.fail("there was a place")


@pytest.mark.parametrize("kind", CallClass)
def test_there_is_a_pause_after_each_request(single: Gateway, time: Time, kind: CallClass) -> None:
    with single.request(READ, 0):
        time.now += 1
    time.now += 4.9
    with pytest.raises(BmcBusy), single.request(kind, 0):
        pytest.fail("too early")
    time.now += 0.2
    with single.request(kind, 0):
        pass


def test_a_failed_request_is_followed_by_a_pause(single: Gateway) -> None:
    with pytest.raises(KeyError), single.request(READ, 0):
        raise KeyError
    with pytest.raises(BmcBusy), single.request(POWER, 0):
        pytest.fail("too early")


def test_the_most_urgent_of_those_who_wait_is_next() -> None:
    single = Gateway("ipmi://192.0.2.1:623", limits=RequestLimits(lambda: 1))
    order: list[CallClass] = []

    def enter(kind: CallClass) -> None:
        with single.request(kind, BOUND):
            order.append(kind)

    with ThreadPoolExecutor() as pool:
        with single.request(READ, 0):
            waiting = [pool.submit(enter, kind) for kind in (TELEMETRY, READ, CHANGE, POWER)]
            while single._waiting.total() < len(waiting):
                pass
        for each in waiting:
            each.result(BOUND)
    assert order == [POWER, CHANGE, READ, TELEMETRY]


def test_telemetry_is_preempted_by_others_only() -> None:
    single = Gateway("ipmi://192.0.2.1:623", limits=RequestLimits(lambda: 1))
    with ThreadPoolExecutor() as pool:
        with single.request(TELEMETRY, 0):
            assert not single.is_preempted(TELEMETRY)

            def enter() -> None:
                with single.request(POWER, BOUND):
                    pass

            waiting = pool.submit(enter)
            while not single.is_preempted(TELEMETRY):
                pass
            assert not single.is_preempted(READ)
        waiting.result(BOUND)
    assert not single.is_preempted(TELEMETRY)
