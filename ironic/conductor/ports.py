"""Changing and deleting ports, and binding virtual interfaces to them: the node's state and network have a say.

The caller has checked the form of the change. Source: doc/contract/states.md#ports-and-port-groups.
"""

from typing import Final

from ironic.conductor.answering import answers
from ironic.conductor.task import Task
from ironic.core import node_rules
from ironic.core.resource_errors import PortNotFound
from ironic.db import PortgroupRecord, PortRecord

_CONNECTIVITY: Final = ("portgroup_id", "pxe_enabled", "local_link_connection", "physical_network")

# Keys of a port under which a network interface keeps the virtual interface that uses it.
_VIF_KEYS: Final = ("tenant_vif_port_id", "cleaning_vif_port_id", "provisioning_vif_port_id", "inspection_vif_port_id")


@answers
def update_port(task: Task, port_id: str, changes: dict[str, object]) -> None:
    """Change a port, once its node and its network agree."""
    port = _belonging_to(task, port_id)
    if changes.get("address", port.address) != port.address:
        node_rules.check_port_address(task.node)
    changed = [name for name in _CONNECTIVITY if name in changes and changes[name] != getattr(port, name)]
    node_rules.check_connectivity(task.node, changed)
    for name, value in changes.items():
        setattr(port, name, value)
    task.network.port_changed(task, port)
    with task.writing():
        port.save()


@answers
def destroy_port(task: Task, port_id: str) -> None:
    """Delete a port that nothing is attached to."""
    port = _belonging_to(task, port_id)
    node_rules.check_unbound(task.node, f"Port {port.uuid}", is_attached(port))
    with task.writing():
        task.store.ports.delete(port.id)


@answers
def list_vifs(task: Task) -> list[dict[str, object]]:
    """Return the virtual interfaces of the node, as its network interface knows them."""
    return task.validated(task.network).vif_list(task)


@answers
def attach_vif(task: Task, vif: dict[str, object]) -> None:
    """Bind one to a port that the network interface chooses."""
    task.validated(task.network).vif_attach(task, vif)


@answers
def detach_vif(task: Task, vif_id: str) -> None:
    """Take one off its port."""
    task.validated(task.network).vif_detach(task, vif_id)


def is_attached(record: PortRecord | PortgroupRecord) -> bool:
    """Tell whether a virtual interface uses a port or port group."""
    return any(record.internal_info.get(key) for key in _VIF_KEYS)


def _belonging_to(task: Task, port_id: str) -> PortRecord:
    """Return one of the node's ports as it is now that the node is locked."""
    for port in task.ports:
        if port.uuid == port_id:
            return port
    raise PortNotFound(port=port_id)
