"""Rules that decide when an operation is allowed on a node: one function per rule, for the API and the conductor.

Each function checks the values of the node and the request, and returns or raises; it reads and writes nothing.
The API checks first, so that the caller gets the error at once. The conductor checks again with the node locked, and
that result counts. Sources: doc/contract/states.md (from its "Verbs" to its "Power"), doc/contract/fields.md#node,
demands S52 to S57.
"""

import contextlib
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final, Protocol, cast

from ironic.core.errors import (
    Conflict,
    InvalidParameterValue,
    InvalidState,
    InvalidStateRequested,
    IronicError,
    NodeAssociated,
    NodeInMaintenance,
    NodeIsRetired,
    NodeLocked,
    NodeNotEditable,
    NodeProtected,
    PowerStateFailure,
)
from ironic.core.errors.resource_errors import NotPoweredOff
from ironic.core.flows import states
from ironic.core.flows.flow import DEPLOY, FLOWS
from ironic.core.flows.steps import Step, mark_of_child
from ironic.core.model.node import INTERFACES, Node
from ironic.core.texts import syntax
from ironic.core.values import network_data, traits


class NodeValues(Protocol):
    """The values of a node that the rules check: its state, marks, owner and driver."""

    uuid: str
    driver: str
    conductor_group: str
    provision_state: str
    target_provision_state: str | None
    power_state: str | None
    reservation: str | None
    reservation_purpose: str | None
    maintenance: bool
    protected: bool
    retired: bool
    instance_uuid: str | None
    allocation_id: int | None
    resource_class: str | None
    console_enabled: bool
    disable_power_off: bool
    owner: str | None
    lessee: str | None


COLUMNS: Final = tuple(NodeValues.__annotations__)


def of_row(row: Sequence[object]) -> NodeValues:
    """Return the values of a row of ``COLUMNS``; a whole record can be passed to the rules as it is."""
    return cast(NodeValues, SimpleNamespace(**dict(zip(COLUMNS, row, strict=True))))


# Provision verbs: state, then marks

_VERBS: Final = [verb for flow in FLOWS for verb in flow.verbs]
_DEPLOYS: Final = frozenset(verb.event for verb in DEPLOY.verbs)
_NEVER_IN_MAINTENANCE: Final = frozenset(verb.event for verb in _VERBS if verb.refused_in_maintenance)
# `available` (S56) leaves clean failed without a flow.
_OFFERS: Final = frozenset({"available", *(verb.event for verb in _VERBS if verb.offers_node)})
_UNDOES_INSTANCE: Final = frozenset(verb.event for verb in _VERBS if verb.undoes_instance)


def check_verb(node: NodeValues, verb: str, *, by_holder: bool) -> None:
    """Refuse a verb that the state of the node does not allow; ``by_holder``: the caller holds the node's lock.

    A working state allows no verb, although its table has internal events of the same names. Raises NodeInMaintenance,
    NodeLocked or InvalidStateRequested.
    """
    # Maintenance stands against a deployment before the state and the lock do: both may change soon.
    is_early = node.maintenance and states.VERBS[verb] in _DEPLOYS
    refusals = [*_marks(node, verb, offered_in_maintenance=True)] if is_early else []
    if not accepts_verb(node.provision_state, verb):
        if node.reservation is None or by_holder:
            refusals.append(_wrong_state(node, verb))
        elif not refusals:
            # The operation that holds the node may be about to bring it into a state that allows the verb.
            raise NodeLocked(node=node.uuid, host=node.reservation, purpose=node.reservation_purpose)
    _refuse(refusals)


# Verbs that clients send for commands of another name.
_SAID: Final = {"active": "active (deploy)", "deleted": "deleted (undeploy)"}


def _wrong_state(node: NodeValues, verb: str) -> InvalidStateRequested:
    refusal = InvalidStateRequested(action=_SAID.get(verb, verb), node=node.uuid, state=node.provision_state)
    taken = sorted(state for state in states.ALL if accepts_verb(state, verb))
    possible = [] if node.provision_state in states.WORKING else sorted(states.verbs_of(node.provision_state))
    more = (
        f" It is possible in {', '.join(taken)}. Possible now: {', '.join(possible) or 'nothing, until it has ended'}."
    )
    if node.maintenance and states.VERBS[verb] not in _DEPLOYS:
        more += " The node is also in maintenance."
    return InvalidStateRequested(f"{refusal}{more}", **refusal.facts | {"action": verb})


