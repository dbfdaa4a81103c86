"""Fixtures for every test of the project, and which tests run and in which order."""

import gc
import logging
import os
import socket
from collections.abc import Callable, Iterator
from typing import Any, Final

import hypothesis
import pytest

from ironic.conf import CONF
from ironic.integrations.metrics import METRICS
from ironic.tests import transaction_guard
from ironic.tests.effort import examples

# What several suites share asserts as well, whoever imports it first.
pytest.register_assert_rewrite("ironic.tests.suites")

Setter = Callable[..., None]


def _allow_loopback() -> None:
    """Have the service contact what tests offer to it, which is on the loopback; `CONF.reset()` forgets it."""
    CONF.set_default("allow_loopback", True, group="outgoing")


_allow_loopback()
# An example may take long on a machine that does other things as well.
hypothesis.settings.register_profile("patient", deadline=None, max_examples=examples(100))
hypothesis.settings.load_profile("patient")
transaction_guard.install()
transaction_guard.install_in_programs()


@pytest.fixture(autouse=True)
def _no_call_in_a_transaction() -> Iterator[None]:
    """Fail a test in which something was called while a transaction was open, even when the error was caught."""
    transaction_guard.seen.clear()
    yield
    assert transaction_guard.seen == [], "called while a transaction was open"


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """Take back what a test has set up of logging: more is logged, and more slowly, in all tests after it otherwise."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


@pytest.fixture(autouse=True)
def _loopback() -> None:
    _allow_loopback()


@pytest.fixture
def conf() -> Iterator[Setter]:
    """Return a function that sets options until the test ends: `conf(host="c1", conductor__automated_clean=False)`.

    A name without a double underscore is an option of [DEFAULT]; otherwise the group stands before it. Values are
    checked against the option's type, so `conf(fake__power_delay="2")` takes what a file would hold. `$name` in a value
    refers to an option of [DEFAULT] only.
    """
    yield from _setting()


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Return a table of host names to fill, each with the addresses of one look-up after the other."""
    table: dict[str, list[str]] = {}
    ask = socket.getaddrinfo

    def look_up(host: Any, port: Any, *args: Any, **options: Any) -> Any:
        if host in table:
            answers = table[host].pop(0) if len(table[host]) > 1 else table[host][0]
            return [found for one in answers.split() for found in ask(one, port, *args, **options)]
        return ask(host, port, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return table


@pytest.fixture
def measure(conf: Setter) -> Iterator[Callable[[], None]]:
    """Return a function that has this process measure until the test ends, as the options say by then."""
    yield lambda: METRICS.open_from(CONF)
    METRICS.close()


@pytest.fixture(scope="module")
def module_conf() -> Iterator[Setter]:
    """Return a function like that of `conf`, for a service that all tests of a module share."""
    yield from _setting()


def _setting() -> Iterator[Setter]:
    changed: list[tuple[str, str | None]] = []

    def set_options(**values: Any) -> None:
        for key, value in values.items():
            group, _, name = key.rpartition("__")
            CONF.set_override(name, value, group or None)
            changed.append((name, group or None))

    yield set_options
    for name, group in reversed(changed):
        CONF.clear_override(name, group)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--demand S48`, which may be repeated: run only tests that prove one of these demands."""
    parser.addoption("--demand", action="append", default=[], help="run only tests marked with this demand (S48)")


# What has files that take long, the longest first, by the beginning of its path. No worker is left with one when the
# others are done.
_LONG: Final = (
    "functional/life",
    "scenario",
    "functional/fuzz",
    "functional/bus",
    "functional/live",
    "functional/db",
    "functional/rpc",
    "unit/test_",
)
# Marks of tests that an ordinary run leaves out, and the variable of the environment by which they run.
_APART: Final = {"battery": "IRONIC_BATTERY", "packages": "IRONIC_PACKAGES"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put what takes long first; deselect what has a run of its own, and what proves none of the demands asked for."""
    items.sort(key=_turn)
    apart = {mark for mark, variable in _APART.items() if not os.environ.get(variable)}
    left = [one for one in items if any(one.get_closest_marker(mark) for mark in apart)]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [one for one in items if one not in left]
    if chosen := set(config.getoption("--demand")):
        proving = [one for one in items if any(chosen.intersection(mark.args) for mark in one.iter_markers("demand"))]
        config.hook.pytest_deselected(items=[one for one in items if one not in proving])
        items[:] = proving


def _turn(item: pytest.Item) -> int:
    path = item.nodeid.removeprefix("ironic/tests/")
    return next((turn for turn, start in enumerate(_LONG) if path.startswith(start)), len(_LONG))


def pytest_collection_finish() -> None:
    """Have no collection of garbage walk through all modules and tests again: it would take a second, and often."""
    gc.collect()
    gc.freeze()
