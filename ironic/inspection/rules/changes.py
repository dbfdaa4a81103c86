"""Applying what rules decided to the node, its ports and the plug-in data.

Thin on purpose: the evaluation has checked every write against what rules may touch. What is left to do here is what
goes with a change (a node taken out of maintenance loses the reason) and what only the database knows: which
interfaces go with a new driver.
"""

from collections.abc import Mapping
from typing import Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue, NodeNotFound, NoValidHost
from ironic.core.interface_choice import resolve
from ironic.core.interface_kinds import KINDS, interface_field
from ironic.core.model.node import INTERFACES, Node
from ironic.core.rules import Changes
from ironic.core.rules.plain_data import Patch, apply, keys_of
from ironic.db import ServedInterface
from ironic.inspection.staged_task import StagedTask

_TRAITS: Final = "traits"
_CHASSIS: Final = "chassis_uuid"

# Fields that go with a flag and are cleared with it.
_CLEARED: Final = {name: one.clears for name, one in Node.table.fields.items() if one.clears}


def apply_changes(changes: Changes, task: StagedTask, plugin_data: Mapping[str, object]) -> None:
    """Carry the changes out on the staged task; nothing is stored yet."""
    _apply_to_node(changes.node, task)
    ports = {port.uuid: port for port in task.ports}
    for uuid, patch in changes.ports.items():
        _patch(ports[uuid], patch)
    apply(plugin_data, changes.plugin_data)


def _apply_to_node(patch: Patch, task: StagedTask) -> None:
    about = {name: [one for one in patch if keys_of(one)[0] == name] for name in (_TRAITS, _CHASSIS)}
    touched = _patch(task.node, [one for one in patch if keys_of(one)[0] not in about])
    if about[_TRAITS]:
        document = {_TRAITS: list(task.traits)}
        apply(document, about[_TRAITS])
        task.traits = document[_TRAITS]
    if about[_CHASSIS]:
        task.node.chassis_id = _chassis(task, about[_CHASSIS][-1]["value"])
    if "parent_node" in touched:
        task.node.parent_node = _parent(task)
    for flag, others in _CLEARED.items():
        if flag in touched and not getattr(task.node, flag):
            for name in others:
                setattr(task.node, name, None)
    if touched & {"driver", "conductor_group", *INTERFACES}:
        _choose_interfaces(task, touched)


def _chassis(task: StagedTask, uuid: str | None) -> int | None:
    """Return the id of a chassis; rules write its UUID as a whole."""
    return None if uuid is None else int(task.store.chassis.row(("id",), uuid)[0])


def _parent(task: StagedTask) -> str | None:
    """Return the UUID of the node that rules named as the parent, which has the same owner."""
    if (ident := task.node.parent_node) is None:
        return None
    try:
        uuid, owner = task.store.nodes.row(("uuid", "owner"), ident)
    except NodeNotFound:
        raise InvalidParameterValue(err="parent_node names no node.") from None
    if owner != task.node.owner:
        raise InvalidParameterValue(err="parent_node belongs to another owner.")
    return str(uuid)


def _patch(record: object, patch: Patch) -> set[str]:
    """Patch the fields of a record; return their names."""
    names = {keys_of(operation)[0] for operation in patch}
    document = {name: getattr(record, name) for name in names}
    apply(document, patch)
    for name, value in document.items():
        setattr(record, name, value)
    return names


def _choose_interfaces(task: StagedTask, touched: set[str]) -> None:
    """Complete a change of the driver or of interfaces: what rules did not set stays if it goes with the driver."""
    node = task.node
    everywhere = task.store.conductors.served_interfaces(CONF.conductor.heartbeat_timeout)
    served = [row for row in everywhere if row.conductor_group.lower() == node.conductor_group.lower()]
    if not any(row.hardware_type == node.driver for row in served):
        raise NoValidHost(driver=node.driver, group=node.conductor_group)
    if touched.isdisjoint({"driver", *INTERFACES}):
        return
    chosen = {kind: getattr(node, interface_field(kind)) for kind in KINDS}
    if "driver" in touched:
        chosen = {
            kind: name
            for kind, name in chosen.items()
            if interface_field(kind) in touched or _goes_with(served, node.driver, kind, name)
        }
    for kind, name in resolve(served, node.driver, chosen).items():
        setattr(node, interface_field(kind), name)


def _goes_with(served: list[ServedInterface], driver: str, kind: str, name: str | None) -> bool:
    return any((row.hardware_type, row.interface_type, row.interface_name) == (driver, kind, name) for row in served)
