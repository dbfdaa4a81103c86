"""A clock that jumps: time stands still while a thread works, and goes to the next deadline when all of them wait.

One thread works at a time. It hands the turn on when it waits or ends, and a seed decides which of those that may go on
gets it, so the same seed gives the same order. Every thread must wait by this clock and be made by `JumpingThreads`;
the one that makes the clock has the first turn.
"""

import random
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

from ironic.core.clock import Clock
from ironic.core.threads import Threads

_BEGIN: Final = datetime(2026, 1, 1)
# Seconds of this host within which a thread that has the turn hands it on.
_PATIENCE: Final = 60.0

T = TypeVar("T")


class _Waiting:
    """A thread that waits for its turn, which it may have once it is ready or its time is over."""

    def __init__(self, is_ready: Callable[[], bool], until: float | None) -> None:
        self.is_ready, self.until = is_ready, until
        self.gate = threading.Lock()
        self.gate.acquire()


class JumpingClock(Clock):
    """Time, chance and turns by a seed."""

    def __init__(self, seed: int) -> None:
        self._seconds = 0.0
        self._turns = random.Random(seed)
        self._waiting: list[_Waiting] = []
        self._turns_given = 0
        self._fault: str | None = None
        super().__init__()
        self.chance = random.Random(seed)

    def now(self) -> datetime:
        return _BEGIN + timedelta(seconds=self._seconds)

    def epoch(self) -> float:
        return self.now().replace(tzinfo=UTC).timestamp()

    def monotonic(self) -> float:
        return self._seconds

    def event(self) -> threading.Event:
        return _Event(self)

    def condition(self) -> threading.Condition:
        return _Condition(self)

    def delay(self, seconds: float) -> None:
        self.wait(lambda: False, seconds)

    def wait(self, is_ready: Callable[[], bool], seconds: float | None = None) -> None:
        """Let others work until it is ready or so many seconds are over."""
        mine = self.queue(is_ready, seconds)
        self.hand_on()
        self.await_turn(mine)

    def queue(self, is_ready: Callable[[], bool], seconds: float | None = None) -> _Waiting:
        """Note a thread that is going to wait for its turn."""
        waiting = _Waiting(is_ready, None if seconds is None else self._seconds + max(0.0, seconds))
        self._waiting.append(waiting)
        return waiting

    def await_turn(self, waiting: _Waiting) -> None:
        """Return when the thread has its turn."""
        seen = -1
        while not waiting.gate.acquire(timeout=_PATIENCE):
            if seen == self._turns_given:
                raise AssertionError("the thread that has the turn waits by another clock")
            seen = self._turns_given
        if self._fault:
            raise AssertionError(self._fault)

    def hand_on(self) -> None:
        """Give the turn to another thread, or back to this one."""
        ready = self._ready()
        if not ready and (deadlines := [one.until for one in self._waiting if one.until is not None]):
            self._seconds = min(deadlines)
            ready = self._ready()
        if not ready:
            self._fault = "all threads wait for each other"
            ready = self._waiting[:1]
        chosen = self._turns.choice(ready)
        self._waiting.remove(chosen)
        self._turns_given += 1
        chosen.gate.release()

    def _ready(self) -> list[_Waiting]:
        now = self._seconds
        return [one for one in self._waiting if (one.until is not None and one.until <= now) or one.is_ready()]


class _Event(threading.Event):
    def __init__(self, clock: JumpingClock) -> None:
        super().__init__()
        self._clock = clock

    def wait(self, timeout: float | None = None) -> bool:
        if not self.is_set():
            self._clock.wait(self.is_set, timeout)
        return self.is_set()


class _Condition(threading.Condition):
    def __init__(self, clock: JumpingClock) -> None:
        super().__init__()
        self._clock = clock
        self._unwoken: list[object] = []

    def wait(self, timeout: float | None = None) -> bool:
        mine = object()
        self._unwoken.append(mine)
        self.release()
        try:
            self._clock.wait(lambda: mine not in self._unwoken, timeout)
        finally:
            self.acquire()
        is_woken = mine not in self._unwoken
        if not is_woken:
            self._unwoken.remove(mine)
        return is_woken

    def wait_for(self, predicate: Callable[[], T], timeout: float | None = None) -> T:
        until = None if timeout is None else self._clock.monotonic() + timeout
        while not (result := predicate()):
            left = None if until is None else until - self._clock.monotonic()
            if left is not None and left <= 0:
                break
            self.wait(left)
        return result

    def notify(self, n: int = 1) -> None:
        del self._unwoken[:n]

    def notify_all(self) -> None:
        self._unwoken.clear()


class JumpingThreads(Threads):
    """Threads that work by turns of one clock."""

    def __init__(self, clock: JumpingClock) -> None:
        self._clock = clock

    def make(self, name: str, act: Callable[..., object], *args: object) -> threading.Thread:
        return _Thread(self._clock, name, act, args)


class _Thread(threading.Thread):
    def __init__(self, clock: JumpingClock, name: str, act: Callable[..., object], args: tuple[Any, ...]) -> None:
        super().__init__(target=act, args=args, name=name, daemon=True)
        self._clock, self._is_over = clock, False

    def start(self) -> None:
        self._place = self._clock.queue(lambda: True)
        super().start()

    def run(self) -> None:
        self._clock.await_turn(self._place)
        try:
            super().run()
        finally:
            self._is_over = True
            self._clock.hand_on()

    def join(self, timeout: float | None = None) -> None:
        if not self._is_over:
            self._clock.wait(lambda: self._is_over, timeout)
        if self._is_over:
            super().join()
