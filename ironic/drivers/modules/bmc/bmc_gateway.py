"""The gateway to one BMC: how many requests it gets at once, in which order, and how fast.

BMCs are slow, and one that hangs must not take the workers of the others. All requests of this conductor to one server
go through its `Gateway`, whatever part sends them. Requests are of a class (`CallClass`). One place is kept for changes
of power, which therefore never wait behind telemetry. Telemetry gets at most half of the time of a BMC: after each
request it pauses as long as the request took. A BMC whose answers take long gets one other request at a time, and only
a few operations may wait for it; any further one fails at once. Protocols differ in how many requests they may have
under way and how far apart (`RequestLimits`); a BMC with one place gives it to the most urgent request that waits.

Equal reads within a moment are one request: `read_once` returns the answer that another thread is waiting for, or one
that is a moment old. Any change of the machine ends the moment. No read waits for one of a class behind its own.
"""

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import Any, ClassVar, Final, TypeVar
from weakref import WeakValueDictionary

from ironic.conf import CONF
from ironic.core.clock import CLOCK
from ironic.core.patience import LONGEST

T = TypeVar("T")
Clock = Callable[[], float]

# Part of the last request in the average of the latencies.
_NEWEST: Final = 0.3
# Seconds between two looks whether the service stops.
_GLANCE: Final = 0.5
_LONGEST_PAUSE: Final = 5.0
_MIB: Final = 1024 * 1024


