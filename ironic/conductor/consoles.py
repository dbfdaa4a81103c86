"""Opening and closing the console of a machine, and where it is reached.

The node says whether its console is open; a console that is open already may be opened again, which repairs one that
broke.
"""

from typing import Any

from ironic.conductor import background, telling
from ironic.conductor.background import Work
from ironic.conductor.task import Task


def start(task: Task, enabled: bool) -> None:
    """Begin to open or close the console, or refuse it."""
    task.driver.require("console").validate(task)
    what = "opening the console" if enabled else "closing the console"
    background.begin(task, Work(what, "console", _switch), enabled)


def address(task: Task) -> dict[str, Any]:
    """Return how to reach the open console."""
    console = task.driver.require("console")
    console.validate(task)
    found: dict[str, Any] = console.get_console(task)
    return found


def _switch(task: Task, enabled: bool) -> None:
    console = task.driver.require("console")
    with telling.console_set(task):
        (console.start_console if enabled else console.stop_console)(task)
        task.node.console_enabled = enabled
