"""Who may change what of a node, and when.

Pure decisions about a node's row and the values somebody wants there; each returns or raises, nothing is written here.
Sources: facts/state_machine.yaml (permissions), facts/endpoints.yaml and fields.yaml (notes).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ironic.api.json_patch import Change
from ironic.core import network_data, states, trust_paths
from ironic.core.errors import (
    InvalidParameterValue,
    InvalidState,
    NodeAssociated,
    NodeNotEditable,
    NodeProtected,
)
from ironic.core.model.node import INTERFACES, Node

if TYPE_CHECKING:
    from ironic.api.resources.nodes.references import Facts
    from ironic.db import NodeRecord

    NodeFacts: TypeAlias = Facts | NodeRecord

# Words that stand in a path where a node's name would.
RESERVED_NAMES: Final = frozenset({"maintenance", "management", "states", "vendor_passthru", "detail", "validate"})


def check_name(name: str | None) -> None:
    """Refuse names that a path could not tell from something else."""
    if name in RESERVED_NAMES:
        raise InvalidParameterValue(err=f"The name {name} is a reserved word.")


def check_network_data(document: Any) -> None:
    """Refuse network data that is no document of links, networks and services."""
    if wrong := network_data.fault(document):
        raise InvalidParameterValue(err=f"{wrong}.")


def check_trust_paths(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Refuse that a project's caller names files of a conductor's host as those whom to believe."""
    if names := trust_paths.named(before, after):
        raise InvalidParameterValue(
            err=f"Of {', '.join(names)} in driver_info only true or false is yours to say: paths are those of the "
            "service's own hosts."
        )


def check_editable(node: "NodeFacts", changes: Sequence[Change], minor: int) -> None:
    """Refuse any patch while a conductor is at work on the node."""
    if node.maintenance and _only_drops_instance(changes):
        return
    state = node.provision_state
    if node.target_provision_state and state not in states.EDITABLE_WITH_TARGET:
        raise NodeNotEditable(node=node.uuid, state=state, reason="it is on its way to another state, try again later")
    if state == states.INSPECTING and minor >= 39:
        raise NodeNotEditable(node=node.uuid, state=state, reason="it is being inspected, try again later")


def _only_drops_instance(changes: Sequence[Change]) -> bool:
    return len(changes) == 1 and changes[0].op == "remove" and changes[0].path == ("instance_uuid",)


def check_changes(node: "NodeFacts", values: Mapping[str, Any]) -> None:
    """Refuse new values that the node's state or its other values don't allow."""
    if INTERFACES & values.keys():
        _check_settled(node, "its interfaces can be changed", states.INTERFACES_EDITABLE, maintenance_helps=True)
    if "resource_class" in values and node.resource_class is not None:
        _check_settled(node, "its resource class can be changed", states.INTERFACES_EDITABLE, maintenance_helps=False)
    if "instance_uuid" in values:
        _check_instance(node, values["instance_uuid"])
    if "driver" in values and node.console_enabled:
        raise NodeNotEditable(node=node.uuid, state=node.provision_state, reason="stop its console first")
    _check_protection(node, values)
    _check_retirement(node, values)


def _check_settled(node: "NodeFacts", what: str, allowed: frozenset[str], *, maintenance_helps: bool) -> None:
    if node.provision_state in allowed or (maintenance_helps and node.maintenance):
        return
    reason = f"{what} in: {', '.join(sorted(allowed))}"
    raise NodeNotEditable(node=node.uuid, state=node.provision_state, reason=reason)


def _check_instance(node: "NodeFacts", instance: str | None) -> None:
    if instance is not None and node.instance_uuid not in (None, instance):
        raise NodeAssociated(node=node.uuid, instance=node.instance_uuid)
    if instance is None and node.allocation_id is not None:
        check_undoable(node)


def check_undoable(node: "NodeFacts") -> None:
    """Refuse to undo the allocation of a node that has its instance, or is about to get it."""
    _check_settled(node, "its allocation can be undone", states.INTERFACES_EDITABLE, maintenance_helps=True)


def _check_protection(node: "NodeFacts", values: Mapping[str, Any]) -> None:
    protected = values.get("protected", node.protected)
    if values.get("protected") and node.provision_state not in (states.ACTIVE, states.RESCUE):
        raise NodeNotEditable(
            node=node.uuid, state=node.provision_state, reason="only active and rescued nodes can be protected"
        )
    if values.get("protected_reason") is not None and not protected:
        raise InvalidParameterValue(err="protected_reason needs protected to be true.")


def _check_retirement(node: "NodeFacts", values: Mapping[str, Any]) -> None:
    retired = values.get("retired", node.retired)
    if values.get("retired") and node.provision_state == states.AVAILABLE:
        raise NodeNotEditable(
            node=node.uuid, state=node.provision_state, reason="take it back to manageable before it is retired"
        )
    if values.get("retired_reason") is not None and not retired:
        raise InvalidParameterValue(err="retired_reason needs retired to be true.")


def consequences(values: Mapping[str, Any], instance_name: str | None) -> dict[str, Any]:
    """Return what changes along with these values."""
    ended = (name for name, value in values.items() if value is False)
    also: dict[str, Any] = {cleared: None for name in ended for cleared in Node.table.fields[name].clears}
    display = (values.get("instance_info") or {}).get("display_name")
    if instance_name is None and "instance_name" not in values and isinstance(display, str) and 0 < len(display) <= 255:
        also["instance_name"] = display
    return also


def check_deletable(node: "NodeFacts", *, available_too: bool) -> None:
    """Refuse to delete a node that is in use, at work or protected."""
    if node.protected:
        raise NodeProtected(node=node.uuid)
    if node.maintenance:
        return
    if node.instance_uuid is not None:
        raise NodeAssociated(node=node.uuid, instance=node.instance_uuid)
    allowed = states.DELETABLE | {states.AVAILABLE} if available_too else states.DELETABLE
    if node.provision_state not in allowed:
        raise InvalidState(
            f"Node {node.uuid} can't be deleted in state '{node.provision_state}'. "
            f"Possible in: {', '.join(sorted(allowed))}, or in maintenance."
        )
