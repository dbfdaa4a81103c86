"""The node and its ports as an agent gets to see them: everything but secrets.

What is in a config drive is the instance's secret; an agent sees it only when it has to write it.
"""

from typing import Any

from ironic.core.secrets import REPLACEMENT, masked
from ironic.drivers.task import Node, Task


def node_document(node: Node, flow: str) -> dict[str, object]:
    """Return the whole node as plain data without secrets."""
    document: dict[str, Any] = masked(node.as_dict())
    instance = document.get("instance_info") or {}
    if flow != "deploy" and instance.get("configdrive"):
        document["instance_info"] = {**instance, "configdrive": REPLACEMENT}
    return document


def port_documents(task: Task) -> list[dict[str, object]]:
    """Return the node's ports as plain data."""
    return [{**masked(port.as_dict()), "node_uuid": task.node.uuid} for port in task.ports]