def _refuse(refusals: Sequence[IronicError]) -> None:
    """Raise the first one with the sentences of all, so that the user does not meet them one after another."""
    if refusals:
        first = refusals[0]
        raise type(first)(" ".join(map(str, refusals)), **first.facts)


def accepts_verb(state: str, verb: str) -> bool:
    """Return whether users may send a verb to a node in this state."""
    return state not in states.WORKING and states.allows(state, states.VERBS[verb])


def check_marks(node: NodeValues, verb: str, *, offered_in_maintenance: bool = True) -> None:
    """Refuse a verb that maintenance, protection or retirement forbids.

    ``offered_in_maintenance`` is [conductor]allow_provisioning_in_maintenance, which only the conductor knows.
    """
    _refuse([*_marks(node, verb, offered_in_maintenance=offered_in_maintenance)])


def _marks(node: NodeValues, verb: str, *, offered_in_maintenance: bool) -> Iterator[IronicError]:
    """Yield what each mark of the node has against a verb."""
    event = states.VERBS[verb]
    if node.maintenance and (
        event in _NEVER_IN_MAINTENANCE
        or (event in _OFFERS and not offered_in_maintenance)
        or (event == "abort" and node.provision_state == states.SERVICEFAIL)
    ):
        yield NodeInMaintenance(op=verb, node=node.uuid)
    if node.protected and event in _UNDOES_INSTANCE:
        yield NodeProtected(node=node.uuid)
    if node.retired and event in _OFFERS:
        yield NodeIsRetired(node=node.uuid)


def instance_traits(uuid: str, instance_info: Mapping[str, Any]) -> list[str]:
    """Return the traits that the instance of a node requires; InvalidParameterValue if they are no list of names."""
    asked = instance_info.get("traits") or []
    if not traits.is_list_of_traits(asked):
        raise InvalidParameterValue(
            err=f"traits in instance_info of node {uuid} must be a list of at most {traits.MOST_OF_NODE} names."
        )
    return asked


def check_instance_traits(uuid: str, instance_info: Mapping[str, Any], present: Collection[str]) -> None:
    """Refuse to deploy an instance that requires a trait which the node does not have."""
    if missing := sorted(set(instance_traits(uuid, instance_info)).difference(present)):
        raise InvalidParameterValue(
            err=f"instance_info of node {uuid} requires traits that the node does not have: {', '.join(missing)}."
        )


# Power

_OFF: Final = frozenset({states.POWER_OFF, states.SOFT_POWER_OFF})
_NO_POWER_CHANGE: Final = frozenset({states.CLEANING, states.CLEANWAIT})


def check_power(node: NodeValues, target: str) -> None:
    """Refuse a power change by a user while the node is cleaned, and any one that the node does not allow."""
    if node.provision_state in _NO_POWER_CHANGE:
        raise InvalidStateRequested(action=target, node=node.uuid, state=node.provision_state)
    check_power_off(node, target)


def check_power_off(node: NodeValues, target: str) -> None:
    """Refuse to power off a node with disable_power_off, also within an operation."""
    if node.disable_power_off and target in _OFF:
        raise PowerStateFailure(target=target, reason=f"disable_power_off of node {node.uuid} is set")


# Deleting


def check_deletable(node: NodeValues, *, available_too: bool) -> None:
    """Refuse to delete a node in use or in an operation, and a protected node even in maintenance.

    ``available_too`` is [conductor]allow_deleting_available_nodes.
    """
    if node.protected:
        raise NodeProtected(node=node.uuid)
    if node.maintenance:
        return
    if node.instance_uuid is not None:
        raise NodeAssociated(node=node.uuid, instance=node.instance_uuid)
    allowed = states.DELETABLE | {states.AVAILABLE} if available_too else states.DELETABLE
    if node.provision_state not in allowed:
        text = (
            f"Node {node.uuid} can't be deleted in state '{node.provision_state}'. Move it to one of the states "
            f"{', '.join(sorted(allowed))}, or set maintenance, first."
        )
        raise InvalidState(text, node=node.uuid, state=node.provision_state, event="delete")


