"""Apply what rules decided: HTTP calls, then changes to the node, its ports and the plug-in data.

The evaluation has checked every write against what rules may change. What is left here are the consequences of a change
(a node taken out of maintenance loses the reason) and the checks that need the database: which interfaces a new driver
has, and the owner of a parent node.

Calls are made before the changes of their phase are stored, outside of transactions; a dry run makes none. The first
call that fails fails its rule and the inspection.
"""

import logging
import math
import time
from collections.abc import Mapping
from typing import Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue, NodeNotFound, NoValidHost
from ironic.core.hardware_interfaces import KINDS, choose_interfaces, interface_field
from ironic.core.model.node import INTERFACES, Node
from ironic.core.permit import PERMIT
from ironic.core.rules import Changes, Failure, Outcome
from ironic.core.rules.paths import Patch, apply, keys_of
from ironic.inspection.staged_task import StagedTask
from ironic.integrations import rule_calls

LOG = logging.getLogger(__name__)

_TRAITS: Final = "traits"
_CHASSIS: Final = "chassis_uuid"

# Fields that are cleared with a flag.
_CLEARED: Final = {name: one.clears for name, one in Node.table.fields.items() if one.clears}


def make_calls(outcome: Outcome, what: str, within: float = math.inf) -> None:
    """Make the calls in their order, all of them in ``within`` seconds.

    Raises InspectionRuleFailure, and adds the error to the explanation of the rule.
    """
    until = time.monotonic() + within
    for planned in outcome.calls:
        with PERMIT.waiting():
            reason = rule_calls.make(planned.call, until - time.monotonic()).failure
        if reason:
            text = None if planned.sensitive else reason
            failure = Failure(planned.rule, planned.phase, "actions", planned.index, "CallFailed", text)
            entry = next(one for one in outcome.explanation if one["uuid"] == planned.rule)
            entry["error"] = str(failure)
            raise failure.error(what)
        LOG.info("Inspection rule %s on %s: the call of actions[%d] is made", planned.rule, what, planned.index)


def apply_changes(changes: Changes, task: StagedTask, plugin_data: Mapping[str, object]) -> None:
    """Apply the changes to the staged task; nothing is stored yet. Raises errors of the database and of checks."""
    about = {name: [one for one in changes.node if keys_of(one)[0] == name] for name in (_TRAITS, _CHASSIS)}
    touched = _patch(task.node, [one for one in changes.node if keys_of(one)[0] not in about])
    if about[_TRAITS]:
        document = {_TRAITS: list(task.traits)}
        apply(document, about[_TRAITS])
        task.traits = document[_TRAITS]
    if about[_CHASSIS]:
        chassis = about[_CHASSIS][-1]["value"]  # a UUID as a whole, or None
        task.node.chassis_id = None if chassis is None else int(task.store.chassis.row(("id",), chassis)[0])
    if "parent_node" in touched:
        task.node.parent_node = _parent(task)
    for flag, others in _CLEARED.items():
        if flag in touched and not getattr(task.node, flag):
            for name in others:
                setattr(task.node, name, None)
    if touched & {"driver", "conductor_group", *INTERFACES}:
        _choose_interfaces(task, touched)
    ports = {port.uuid: port for port in task.ports}
    for uuid, patch in changes.ports.items():
        _patch(ports[uuid], patch)
    apply(plugin_data, changes.plugin_data)


def _parent(task: StagedTask) -> str | None:
    """Return the UUID of the parent that rules have named; raise InvalidParameterValue when its owner differs."""
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
    """Apply a patch to the fields of a record; return their names."""
    names = {keys_of(operation)[0] for operation in patch}
    document = {name: getattr(record, name) for name in names}
    apply(document, patch)
    for name, value in document.items():
        setattr(record, name, value)
    return names


def _choose_interfaces(task: StagedTask, touched: set[str]) -> None:
    """Choose the interfaces after a change: those that rules did not set stay when the driver supports them."""
    node = task.node
    everywhere = task.store.conductors.served_interfaces(CONF.conductor.heartbeat_timeout)
    served = [row for row in everywhere if row.conductor_group.lower() == node.conductor_group.lower()]
    if not any(row.hardware_type == node.driver for row in served):
        raise NoValidHost(driver=node.driver, group=node.conductor_group)
    if touched.isdisjoint({"driver", *INTERFACES}):
        return
    chosen = {kind: getattr(node, interface_field(kind)) for kind in KINDS}
    if "driver" in touched:
        supported = {(row.interface_type, row.interface_name) for row in served if row.hardware_type == node.driver}
        chosen = {
            kind: name for kind, name in chosen.items() if interface_field(kind) in touched or (kind, name) in supported
        }
    for kind, name in choose_interfaces(served, node.driver, chosen).items():
        setattr(node, interface_field(kind), name)
