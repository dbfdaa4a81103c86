"""What drivers often ask of a node: the addresses of its ports, what stands in its properties."""

from ironic.core import capabilities
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.task import Node, Task


def mac_addresses(task: Task) -> list[str]:
    """Return the MAC addresses of the node's ports."""
    return [port.address for port in task.ports]


def capability(node: Node, name: str) -> str | None:
    """Return one capability of a node."""
    return _all(node).get(name)


def architecture(node: Node) -> str | None:
    """Return the architecture of a node's processors, None when nothing that can be one is known."""
    arch = node.properties.get("cpu_arch")
    return arch if isinstance(arch, str) else None


def add_capability(task: Task, name: str, value: object) -> None:
    """Set one capability of a node and keep the others."""
    changed = {**_all(task.node), name: str(value)}
    task.node.properties["capabilities"] = capabilities.render(changed)
    task.node.save()


def _all(node: Node) -> dict[str, str]:
    try:
        return capabilities.parse(node.properties.get("capabilities"))
    except ValueError as error:
        raise InvalidParameterValue(err=f"The capabilities of node {node.uuid} can't be read: {error}.") from None