class CallClass(Enum):
    """What a request is for; in order of precedence."""

    POWER = "power"
    CHANGE = "change"
    READ = "read"
    TELEMETRY = "telemetry"

    @property
    def is_patient(self) -> bool:
        """Whether a worker waits for the answer because a user or an operation needs it."""
        return self is not CallClass.TELEMETRY


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What a protocol allows at one BMC: requests under way, and seconds from the end of one to the next."""

    places: Callable[[], int]
    pause: Callable[[], float] = lambda: 0.0


# Several requests at once, without a pause.
CONCURRENT: Final = RequestLimits(lambda: int(CONF.bmc.concurrent_requests))

# The classes that go before each one.
_BEFORE: Final = {kind: tuple(CallClass)[:number] for number, kind in enumerate(CallClass)}


class BmcBusy(Exception):
    """The BMC has no room for the request; the text says why."""


class Exhausted(Exception):
    """An operation took too much time or too many requests; the text says which."""


@dataclass(slots=True, eq=False)
class Operation:
    """One operation at a BMC: its class, when it has to end, and what it has read."""

    kind: CallClass
    # Whether it reads anew what was read a moment ago.
    anew: bool = False
    # Whether others, of any class, wait for its next requests.
    is_awaited: bool = False
    until: float = 0.0
    longest: float = 0.0
    requests: int = 0
    received: int = 0
    # Answers that did not come, and that the operation goes on without.
    lost: int = 0
    paths: set[str] = field(default_factory=set)

    # An operation that reads more follows a BMC in a circle.
    MOST_REQUESTS: ClassVar[int] = 1500
    # How many of the largest answers it may read: it keeps them all in memory.
    MOST_LARGEST: ClassVar[int] = 8
    # Answers without which it goes on; each may take as long as a BMC has for an answer.
    MOST_LOST: ClassVar[int] = 2

    @property
    def precedence(self) -> CallClass:
        """The class by which its next request gets a place."""
        return CallClass.POWER if self.is_awaited else self.kind

    def seconds_left(self, now: float, longest: float) -> float:
        """Return for how long its next request may take, ``longest`` at most; raise Exhausted when it is over."""
        self.requests += 1
        if self.requests > self.MOST_REQUESTS:
            raise Exhausted(f"it needs more than {self.MOST_REQUESTS} requests")
        if now >= self.until:
            raise self.too_late()
        return min(longest, self.until - now)

    def take(self, size: int) -> None:
        """Count the bytes of an answer; raise Exhausted when all answers have too many."""
        self.received += size
        most = self.MOST_LARGEST * CONF.bmc.largest_answer * _MIB
        if self.received > most:
            raise Exhausted(f"its answers have more than {most} bytes together, the limit")

    def may_lose_another(self) -> bool:
        """Count an answer that did not come; return whether the operation may go on without it."""
        self.lost += 1
        return self.lost <= self.MOST_LOST

    def too_late(self) -> Exhausted:
        """Return the error of an operation whose time is over."""
        return Exhausted(f"it takes longer than {self.longest:g} seconds")


# The operation that a thread runs now, where a library stands between it and the requests that belong to it.
RUNNING: Final[ContextVar[Operation]] = ContextVar("operation_at_bmc")


def operation_seconds(kind: CallClass) -> float:
    """Return for how long all requests of an operation may take together."""
    seconds: int = CONF.bmc.operation_timeout
    return seconds if kind.is_patient else seconds / 5


class Gateway:
    """The gateway to one server; safe to use from any thread."""

    def __init__(self, name: str, clock: Clock = CLOCK.monotonic, limits: RequestLimits = CONCURRENT) -> None:
        self.name, self.clock, self._limits = name, clock, limits
        self._changed = CLOCK.condition()
        self._running: Counter[CallClass] = Counter()
        self._waiting: Counter[CallClass] = Counter()
        # The earliest first.
        self._operations: dict[Operation, None] = {}
        # When each request under way began.
        self._began: dict[object, float] = {}
        self._latency = 0.0
        self._next_request = self._next_telemetry = 0.0
        # Counts the changes of machines; what was read before one is not used after it.
        self.changes = 0
        # Reads under way, each with the class of who reads.
        self._shared: dict[tuple[int, str], tuple[CallClass, Future[Any]]] = {}

    # Operations

    @contextmanager
    def operation(self, kind: CallClass, *, anew: bool = False, seconds: float | None = None) -> Iterator[Operation]:
        """Run an operation of a class, for its usual time or so many seconds; it is ``RUNNING`` in the block.

        Raise BmcBusy when the BMC is slow and has enough operations.
        """
        longest = min(LONGEST.get(), operation_seconds(kind) if seconds is None else seconds)
        made = Operation(kind, anew, until=self.clock() + longest, longest=longest)
        with self._changed:
            self._operations[made] = None
        token = RUNNING.set(made)
        try:
            if self.is_slow:
                self._require_share(made, "it answers slowly")
            yield made
        finally:
            RUNNING.reset(token)
            with self._changed:
                del self._operations[made]

    @contextmanager
    def held(self, lock: "threading.Lock | threading.RLock") -> Iterator[float]:
        """Hold a lock that others hold during requests, no longer than the operation has; return what is left of it.

        The requests in the block go first: orders may wait for the lock.
        """
        running = RUNNING.get()
        if not lock.acquire(timeout=max(0.0, running.until - self.clock())):
            raise running.too_late()
        before, running.is_awaited = running.is_awaited, True
        try:
            yield max(0.0, running.until - self.clock())
        finally:
            running.is_awaited = before
            lock.release()

    def _require_share(self, operation: Operation, why: str) -> None:
        """Raise BmcBusy unless an operation is one of the earliest, which may take workers of a BMC in trouble."""
        with self._changed:
            limit = CONF.bmc.workers_at_slow_bmc // (1 if operation.kind.is_patient else 2)
            # An order to change the power is never turned away.
            if operation.kind is CallClass.POWER or operation in islice(self._operations, limit):
                return
            others = len(self._operations) - 1
        raise BmcBusy(f"{why}, and {others} other operations wait for it already; try again later")

    @property
    def is_slow(self) -> bool:
        """Whether the last answers took long, or one is overdue."""
        limit: float = CONF.bmc.slow_seconds
        now = self.clock()
        overdue = now - min(self._began.values(), default=now)
        return self._latency > limit or overdue > limit

    # Requests

    @contextmanager
    def request(self, kind: CallClass, seconds: float) -> Iterator[None]:
        """Wait for a place, at most so many seconds, and hold it during one request; raise BmcBusy without one."""
        key = self._enter(kind, seconds)
        try:
            yield
        finally:
            self._leave(key, kind)

    def _enter(self, kind: CallClass, seconds: float) -> object:
        until, key = self.clock() + seconds, object()
        with self._changed:
            self._waiting[kind] += 1
            try:
                while not self._has_place(kind):
                    left = until - self.clock()
                    if left <= 0:
                        raise BmcBusy(f"it had no room for the request within {seconds:g} seconds")
                    if not CLOCK.sleep(0):
                        raise BmcBusy("the service stops")
                    self._changed.wait(min(left, self._seconds_to_next(kind) or _GLANCE, _GLANCE))
            finally:
                self._waiting[kind] -= 1
            self._running[kind] += 1
            self._began[key] = self.clock()
        return key

    def _leave(self, key: object, kind: CallClass) -> None:
        with self._changed:
            now = self.clock()
            took = now - self._began.pop(key)
            self._latency += _NEWEST * (took - self._latency)
            self._running[kind] -= 1
            self._next_request = now + self._limits.pause()
            if kind is CallClass.TELEMETRY:
                self._next_telemetry = now + min(took, _LONGEST_PAUSE)
            self._changed.notify_all()

    def _has_place(self, kind: CallClass) -> bool:
        places = self._limits.places()
        if self._running.total() >= places or self._seconds_to_next(kind) > 0:
            return False
        if any(self._waiting[urgent] for urgent in _BEFORE[kind]):
            return False
        if kind is CallClass.POWER:
            return True
        # One place is kept for power, where there are several.
        others = self._running.total() - self._running[CallClass.POWER]
        if others >= (1 if self.is_slow else max(1, places - 1)):
            return False
        return kind is not CallClass.TELEMETRY or not self._running[kind]

    def is_preempted(self, kind: CallClass) -> bool:
        """Return whether telemetry under way must end early: something more urgent waits, or the service stops."""
        return not kind.is_patient and (any(self._waiting[urgent] for urgent in _BEFORE[kind]) or not CLOCK.sleep(0))

    def _seconds_to_next(self, kind: CallClass) -> float:
        begins = max(self._next_request, self._next_telemetry if kind is CallClass.TELEMETRY else 0.0)
        return max(0.0, begins - self.clock())

    # Equal reads

    def read_once(
        self, key: str, operation: Operation, fetch: Callable[[], T], is_small: Callable[[T], bool] = lambda _: True
    ) -> T:
        """Return what ``fetch`` returns for a key, or what it returned to another thread within a moment.

        An operation that reads a key for the second time gets it anew, and so does one that wants to; it still shares
        an answer that another thread waits for, unless that one has to give way to it. Only small answers are kept for
        a moment.
        """
        again = operation.anew or key in operation.paths
        operation.paths.add(key)
        shared: Future[T] | None
        with self._changed:
            place = (self.changes, key)
            if not again and (found := RECENT.get(self, place)) is not None:
                kept: T = found[0]
                return kept
            kind, shared = self._shared.get(place, (operation.kind, None))
            if shared is None or operation.kind in _BEFORE[kind]:
                mine: Future[T] = Future()
                self._shared[place] = operation.kind, mine
                shared = None
        if shared is not None:
            return self._join(shared, operation, fetch)
        try:
            value = fetch()
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            mine.set_result(value)
            if is_small(value):
                RECENT.put(self, place, value)
            return value
        finally:
            with self._changed:
                if self._shared.get(place) == (operation.kind, mine):
                    del self._shared[place]
                self._changed.notify_all()

    def _join(self, shared: "Future[T]", operation: Operation, fetch: Callable[[], T]) -> T:
        """Wait for the answer to another thread; an error of that thread is its own.

        A crowd that waits for a BMC that turns out to be slow, or for one that fails, must not take all workers.
        """
        until = self.clock() + operation.seconds_left(self.clock(), operation.longest)
        while not self._is_done(shared):
            if self.clock() >= until:
                raise operation.too_late()
            if self.is_slow:
                self._require_share(operation, "it answers slowly")
        try:
            return shared.result()
        except Exception:
            self._require_share(operation, "it has just failed")
            return fetch()

    def _is_done(self, shared: "Future[T]") -> bool:
        with self._changed:
            return self._changed.wait_for(shared.done, _GLANCE)

    def machine_changes(self) -> None:
        """End the moment: what was read before is not used any more."""
        with self._changed:
            self.changes += 1


class RecentAnswers:
    """The answers of all BMCs that are a moment old: few at a time, as a moment is short."""

    SECONDS: ClassVar[float] = 1.0
    _MOST: ClassVar[int] = 256

    def __init__(self, clock: Clock = CLOCK.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._kept: OrderedDict[tuple[str, int, str], tuple[float, Any]] = OrderedDict()

    def get(self, gateway: Gateway, place: tuple[int, str]) -> tuple[Any] | None:
        """Return the value of a place in a tuple of its own, or None."""
        with self._lock:
            found = self._kept.get((gateway.name, *place))
        return None if found is None or self._clock() - found[0] > self.SECONDS else (found[1],)

    def put(self, gateway: Gateway, place: tuple[int, str], value: object) -> None:
        """Remember a value, and forget those whose moment is over."""
        now = self._clock()
        with self._lock:
            self._kept.pop((gateway.name, *place), None)
            self._kept[(gateway.name, *place)] = now, value
            while self._kept:
                oldest = next(iter(self._kept.values()))
                if len(self._kept) <= self._MOST and now - oldest[0] <= self.SECONDS:
                    break
                self._kept.popitem(last=False)

    def __len__(self) -> int:
        return len(self._kept)


RECENT = RecentAnswers()

_GATEWAYS: "WeakValueDictionary[str, Gateway]" = WeakValueDictionary()
_LOCK = threading.Lock()


def gateway_to(server: str, limits: RequestLimits = CONCURRENT) -> Gateway:
    """Return the gateway of this process to a server, such as ``https://192.0.2.1:443``; it lives while it is used."""
    with _LOCK:
        found = _GATEWAYS.get(server)
        if found is None:
            found = _GATEWAYS[server] = Gateway(server, limits=limits)
        return found
