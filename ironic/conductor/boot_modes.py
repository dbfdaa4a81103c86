"""How a machine's firmware starts things: boot mode and secure boot.

Both are changed in the background, and not while something else is under way on the machine, which would find itself on
another footing after its next reboot. Source: facts/state_machine.yaml, permissions.
"""

from typing import Any

from ironic.conductor import background
from ironic.conductor.background import Work
from ironic.conductor.task import Task
from ironic.core import states
from ironic.core.errors import InvalidState, UnsupportedDriverExtension


def start_mode(task: Task, mode: str) -> None:
    """Begin to set the boot mode, or refuse it."""
    _check(task, "change the boot mode")
    background.begin(task, Work(f"setting boot mode '{mode}'", "boot mode", set_mode), mode)


def start_secure_boot(task: Task, on: bool) -> None:
    """Begin to turn secure boot on or off, or refuse it."""
    _check(task, "change secure boot")
    what = "turning secure boot on" if on else "turning secure boot off"
    background.begin(task, Work(what, "secure boot", _set_secure_boot), on)


def current(task: Task) -> str | None:
    """Return the boot mode as the machine reports it, None when it does not tell."""
    try:
        mode: str | None = _management(task).get_boot_mode(task)
    except UnsupportedDriverExtension:
        return None
    return mode


def set_mode(task: Task, mode: str) -> None:
    """Set the boot mode, now; the caller saves the node."""
    _management(task).set_boot_mode(task, mode=mode)
    task.node.boot_mode = mode


def _check(task: Task, event: str) -> None:
    node = task.node
    if node.provision_state in states.TRANSIENT:
        text = f"Node {node.uuid}: nobody can {event} in state '{node.provision_state}'. Wait for its end."
        raise InvalidState(text, node=node.uuid, state=node.provision_state, event=event)
    _management(task).validate(task)


def _management(task: Task) -> Any:
    return task.driver.require("management")


def _set_secure_boot(task: Task, on: bool) -> None:
    _management(task).set_secure_boot_state(task, state=on)
    task.node.secure_boot = on
