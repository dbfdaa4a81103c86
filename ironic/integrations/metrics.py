"""Metrics of this process: timers, counters and gauges, sent or kept as [metrics]backend says.

Whatever is measured has a `Metrics` with the prefix of its names; all of them share `METRICS`, which is off until the
program opens it, and stays off with the backend noop: then a call of something measured costs one comparison more. No
operation waits for a metric or fails with one.

A full name is ``[global_prefix.][host.]prefix.name``. Names are derived from classes and routes, so their number is
bounded. doc/metrics.md lists the families.
"""

import functools
import random
import re
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Protocol, TypeVar

from oslo_config import cfg

from ironic.integrations.statsd import StatsdSender

Function = TypeVar("Function", bound=Callable[..., Any])

_MILLISECONDS: Final = 1000

# What separates the parts of a statsd packet.
_SEPARATORS: Final = re.compile(r"[\s:|@]")


class Backend(Protocol):
    """Takes what was measured."""

    def timer(self, name: str, milliseconds: float) -> None: ...
    def counter(self, name: str, value: int, sample_rate: float | None) -> None: ...
    def gauge(self, name: str, value: float) -> None: ...
    def close(self) -> None: ...


class Collector:
    """Keeps what was measured since it was made."""

    def __init__(self) -> None:
        self._entries: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def timer(self, name: str, milliseconds: float) -> None:
        """Add a time to the sum of its timer."""
        with self._lock:
            entry = self._entries.setdefault(name, {"count": 0, "sum": 0.0, "type": "timer"})
            entry["count"] += 1
            entry["sum"] += milliseconds

    def counter(self, name: str, value: int, sample_rate: float | None) -> None:
        """Add to a counter."""
        with self._lock:
            self._entries.setdefault(name, {"count": 0, "type": "counter"})["count"] += value

    def gauge(self, name: str, value: float) -> None:
        """Replace the value of a gauge."""
        with self._lock:
            self._entries[name] = {"value": value, "type": "gauge"}

    def collected(self) -> dict[str, dict[str, Any]]:
        """Return a copy of all entries by name."""
        with self._lock:
            return {name: dict(entry) for name, entry in self._entries.items()}

    def close(self) -> None:
        """Do nothing: what was kept goes with the collector."""


class ProcessMetrics:
    """The backend of this process, with what stands in front of all names."""

    def __init__(self) -> None:
        self.on = False
        self._backend: Backend = Collector()
        self._front = ""

    def open(self, backend: Backend, front: str = "") -> None:
        """Begin to measure; ``front`` is put before each name."""
        self._backend, self._front, self.on = backend, front, True

    def open_from(self, conf: cfg.ConfigOpts) -> None:
        """Begin to measure if the options name a backend that takes something."""
        match conf.metrics.backend:
            case "statsd":
                self.open(StatsdSender(conf.metrics_statsd.statsd_host, conf.metrics_statsd.statsd_port), _front(conf))
            case "collector":
                self.open(Collector(), _front(conf))

    def close(self) -> None:
        """Measure no more."""
        self.on = False
        self._backend.close()
        self._backend, self._front = Collector(), ""

    def timer(self, name: str, milliseconds: float) -> None:
        """Pass on a time, if this process measures."""
        if self.on:
            self._backend.timer(self._front + name, milliseconds)

    def counter(self, name: str, value: int = 1, sample_rate: float | None = None) -> None:
        """Pass on an increment, if this process measures; with a sample rate (0 to 1) only in this share of calls."""
        if self.on and (sample_rate is None or random.random() < sample_rate):
            self._backend.counter(self._front + name, value, sample_rate)

    def gauge(self, name: str, value: float) -> None:
        """Pass on a present value, if this process measures."""
        if self.on:
            self._backend.gauge(self._front + name, value)

    def collected(self) -> dict[str, dict[str, Any]]:
        """Return what is kept here by full name; nothing unless the backend is collector.

        A timer has ``{"count", "sum" (milliseconds), "type"}``, a counter ``{"count", "type"}``, a gauge
        ``{"value", "type"}``. Counts and sums begin with the process and never fall.
        """
        return self._backend.collected() if isinstance(self._backend, Collector) else {}


METRICS: Final = ProcessMetrics()


def _front(conf: cfg.ConfigOpts) -> str:
    """Return ``global_prefix.host.`` as far as the options want it."""
    parts = [conf.metrics.global_prefix] if conf.metrics.global_prefix else []
    if conf.metrics.prepend_host:
        host = conf.host.split(".")
        parts.append(".".join(reversed(host) if conf.metrics.prepend_host_reverse else host))
    return "".join(f"{_SEPARATORS.sub('_', part)}." for part in parts)


class Metrics:
    """The metrics below one prefix: decorators for what is measured, and ways to send a value.

    Decorated functions behave as before; what raises an error is not measured.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def timer(self, name: str) -> "Timer":
        """Return a decorator and context manager that measures milliseconds."""
        return Timer(self._full(name))

    def counter(self, name: str, sample_rate: float | None = None) -> Callable[[Function], Function]:
        """Return a decorator that counts calls, or with a rate from 0 to 1 a sample of them."""
        full = self._full(name)
        _check_rate(sample_rate)
        return _after_each_call(lambda _result: METRICS.counter(full, 1, sample_rate))

    def gauge(self, name: str) -> Callable[[Function], Function]:
        """Return a decorator that sends the result of a function, a number."""
        full = self._full(name)
        return _after_each_call(lambda result: METRICS.gauge(full, result))

    def send_timer(self, name: str, value: float) -> None:
        """Send a time in milliseconds."""
        METRICS.timer(self._full(name), value)

    def send_counter(self, name: str, value: int, sample_rate: float | None = None) -> None:
        """Add to a counter, or with a rate from 0 to 1 in a sample of the calls."""
        _check_rate(sample_rate)
        METRICS.counter(self._full(name), value, sample_rate)

    def send_gauge(self, name: str, value: float) -> None:
        """Send the present value of a gauge."""
        METRICS.gauge(self._full(name), value)

    def _full(self, name: str) -> str:
        if not isinstance(name, str):
            raise TypeError(f"The name of a metric is a text, not {name!r}.")
        return f"{self._prefix}.{name}" if self._prefix else name


class Timer:
    """Measures one function at each call, or one block of code, also one that ends with an error."""

    def __init__(self, name: str) -> None:
        self._name, self._began = name, 0.0

    def __call__(self, function: Function) -> Function:
        name = self._name

        @functools.wraps(function)
        def measured(*args: Any, **kwargs: Any) -> Any:
            if not METRICS.on:
                return function(*args, **kwargs)
            began = time.perf_counter()
            result = function(*args, **kwargs)
            METRICS.timer(name, (time.perf_counter() - began) * _MILLISECONDS)
            return result

        return measured  # type: ignore[return-value]  # it takes and returns the same

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        METRICS.timer(self._name, (time.perf_counter() - self._began) * _MILLISECONDS)


def _after_each_call(act: Callable[[Any], None]) -> Callable[[Function], Function]:
    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def measured(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            act(result)
            return result

        return measured  # type: ignore[return-value]  # it takes and returns the same

    return decorate


def _check_rate(rate: float | None) -> None:
    if rate is not None and not 0 <= rate <= 1:
        raise ValueError(f"A sample rate is a number from 0 to 1, not {rate}.")
