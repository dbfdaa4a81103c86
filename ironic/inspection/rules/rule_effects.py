"""Apply what rules decided: HTTP calls, then changes to the node, its ports and the plug-in data.

The evaluation has checked every write against what rules may change. What is left here are the consequences of a change
(a node taken out of maintenance loses the reason, one that loses its instance its allocation) and the checks that need
the database: which interfaces a new driver has, and the owner of a parent node.

Calls are made before the changes of their phase are stored, outside of transactions; a dry run makes none. The first
call that fails fails its rule and the inspection.
"""

import copy
import logging
import math
import time
from collections.abc import Mapping
from typing import Final, cast

from ironic.conf import CONF
from ironic.core import bmc_hosts, node_rules, states
from ironic.core.errors import InvalidParameterValue, NodeNotFound, NoValidHost
from ironic.core.hardware_interfaces import KINDS, choose_interfaces, interface_field
from ironic.core.model.node import INTERFACES
from ironic.core.permit import PERMIT
from ironic.core.rules import Changes, Failure, Outcome
from ironic.core.rules.paths import Patch, apply, keys_of
from ironic.db import NodeRecord, ServedInterface
from ironic.inspection.staged_task import StagedTask
from ironic.integrations import rule_calls
from ironic.services import allocation_binding, node_changes, node_parents

LOG = logging.getLogger(__name__)

_TRAITS: Final = "traits"
_CHASSIS: Final = "chassis_uuid"


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
            entry = next(one for one in outcome.explanation if one["uuid"] == planned.rule)
            place = (planned.rule, planned.phase, "actions", planned.index)
            failure = Failure(*place, "CallFailed", text, description=entry["description"])
            entry["error"] = str(failure)
            raise failure.error(what)
        LOG.info("Inspection rule %s on %s: the call of actions[%d] is made", planned.rule, what, planned.index)


def apply_changes(changes: Changes, task: StagedTask, plugin_data: Mapping[str, object]) -> None:
    """Apply the changes to the staged task; nothing is stored yet. Raises errors of the database and of checks."""
    about = {name: [one for one in changes.node if keys_of(one)[0] == name] for name in (_TRAITS, _CHASSIS)}
    before = {name: copy.deepcopy(getattr(task.node, name)) for name in _fields(changes.node) - about.keys()}
    touched = _patch(task.node, [one for one in changes.node if keys_of(one)[0] not in about])
    if about[_TRAITS]:
        document = {_TRAITS: list(task.traits)}
        apply(document, about[_TRAITS])
        task.traits = document[_TRAITS]
    if about[_CHASSIS]:
        chassis = about[_CHASSIS][-1]["value"]  # a UUID as a whole, or None
        task.node.chassis_id = None if chassis is None else int(task.store.chassis.row(("id",), chassis)[0])
    if "parent_node" in touched:
        task.node.parent_node = task.store.run(lambda _: _parent(task))
        # Again with the write: other changes of parents may come between.
        task.also_store(lambda: _parent(task))
    _follow(task, before)
    if "driver_info" in touched:
        known, info = task.node.driver_internal_info or {}, cast(Mapping[str, object], before["driver_info"] or {})
        task.node.driver_internal_info = bmc_hosts.with_choice_of_rules(
            known, info, task.node.driver_info, changes.literal
        )
    if touched & {"driver", "conductor_group", *INTERFACES}:
        _choose_interfaces(task, touched)
    if "instance_info" in touched:
        info = cast(Mapping[str, object], before["instance_info"] or {})
        _check_instance_interfaces(task, node_rules.interfaces_of_instance(info, task.node.instance_info))
    ports = {port.uuid: port for port in task.ports}
    for uuid, patch in changes.ports.items():
        address = ports[uuid].address
        _patch(ports[uuid], patch)
        if ports[uuid].address != address:
            node_rules.check_port_address(task.node)
    apply(plugin_data, changes.plugin_data)


def _follow(task: StagedTask, before: Mapping[str, object]) -> None:
    """Check the new values and set what follows from them, as a PATCH does.

    The allocation follows when the phase is stored.
    """
    node, store, allocation = task.node, task.store, task.node.allocation_id
    values = {name: value for name, old in before.items() if (value := getattr(node, name)) != old}
    node_rules.check_changes(cast(NodeRecord, _Before(node, before)), values)
    node_rules.check_values(values)
    node_changes.set_values(node, values)

    def follow() -> None:
        # A transaction may be repeated, and the last attempt has changed the node.
        node.allocation_id = allocation
        allocation_binding.follow_node_change(store, node, values)

    if allocation is not None and values.keys() & allocation_binding.FOLLOWED:
        task.also_store(follow)


class _Before:
    """A node with the values that it had before rules changed it.

    Its state is that of an inspection, also in a dry run, whose node may be in any state.
    """

    provision_state = states.INSPECTING

    def __init__(self, node: NodeRecord, before: Mapping[str, object]) -> None:
        self._node, self._before = node, before

    def __getattr__(self, name: str) -> object:
        return self._before[name] if name in self._before else getattr(self._node, name)


def _parent(task: StagedTask) -> str | None:
    """Return the UUID of the parent that rules have named; raise InvalidParameterValue when its owner differs.

    Part of a transaction, until whose end the parent stays as it is.
    """
    if (ident := task.node.parent_node) is None:
        return None
    try:
        uuid, owner = task.store.nodes.row(("uuid", "owner"), ident)
    except NodeNotFound:
        raise InvalidParameterValue(err="parent_node names no node.") from None
    if owner != task.node.owner:
        raise InvalidParameterValue(err="parent_node belongs to another owner.")
    node_parents.check_parent(task.store, task.node.uuid, uuid)
    return str(uuid)


def _fields(patch: Patch) -> set[str]:
    return {keys_of(operation)[0] for operation in patch}


def _patch(record: object, patch: Patch) -> set[str]:
    """Apply a patch to the fields of a record; return their names."""
    names = _fields(patch)
    document = {name: getattr(record, name) for name in names}
    apply(document, patch)
    for name, value in document.items():
        setattr(record, name, value)
    return names


def _choose_interfaces(task: StagedTask, touched: set[str]) -> None:
    """Choose the interfaces after a change: those that rules did not set stay when the driver supports them."""
    node, served = task.node, _served(task)
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


def _check_instance_interfaces(task: StagedTask, asked: Mapping[str, str]) -> None:
    """Raise an error for an interface of the instance that the node can't have."""
    kinds = {kind: asked[interface_field(kind)] for kind in KINDS if interface_field(kind) in asked}
    if kinds:
        choose_interfaces(_served(task), task.node.driver, kinds, kinds)


def _served(task: StagedTask) -> list[ServedInterface]:
    """Return what the live conductors of the node's group serve."""
    everywhere = task.store.conductors.served_interfaces(CONF.conductor.heartbeat_timeout)
    return [row for row in everywhere if row.conductor_group.lower() == task.node.conductor_group.lower()]
