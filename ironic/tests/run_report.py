"""What a run of the tests says at its end, and what fails it beside a test; a plug-in of pytest, named in setup.cfg."""

from collections import Counter, defaultdict
from collections.abc import Generator
from typing import Final

import pytest

_OK: Final = pytest.ExitCode.OK
_NOTHING_RAN: Final = pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Replace halves of characters in what a test has logged: a worker that has to report one ends."""
    report = yield
    report.sections = [(name, text.encode(errors="replace").decode()) for name, text in report.sections]
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which something was skipped: what is missing for a test is a fault of the build."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and reporter.stats.get("skipped") and session.exitstatus in (_OK, _NOTHING_RAN):
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
        terminalreporter.write_line(f"FLAKY, to be mended before anything else lands: {nodeid}", red=True, bold=True)


def _suite_of(nodeid: str) -> str:
    """Return unit, scenario, or functional with the part below it."""
    parts = nodeid.removeprefix("ironic/tests/").split("/")
    return "/".join(parts[:2] if parts[0] == "functional" else parts[:1])
