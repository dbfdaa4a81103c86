"""What may be done with a node, and when: one function per rule, asked by the API and by the conductor.

Each looks at the node's values and at what somebody wants, and returns or raises; nothing is read or written here. The
API asks so that a caller is told at once. The conductor asks again with the node locked, and its answer counts.
Sources: doc/contract/states.md (from its "Verbs" to its "Power"), doc/contract/fields.md#node, demands S52 to S57.
"""

from collections.abc import Collection, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final, Protocol, cast

from ironic.core import network_data, states, traits, trust_paths
from ironic.core.errors import (
    Conflict,
    InvalidParameterValue,
    InvalidState,
    InvalidStateRequested,
    NodeAssociated,
    NodeInMaintenance,
    NodeIsRetired,
    NodeLocked,
    NodeNotEditable,
    NodeProtected,
    PowerStateFailure,
)
from ironic.core.flow import DEPLOY, FLOWS
from ironic.core.model.node import INTERFACES, Node
from ironic.core.resource_errors import NotPoweredOff


class NodeValues(Protocol):
    """What a node is judged by: its state, its marks, whose it is and who serves it."""

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
    """Return the values of a row of ``COLUMNS``; who has a whole record hands in that."""
    return cast(NodeValues, SimpleNamespace(**dict(zip(COLUMNS, row, strict=True))))


# Provision verbs: the state first, then the marks.

_VERBS: Final = [verb for flow in FLOWS for verb in flow.verbs]
_DEPLOYS: Final = frozenset(verb.event for verb in DEPLOY.verbs)
_NEVER_IN_MAINTENANCE: Final = frozenset(verb.event for verb in _VERBS if verb.refused_in_maintenance)
# S56's way out of clean failed begins no flow.
_OFFERS: Final = frozenset({"available", *(verb.event for verb in _VERBS if verb.offers_node)})
_UNDOES_INSTANCE: Final = frozenset(verb.event for verb in _VERBS if verb.undoes_instance)


def check_verb(node: NodeValues, verb: str, *, by_holder: bool) -> None:
    """Refuse a verb that the node's state does not take now; ``by_holder``: who asks holds the node already.

    A state in which somebody is at work takes no verb, though the table has internal events of the same name there.
    """
    if node.maintenance and states.VERBS[verb] in _DEPLOYS:
        raise NodeInMaintenance(op=verb, node=node.uuid)
    if takes(node.provision_state, verb):
        return
    if node.reservation is not None and not by_holder:
        # What holds the node may be about to bring it into a state that allows the verb.
        raise NodeLocked(node=node.uuid, host=node.reservation, purpose=node.reservation_purpose)
    raise InvalidStateRequested(action=verb, node=node.uuid, state=node.provision_state)


def takes(state: str, verb: str) -> bool:
    """Tell whether users may send a verb to nodes in this state."""
    return state not in states.WORKING and states.allows(state, states.VERBS[verb])


def check_marks(node: NodeValues, verb: str, *, offered_in_maintenance: bool = True) -> None:
    """Refuse what maintenance, protection or retirement forbid.

    ``offered_in_maintenance`` is [conductor]allow_provisioning_in_maintenance, which is for the conductor to know.
    """
    event = states.VERBS[verb]
    if node.maintenance and (
        event in _NEVER_IN_MAINTENANCE
        or (event in _OFFERS and not offered_in_maintenance)
        or (event == "abort" and node.provision_state == states.SERVICEFAIL)
    ):
        raise NodeInMaintenance(op=verb, node=node.uuid)
    if node.protected and event in _UNDOES_INSTANCE:
        raise NodeProtected(node=node.uuid)
    if node.retired and event in _OFFERS:
        raise NodeIsRetired(node=node.uuid)


def check_instance_traits(uuid: str, asked: object, present: Collection[str]) -> None:
    """Refuse to deploy an instance that asks for a trait which the node does not have."""
    if not traits.is_list_of_traits(asked):
        raise InvalidParameterValue(
            err=f"traits in instance_info of node {uuid} must be a list of at most {traits.MOST_OF_NODE} names."
        )
    if missing := sorted(set(asked).difference(present)):
        raise InvalidParameterValue(
            err=f"instance_info of node {uuid} asks for traits that the node does not have: {', '.join(missing)}."
        )


# Power

