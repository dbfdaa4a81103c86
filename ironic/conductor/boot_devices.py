"""What a machine boots from, asked and changed through its management interface while the user waits."""

from typing import Any

from ironic.conductor.task import Task


def current(task: Task) -> dict[str, Any]:
    """Return ``{"boot_device": ..., "persistent": ...}`` as the machine reports it."""
    found: dict[str, Any] = _ready(task).get_boot_device(task)
    return found


def choose(task: Task, device: str, persistent: bool = False) -> None:
    """Have the machine boot from a device, once or from now on."""
    _ready(task).set_boot_device(task, device=device, persistent=persistent)


def supported(task: Task) -> list[str]:
    """Return what the machine can be told to boot from."""
    return list(_ready(task).get_supported_boot_devices(task))


def _ready(task: Task) -> Any:
    management = task.driver.require("management")
    management.validate(task)
    return management
