"""Fixtures for every test of the project, and the account of how long each suite took."""

import gc
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator
from typing import Any, Final

import hypothesis
import pytest

from ironic.conf import CONF
from ironic.integrations.metrics import METRICS
from ironic.tests import transaction_guard
from ironic.tests.effort import examples

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


# Suites with files that take minutes. They begin first, so that no worker is left with one when the others are done.
_LONG: Final = ("functional/life", "functional/bus", "scenario", "functional/fuzz", "functional/live")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the suites with long files first; deselect what proves none of the demands on the command line, if any."""
    items.sort(key=lambda one: _suite(one.nodeid) not in _LONG)
    if chosen := set(config.getoption("--demand")):
        proving = [one for one in items if any(chosen.intersection(mark.args) for mark in one.iter_markers("demand"))]
        config.hook.pytest_deselected(items=[one for one in items if one not in proving])
        items[:] = proving


def pytest_collection_finish() -> None:
    """Have no collection of garbage walk through all modules and tests again: it would take a second, and often."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Replace halves of characters in what a test has logged: a worker that has to report one ends."""
    report = yield
    report.sections = [(name, text.encode(errors="replace").decode()) for name, text in report.sections]
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how long the tests of each suite took, added up over all processes, and why those failed that ran again."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"ran again: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
        terminalreporter.write_line(report.caplog)
    seconds: defaultdict[str, float] = defaultdict(float)
    tests: Counter[str] = Counter()
    for report in (
        each for kind in terminalreporter.stats.values() for each in kind if isinstance(each, pytest.TestReport)
    ):
        suite = _suite(report.nodeid)
        seconds[suite] += report.duration
        tests[suite] += report.when == "call"
    terminalreporter.section("suites")
    for suite in sorted(seconds):
        terminalreporter.write_line(f"{suite:<24} {tests[suite]:>5} tests {seconds[suite]:>7.1f} s")


def _suite(nodeid: str) -> str:
    """Return unit, scenario, or functional with the part below it."""
    parts = nodeid.removeprefix("ironic/tests/").split("/")
    return "/".join(parts[:2] if parts[0] == "functional" else parts[:1])