_OFF: Final = frozenset({states.POWER_OFF, states.SOFT_POWER_OFF})
_NO_POWER_CHANGE: Final = frozenset({states.CLEANING, states.CLEANWAIT})


def check_power(node: NodeValues, target: str) -> None:
    """Refuse a user's power change while the node is cleaned, and one that the node does not take from anybody."""
    if node.provision_state in _NO_POWER_CHANGE:
        raise InvalidStateRequested(action=target, node=node.uuid, state=node.provision_state)
    check_power_off(node, target)


def check_power_off(node: NodeValues, target: str) -> None:
    """Refuse to power off, for a user or within an operation, a node that has to stay on."""
    if node.disable_power_off and target in _OFF:
        raise PowerStateFailure(target=target, reason=f"disable_power_off of node {node.uuid} is set")


# Deleting


def check_deletable(node: NodeValues, *, available_too: bool) -> None:
    """Refuse to delete a node that is in use or at work, and a protected one even in maintenance.

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
            f"Node {node.uuid} can't be deleted in state '{node.provision_state}'. Bring it into one of "
            f"{', '.join(sorted(allowed))}, or into maintenance, first."
        )
        raise InvalidState(text, node=node.uuid, state=node.provision_state, event="delete")


# Changing values of the node


def check_editable(node: NodeValues, *, while_inspecting: bool, drops_instance: bool) -> None:
    """Refuse any change while a conductor is at work on the node.

    ``while_inspecting``: the caller's version knows no reason to wait for the end of an inspection. ``drops_instance``:
    nothing but the instance is taken away, which maintenance allows in any state.
    """
    if node.maintenance and drops_instance:
        return
    state = node.provision_state
    if node.target_provision_state and state not in states.EDITABLE_WITH_TARGET:
        raise _not_editable(node, "it is on its way to another state, try again later")
    if state == states.INSPECTING and not while_inspecting:
        raise _not_editable(node, "it is being inspected, try again later")


def check_changes(node: NodeValues, values: Mapping[str, Any]) -> None:
    """Refuse new values that the node's state or its other values don't allow."""
    if INTERFACES & values.keys():
        _check_settled(node, "its interfaces can be changed", maintenance_helps=True)
    if "resource_class" in values and node.resource_class is not None:
        _check_settled(node, "its resource class can be changed", maintenance_helps=False)
    if "instance_uuid" in values:
        _check_instance(node, values["instance_uuid"])
    if "driver" in values and node.console_enabled:
        raise _not_editable(node, "stop its console first")
    _check_protection(node, values)
    _check_retirement(node, values)


def check_allocation_ends(node: NodeValues) -> None:
    """Refuse to undo the allocation of a node that has its instance, or is about to get it."""
    _check_settled(node, "its allocation can be undone", maintenance_helps=True)


def check_new_owner(node: NodeValues, *, allocated_to_project: bool) -> None:
    """Refuse to hand over a node in use whose allocation belongs to a project."""
    if allocated_to_project and node.provision_state == states.ACTIVE:
        raise _not_editable(node, "its allocation belongs to a project, so the node can't change hands")


def _check_instance(node: NodeValues, instance: str | None) -> None:
    if instance is not None and node.instance_uuid not in (None, instance):
        raise NodeAssociated(node=node.uuid, instance=node.instance_uuid)
    if instance is None and node.allocation_id is not None:
        check_allocation_ends(node)


def _check_protection(node: NodeValues, values: Mapping[str, object]) -> None:
    if values.get("protected") and node.provision_state not in (states.ACTIVE, states.RESCUE):
        raise _not_editable(node, "only active and rescued nodes can be protected")
    if values.get("protected_reason") is not None and not values.get("protected", node.protected):
        raise InvalidParameterValue(err="protected_reason needs protected to be true.")


def _check_retirement(node: NodeValues, values: Mapping[str, object]) -> None:
    if values.get("retired") and node.provision_state == states.AVAILABLE:
        raise _not_editable(node, "take it back to manageable before it is retired")
    if values.get("retired_reason") is not None and not values.get("retired", node.retired):
        raise InvalidParameterValue(err="retired_reason needs retired to be true.")


def _check_settled(node: NodeValues, what: str, *, maintenance_helps: bool) -> None:
    allowed = states.INTERFACES_EDITABLE
    if node.provision_state not in allowed and not (maintenance_helps and node.maintenance):
        raise _not_editable(node, f"{what} in: {', '.join(sorted(allowed))}")


def _not_editable(node: NodeValues, reason: str) -> NodeNotEditable:
    return NodeNotEditable(node=node.uuid, state=node.provision_state, reason=reason)


def consequences(values: Mapping[str, Any], instance_name: str | None = None) -> dict[str, object]:
    """Return what changes along with these values: the reason goes with its mark, a display name fills a gap.

    ``instance_name`` is the node's until now.
    """
    ended = (name for name, value in values.items() if value is False)
    also: dict[str, Any] = {cleared: None for name in ended for cleared in Node.table.fields[name].clears}
    display = (values.get("instance_info") or {}).get("display_name")
    if instance_name is None and "instance_name" not in values and isinstance(display, str) and 0 < len(display) <= 255:
        also["instance_name"] = display
    return also


# Values that no node may have, new or old

# Words that stand in a path where a node's name would.
_RESERVED_NAMES: Final = frozenset({"maintenance", "management", "states", "vendor_passthru", "detail", "validate"})


def check_values(values: Mapping[str, object]) -> None:
    """Refuse a name that a path could not tell from something else, and network data of another form."""
    if (name := values.get("name")) in _RESERVED_NAMES:
        raise InvalidParameterValue(err=f"The name {name} is a reserved word.")
    if wrong := network_data.fault(values.get("network_data")):
        raise InvalidParameterValue(err=f"{wrong}.")


def check_trust_paths(before: Mapping[str, object], after: Mapping[str, object]) -> None:
    """Refuse that a project's caller names files of a conductor's host as those whom to believe."""
    if names := trust_paths.named(before, after):
        raise InvalidParameterValue(
            err=f"Of {', '.join(names)} in driver_info only true or false is yours to say: paths are those of the "
            "service's own hosts."
        )


# The machine, its ports and its volumes

_PORTS_MOVE: Final = frozenset({states.ENROLL, states.INSPECTING, states.INSPECTWAIT, states.MANAGEABLE})


def check_idle(node: NodeValues, what: str) -> None:
    """Refuse what would put work that is under way on another footing after the machine's next reboot."""
    if node.provision_state in states.TRANSIENT:
        text = f"Node {node.uuid}: nobody can {what} in state '{node.provision_state}'. Wait for its end."
        raise InvalidState(text, node=node.uuid, state=node.provision_state, event=what)


