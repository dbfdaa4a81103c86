"""The lights of a machine, read and switched through its management interface while the user waits."""

from typing import Any

from ironic.conductor.task import Task
from ironic.core.errors import InvalidParameterValue


def supported(task: Task) -> dict[str, dict[str, Any]]:
    """Return the lights by component and name, each with ``readonly`` and ``states``."""
    found: dict[str, dict[str, Any]] = _ready(task).get_supported_indicators(task)
    return found


def state(task: Task, component: str, indicator: str) -> str:
    """Return what a light shows."""
    shown: str = _ready(task).get_indicator_state(task, component, indicator)
    return shown


def switch(task: Task, component: str, indicator: str, wanted: str) -> None:
    """Switch a light that can be switched, to something it can show."""
    management = _ready(task)
    terms = management.get_supported_indicators(task, component).get(component, {}).get(indicator)
    if terms is None:
        raise _refused(task, component, indicator, "the machine has no such light")
    if terms.get("readonly"):
        raise _refused(task, component, indicator, "it can only be read")
    if wanted not in terms.get("states", ()):
        raise _refused(task, component, indicator, f"it can show only: {', '.join(terms.get('states', ()))}")
    management.set_indicator_state(task, component, indicator, wanted)


def _refused(task: Task, component: str, indicator: str, reason: str) -> InvalidParameterValue:
    return InvalidParameterValue(
        err=f"Light {indicator} of {component} on node {task.node.uuid} can't be switched so: {reason}."
    )


def _ready(task: Task) -> Any:
    management = task.driver.require("management")
    management.validate(task)
    return management