# Changing values of the node


def check_editable(node: NodeValues, *, while_inspecting: bool, drops_instance: bool) -> None:
    """Refuse any change while a conductor works on the node.

    ``while_inspecting``: the API version allows changes during an inspection. ``drops_instance``: the change only
    removes the instance, which maintenance allows in any state.
    """
    if node.maintenance and drops_instance:
        return
    state = node.provision_state
    if node.target_provision_state and state not in states.EDITABLE_WITH_TARGET:
        raise _not_editable(node, "it is changing its state, try again later")
    if state == states.INSPECTING and not while_inspecting:
        raise _not_editable(node, "it is being inspected, try again later")


def check_changes(node: NodeValues, values: Mapping[str, Any], state: str | None = None) -> None:
    """Refuse new values that the state or the other values of the node do not allow; ``state`` stands for its own."""
    state = state or node.provision_state
    if INTERFACES & values.keys():
        _check_settled(node, state, "its interfaces can be changed", maintenance_helps=True)
    if "resource_class" in values and node.resource_class is not None:
        _check_settled(node, state, "its resource class can be changed", maintenance_helps=False)
    if "instance_uuid" in values:
        instance = values["instance_uuid"]
        if instance is not None and node.instance_uuid not in (None, instance):
            raise NodeAssociated(node=node.uuid, instance=node.instance_uuid)
        if instance is None and node.allocation_id is not None:
            _check_settled(node, state, _ALLOCATION_ENDS, maintenance_helps=True)
    # Another interface knows nothing of what serves the console, which would stay open.
    if node.console_enabled and not values.keys().isdisjoint(("driver", "console_interface")):
        raise _not_editable(node, "stop its console first", state)
    marks = {"provision_state": state, "protected": node.protected, "retired": node.retired, **values}
    if wrong := contradiction(marks, values):
        raise _not_editable(node, wrong, state) if wrong == _UNPROTECTABLE else InvalidParameterValue(err=f"{wrong}.")
    if values.get("retired") and state == states.AVAILABLE:
        raise _not_editable(node, "move it to manageable before it is retired", state)


_UNPROTECTABLE: Final = "only active and rescued nodes can be protected"


def contradiction(marks: Mapping[str, object], touched: Container[str]) -> str | None:
    """Return how the marks of a node contradict its state or each other, None if they don't; for those touched only."""
    is_settled = marks.get("provision_state") in (states.ACTIVE, states.RESCUE)
    if "protected" in touched and marks.get("protected") and not is_settled:
        return _UNPROTECTABLE
    for mark in ("protected", "retired"):
        reason = f"{mark}_reason"
        if reason in touched and marks.get(reason) is not None and not marks.get(mark):
            return f"{reason} needs {mark} to be true"
    return None


_ALLOCATION_ENDS: Final = "its allocation can be removed"


def check_allocation_ends(node: NodeValues) -> None:
    """Refuse to remove the allocation of a node that has its instance or is about to get it."""
    _check_settled(node, node.provision_state, _ALLOCATION_ENDS, maintenance_helps=True)


def check_new_owner(node: NodeValues, *, allocated_to_project: bool) -> None:
    """Refuse another owner for a node in use whose allocation belongs to a project."""
    if allocated_to_project and node.provision_state == states.ACTIVE:
        raise _not_editable(node, "its allocation belongs to a project, so its owner can't be changed")


def named_boot_modes(values: Mapping[str, Any]) -> set[str]:
    """Return the boot modes that a new node names, also as a capability of itself or of its instance, in lower case."""
    modes = [values.get("boot_mode")]
    for info in (values.get("properties"), values.get("instance_info")):
        given = (info or {}).get("capabilities")
        # A patch may leave malformed capabilities, too; what uses them refuses them.
        with contextlib.suppress(ValueError):
            modes.append((given if isinstance(given, Mapping) else syntax.parse_capabilities(given)).get("boot_mode"))
    return {str(mode).strip().lower() for mode in modes if mode}


def check_new(values: Mapping[str, Any]) -> None:
    """Refuse values of a new node, its state among them, that a patch could not give it."""
    if values.get("retired") and values["provision_state"] == states.AVAILABLE:
        raise InvalidParameterValue(
            err="A new node that is available at once, as before version 1.11, can't be retired."
        )
    if values.get("retired_reason") and not values.get("retired"):
        raise InvalidParameterValue(err="retired_reason needs retired to be true.")


