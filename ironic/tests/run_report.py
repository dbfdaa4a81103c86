"""What a run of the tests says at its end, and what fails it beside a test; a plug-in of pytest, named in setup.cfg."""

from collections import Counter, defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest

_OK: Final = pytest.ExitCode.OK
_NOTHING_RAN: Final = pytest.ExitCode.NO_TESTS_COLLECTED
_BEFORE: Final = pytest.StashKey[frozenset[str]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Replace halves of characters in what a test has logged: a worker that has to report one ends."""
    report = yield
    report.sections = [(name, text.encode(errors="replace").decode()) for name, text in report.sections]
    return report


def pytest_sessionstart(session: pytest.Session) -> None:
    """Note what the checkout has at its top."""
    session.config.stash[_BEFORE] = _top(session.config)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which something was skipped, passed at its second try only, or was left in the checkout."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or session.exitstatus not in (_OK, _NOTHING_RAN):
        return
    if reporter.stats.get("skipped") or reporter.stats.get("rerun") or _left(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(trylast=True)
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
        suite = _suite_of(report.nodeid)
        seconds[suite] += report.duration
        tests[suite] += report.when == "call"
    terminalreporter.section("suites")
    for suite in sorted(seconds):
        terminalreporter.write_line(f"{suite:<24} {tests[suite]:>5} tests {seconds[suite]:>7.1f} s")
    for report in terminalreporter.getreports("skipped"):
        terminalreporter.write_line(f"SKIPPED, which fails the run: {report.nodeid}", red=True)
    failed = {report.nodeid for kind in ("failed", "error") for report in terminalreporter.getreports(kind)}
    for nodeid in sorted({report.nodeid for report in terminalreporter.getreports("rerun")} - failed):
        terminalreporter.write_line(f"FLAKY, which fails the run: {nodeid}", red=True, bold=True)
    for name in _left(terminalreporter.config):
        terminalreporter.write_line(f"LEFT in the checkout, which fails the run: {name}", red=True)


def _top(config: pytest.Config) -> frozenset[str]:
    """Return the names at the top of the checkout, without hidden ones and compiled modules."""
    names = (path.name for path in Path(config.rootpath).iterdir())
    return frozenset(name for name in names if not name.startswith((".", "__")))


def _left(config: pytest.Config) -> list[str]:
    before = config.stash[_BEFORE]
    return sorted(_top(config) - before)


def _suite_of(nodeid: str) -> str:
    """Return unit, scenario, or functional with the part below it."""
    parts = nodeid.removeprefix("ironic/tests/").split("/")
    return "/".join(parts[:2] if parts[0] == "functional" else parts[:1])
