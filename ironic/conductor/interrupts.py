"""Waking a machine that hangs: a non-maskable interrupt, sent while the user waits."""

from ironic.conductor.task import Task


def inject(task: Task) -> None:
    """Send the interrupt."""
    management = task.driver.require("management")
    management.validate(task)
    management.inject_nmi(task)