def _check_settled(node: NodeValues, state: str, what: str, *, maintenance_helps: bool) -> None:
    allowed = states.INTERFACES_EDITABLE
    if state not in allowed and not (maintenance_helps and node.maintenance):
        raise _not_editable(node, f"{what} in: {', '.join(sorted(allowed))}", state)


def _not_editable(node: NodeValues, reason: str, state: str | None = None) -> NodeNotEditable:
    return NodeNotEditable(node=node.uuid, state=state or node.provision_state, reason=reason)


def implied_values(values: Mapping[str, Any], instance_name: str | None = None) -> dict[str, object]:
    """Return the values that change along: a reason is cleared with its mark, display_name sets instance_name.

    ``instance_name`` is the current one of the node, which display_name does not replace.
    """
    ended = (name for name, value in values.items() if value is False)
    also: dict[str, Any] = {cleared: None for name in ended for cleared in Node.table.fields[name].clears}
    display = (values.get("instance_info") or {}).get("display_name")
    if instance_name is None and "instance_name" not in values and isinstance(display, str) and 0 < len(display) <= 255:
        also["instance_name"] = display
    return also


# Values that no node may have, new or old

# Words that API paths have in the position of a node name.
_RESERVED_NAMES: Final = frozenset({"maintenance", "management", "states", "vendor_passthru", "detail", "validate"})


def check_values(values: Mapping[str, object]) -> None:
    """Refuse a name that API paths reserve, malformed network data, and sizes of a machine that are none."""
    if (name := values.get("name")) in _RESERVED_NAMES:
        raise InvalidParameterValue(err=f"The name {name} is a reserved word.")
    if "network_data" in values and (wrong := network_data.fault(values["network_data"])):
        raise InvalidParameterValue(err=f"{wrong}.")
    properties = values.get("properties")
    odd = [name for name in _SIZES if not _is_size(properties.get(name))] if isinstance(properties, Mapping) else []
    if odd:
        raise InvalidParameterValue(err=f"{', '.join(odd)} in properties must be a whole number that is not negative.")


# Properties that schedulers calculate with.
_SIZES: Final = ("cpus", "local_gb", "memory_mb")
_LONGEST_SIZE: Final = 20


def _is_size(value: object) -> bool:
    """Return whether this is a whole number of zero or more, also in words of JSON that others write; None is none."""
    if isinstance(value, str):
        text = value.strip()
        return len(text) <= _LONGEST_SIZE and text.isascii() and text.isdigit()
    if isinstance(value, float):
        return value >= 0 and value.is_integer()
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)