def check_parts_editable(node: NodeValues, *, while_inspecting: bool) -> None:
    """Refuse to change ports and port groups while an inspection may change the same things."""
    if node.provision_state == states.INSPECTING and not while_inspecting:
        raise _not_editable(node, "it is being inspected, so its ports may change; try again later")


def check_port_address(node: NodeValues) -> None:
    """Refuse to change the MAC address by which an instance knows its network."""
    if not node.maintenance and (node.provision_state == states.ACTIVE or node.instance_uuid is not None):
        raise _not_editable(node, "an instance uses the address of its port")


def check_connectivity(node: NodeValues, changed: Sequence[str]) -> None:
    """Refuse to change how a port is connected while that decides how the machine boots."""
    if changed and not node.maintenance and node.provision_state not in _PORTS_MOVE:
        raise _not_editable(node, f"{', '.join(changed)} of a port decide how it boots")


def check_portgroup_leaves(node: NodeValues) -> None:
    """Refuse to give a port group of this node to another."""
    if not node.maintenance and node.provision_state not in _PORTS_MOVE:
        raise _not_editable(node, f"a port group leaves its node in {', '.join(sorted(_PORTS_MOVE))} or in maintenance")


def check_unbound(node: NodeValues, what: str, attached: bool) -> None:
    """Refuse to delete a port or port group (``what``) that a virtual interface is attached to."""
    if attached and not node.maintenance:
        raise Conflict(
            f"{what} of node {node.uuid} is in use by a virtual interface. Detach it, or take the node into "
            "maintenance, first."
        )


def check_volume_unused(node: NodeValues, what: str, *, deleting: bool) -> None:
    """Refuse to change a volume connector or target that a running machine may be using."""
    if node.power_state == states.POWER_OFF or (deleting and node.provision_state in states.DELETABLE):
        return
    raise NotPoweredOff(action=what, node=node.uuid, state=node.power_state or "unknown")
