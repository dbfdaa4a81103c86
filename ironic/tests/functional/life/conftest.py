"""An account of what the battery has tried."""

import pytest

from ironic.tests.functional.life import battery


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was tried and survived."""
    lines = list(battery.table())
    if lines:
        terminalreporter.section("battery: tried and survived")
        for line in lines:
            terminalreporter.write_line(line)