def interfaces_of_instance(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    """Return the interfaces that a change of instance_info asks for; raises InvalidParameterValue for other values."""
    asked = {name: after[name] for name in INTERFACES & after.keys() if after[name] and after[name] != before.get(name)}
    if wrong := [name for name, value in asked.items() if not isinstance(value, str)]:
        raise InvalidParameterValue(
            err=f"{', '.join(sorted(wrong))} in instance_info must be the name of an interface."
        )
    return asked


# The machine, its ports and its volumes

_PORTS_MOVE: Final = frozenset({states.ENROLL, states.INSPECTING, states.INSPECTWAIT, states.MANAGEABLE})


def check_idle(node: NodeValues, what: str) -> None:
    """Refuse a change that would affect a running operation after the next reboot of the machine."""
    if node.provision_state in states.TRANSIENT:
        text = f"It is not possible to {what} of node {node.uuid} in state '{node.provision_state}'. Try again later."
        raise InvalidState(text, node=node.uuid, state=node.provision_state, event=what)


def check_parts_editable(node: NodeValues, *, while_inspecting: bool) -> None:
    """Refuse to change ports and port groups while an inspection may change them."""
    if node.provision_state == states.INSPECTING and not while_inspecting:
        raise _not_editable(node, "it is being inspected, so its ports may change; try again later")


def check_port_address(node: NodeValues) -> None:
    """Refuse to change the MAC address of a port that an instance uses."""
    if not node.maintenance and (node.provision_state == states.ACTIVE or node.instance_uuid is not None):
        raise _not_editable(node, "an instance uses the address of its port")


def check_connectivity(node: NodeValues, changed: Sequence[str]) -> None:
    """Refuse to change the connection of a port while the machine boots by it."""
    if changed and not node.maintenance and node.provision_state not in _PORTS_MOVE:
        raise _not_editable(node, f"{', '.join(changed)} of a port decide how the node boots")


def check_portgroup_leaves(node: NodeValues) -> None:
    """Refuse to move a port group of this node to another node."""
    if not node.maintenance and node.provision_state not in _PORTS_MOVE:
        raise _not_editable(node, f"its port groups can be moved in {', '.join(sorted(_PORTS_MOVE))} or in maintenance")


def check_unbound(node: NodeValues, what: str, attached: bool) -> None:
    """Refuse to delete a port or port group (``what``) that a virtual interface is attached to."""
    if attached and not node.maintenance:
        raise Conflict(
            f"{what} of node {node.uuid} is in use by a virtual interface. Detach it, or set the node to maintenance, "
            "first."
        )


def check_volume_unused(node: NodeValues, what: str, *, deleting: bool) -> None:
    """Refuse to change a volume connector or target that a running machine may use."""
    if node.power_state == states.POWER_OFF or (deleting and node.provision_state in states.DELETABLE):
        return
    raise NotPoweredOff(action=what, node=node.uuid, state=node.power_state or "unknown")


# Steps on child nodes

_MOST_NAMED: Final = 5  # nodes that an error lists by UUID

# The user who requested a step has no right to nodes that were assigned to others since.
_REASSIGNED: Final = "got another owner or lessee, or another parent node, since it was requested. Request it again."


class ChildNodeValues(NodeValues, Protocol):
    """The values of a node that may have a parent node."""

    parent_node: str | None


def check_child_limit(step: Step) -> None:
    """Refuse a step that names child nodes without effect; raises InvalidParameterValue."""
    if step.has_empty_limit:
        raise InvalidParameterValue(
            err=f"Step {step.name} has a limit_child_node_execution without effect: it needs execute_on_child_nodes "
            "and at least one child node."
        )


def children_of_step(step: Step, parent: str, children: Sequence[Sequence[Any]]) -> list[str]:
    """Return the UUIDs of the child nodes that a step is for, in the order of the rows or as the user named them.

    ``children`` are the rows (uuid, owner, lessee) of all child nodes of the parent. Raises InvalidParameterValue.
    """
    mine = [row[0] for row in children]
    wanted = step.limit_child_node_execution
    if step.judged_children is not None:
        judged = [row[0] for row in children if mark_of_child(*row) in step.judged_children]
        if len(judged) < len(step.judged_children):
            raise InvalidParameterValue(err=f"Child nodes of step {step.name} {_REASSIGNED}")
        wanted = judged if wanted is None else wanted
    if wanted is None:
        return mine
    wanted = [uuid.lower() for uuid in wanted]
    if foreign := sorted(set(wanted) - set(mine)):
        named = ", ".join(foreign[:_MOST_NAMED])
        raise InvalidParameterValue(
            err=f"Step {step.name} is for {len(foreign)} nodes that are no children of node {parent}: {named}."
        )
    return list(dict.fromkeys(wanted))


def check_child_step(child: ChildNodeValues, parent: NodeValues, step: Step) -> None:
    """Refuse a step on a child node that a user could not request on the child itself."""
    if child.parent_node != parent.uuid:
        raise InvalidParameterValue(err=f"Node {child.uuid} is no child of node {parent.uuid} any more.")
    if child.owner != parent.owner:
        raise InvalidParameterValue(err=f"Node {child.uuid} belongs to another owner than its parent node.")
    mark = mark_of_child(child.uuid, child.owner, child.lessee)
    if step.judged_children is not None and mark not in step.judged_children:
        raise InvalidParameterValue(err=f"Node {child.uuid} of step {step.name} {_REASSIGNED}")
    if child.provision_state in states.TRANSIENT | states.HELD:
        raise InvalidStateRequested(action=f"step {step.name}", node=child.uuid, state=child.provision_state)
    if child.maintenance and not step.is_reserved:
        raise NodeInMaintenance(op=f"step {step.name}", node=child.uuid)
