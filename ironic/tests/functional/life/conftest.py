"""Which of these tests run: a selection, or with IRONIC_BATTERY=1 (`make battery`) all of them, with an account."""

import os

import pytest

from ironic.tests.functional.life import battery


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is for the whole battery only."""
    if os.environ.get("IRONIC_BATTERY"):
        return
    left = [item for item in items if item.get_closest_marker("battery")]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was tried and survived."""
    lines = list(battery.table())
    if lines:
        terminalreporter.section("battery: tried and survived")
        for line in lines:
            terminalreporter.write_line(line)
