"""Virtual interfaces: which of them are bound to a node's ports, decided by its network interface."""

from collections.abc import Mapping
from typing import Any

from ironic.conductor.task import Task


def attached(task: Task) -> list[dict[str, Any]]:
    """Return the virtual interfaces of the node."""
    found: list[dict[str, Any]] = _ready(task).vif_list(task)
    return found


def attach(task: Task, vif: Mapping[str, Any]) -> None:
    """Bind one to a port."""
    _ready(task).vif_attach(task, dict(vif))


def detach(task: Task, vif_id: str) -> None:
    """Take one off its port."""
    _ready(task).vif_detach(task, vif_id)


def _ready(task: Task) -> Any:
    network = task.driver.require("network")
    network.validate(task)
    return network
