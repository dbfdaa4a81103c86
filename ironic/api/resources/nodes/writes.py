"""Creating, changing and deleting nodes.

Create and change take no conductor: interfaces are resolved from the conductors' table, the row is read, judged and
written in one transaction. A node that another operation holds is waited for a moment, then refused. Deleting is the
serving conductor's work.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ironic.api import access, answers, named_nodes, patching, usable_runbooks
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument
from ironic.api.forms import Create, Delete, Patch
from ironic.api.json_patch import Change
from ironic.api.refusing import needs_one
from ironic.api.request import Request
from ironic.api.resources.nodes import reads, references, rights
from ironic.api.routes import Route
from ironic.core import node_rules, states
from ironic.core.errors import HTTPForbidden, InvalidParameterValue
from ironic.core.interface_kinds import KINDS, interface_field
from ironic.core.model.node import INTERFACES, Node
from ironic.core.node_rules import NodeValues
from ironic.core.values import Bool
from ironic.services import allocations, nodes, serving

if TYPE_CHECKING:
    from ironic.db import NodeRecord


def create(request: Request, values: dict[str, Any], project: str | None) -> Answer:
    """Enroll a node."""
    if project is not None:
        _claim(values, project)
        node_rules.check_trust_paths({}, values.get("driver_info", {}))
    _check_new(request, values)
    values["uuid"] = values.get("uuid") or str(uuid4())
    values["conductor_group"] = group = values.get("conductor_group", request.settings.default_conductor_group)
    rights.check_new(request, values)
    usable_runbooks.check_named_in(
        request, {}, values.get("driver_info", {}), values.get("owner"), values.get("lessee")
    )
    serving.check_served(request.placement, values["uuid"], values["driver"], group)
    values |= serving.interfaces(request.placement, values["driver"], group, values)
    # Callers from before 1.11 know no enroll and expect a node that can be used at once.
    values["provision_state"] = states.ENROLL if request.minor >= 11 else states.AVAILABLE
    values["resource_class"] = values.get("resource_class") or request.settings.default_resource_class
    record = nodes.enroll(request.store, values, partial(references.resolved, request))
    return answers.created(reads.document(request, record), request.url(f"/v1/nodes/{record.uuid}"))


def _bound_to(request: Request) -> str | None:
    """Return the project that the caller may enroll nodes for, None for any; refuse who may for none."""
    if access.allows(request, "baremetal:node:create"):
        return None
    project = request.context.project_id if request.settings.project_admin_can_manage_own_nodes else None
    if project is None or not access.allows(request, "baremetal:node:create:self_owned_node"):
        raise HTTPForbidden(resource="baremetal:node:create")
    return project


def _claim(values: dict[str, Any], project: str) -> None:
    if (values.get("owner") or project) != project:
        raise InvalidParameterValue(err="owner can only be your own project when a node is created.")
    values["owner"] = project


def _check_new(request: Request, values: Mapping[str, Any]) -> None:
    node_rules.check_values(values)
    if values.get("boot_mode") in request.settings.disallowed_boot_modes:
        raise InvalidParameterValue(err="New nodes with this boot_mode are not allowed here.")


def patch(request: Request, node: str, changes: Sequence[Change], reset_interfaces: bool = False) -> Answer:
    """Change a node."""
    _check_patch(request, changes, reset=reset_interfaces)
    if not request.services.policy.is_open:
        # Before the node is waited for; judged again when it is held, as it may have another owner by then.
        _check_rights(request, named_nodes.facts(request, node), changes, ident=node)
    changed = named_nodes.change_free(
        request, node, lambda record: _change(request, record, changes, reset=reset_interfaces)
    )
    return answers.document(reads.document(request, changed))


def _check_patch(request: Request, changes: Sequence[Change], *, reset: bool) -> None:
    if reset and not any(change.path == ("driver",) for change in changes):
        raise InvalidParameterValue(err="reset_interfaces needs a change of the driver in the same patch.")
    for change in changes:
        if change.op != "remove" and change.value is None and Node.table.fields[change.root].only_removed:
            raise InvalidParameterValue(err=f"{change.root} must not be null; remove it instead.")


def _change(request: Request, record: "NodeRecord", changes: Sequence[Change], *, reset: bool) -> None:
    _check_rights(request, record, changes)
    drops_instance = len(changes) == 1 and changes[0].op == "remove" and changes[0].path == ("instance_uuid",)
    node_rules.check_editable(record, while_inspecting=request.minor < 39, drops_instance=drops_instance)
    before = references.document(request, record, {change.root for change in changes})
    values = patching.patched(Node, before, changes, request.minor)
    patching.check_logins(request, rights.rule_of("driver_info"), "driver_info", before, values, changes)
    if "driver_info" in values:
        if access.acts_for_project(request, rights.rule_of("driver_info")):
            node_rules.check_trust_paths(before["driver_info"], values["driver_info"])
        usable_runbooks.check_named_in(
            request, before["driver_info"], values["driver_info"], record.owner, record.lessee
        )
    node_rules.check_changes(record, values)
    node_rules.check_values(values)
    values |= node_rules.consequences(values, record.instance_name)
    values |= _composition(request, record, values, reset=reset)
    allocations.follow(request.store, record, values)
    for name, value in references.resolved(request, values, owner=record.owner).items():
        setattr(record, name, value)


def _check_rights(
    request: Request,
    record: NodeValues,
    changes: Sequence[Change],
    ident: str | None = None,
) -> None:
    for rule in dict.fromkeys(rights.rule_for(change) for change in changes) or (access.SEE_NODE,):
        access.require(request, rule, record, ident)
    if record.provision_state == states.ACTIVE and any(change.root == "owner" for change in changes):
        access.require(request, "baremetal:node:update_owner_provisioned", record)


def _composition(request: Request, record: "NodeRecord", values: Mapping[str, Any], *, reset: bool) -> dict[str, str]:
    """Judge driver, group and interfaces as a whole, so one patch may change several at once (S24).

    ``reset`` gives up all interfaces but those that change; a value that the node has already is no change.
    """
    recomposed = reset or bool(values.keys() & (INTERFACES | {"driver"}))
    if not recomposed and "conductor_group" not in values:
        return {}
    driver = values.get("driver", record.driver)
    group = values.get("conductor_group", record.conductor_group)
    serving.check_served(request.placement, record.uuid, driver, group)
    if not recomposed:
        return {}
    if not reset and "driver" not in values:
        # What the patch leaves alone may have been disabled since it was chosen, and is no reason to refuse (S26).
        touched = [kind for kind in KINDS if interface_field(kind) in values]
        return serving.interfaces(request.placement, driver, group, values, touched)
    kept: dict[str, Any] = {} if reset else {name: getattr(record, name) for name in INTERFACES}
    return serving.interfaces(request.placement, driver, group, kept | dict(values))


def delete(request: Request, node: str) -> Answer:
    """Delete a node."""
    facts = named_nodes.facts(request, node)
    if not _may_delete_own(request, facts):
        access.require(request, "baremetal:node:delete", facts)
    node_rules.check_deletable(facts, available_too=request.settings.allow_deleting_available_nodes)
    serving.check_served(request.placement, facts.uuid, facts.driver, facts.conductor_group)
    request.conductors.serving(facts).destroy_node(request.context, facts.uuid)
    return NO_CONTENT


def _may_delete_own(request: Request, facts: NodeValues) -> bool:
    allowed = request.settings.project_admin_can_manage_own_nodes
    return allowed and access.allows(request, "baremetal:node:delete:self_owned_node", facts.owner, facts.lessee)


# The rules of creating, changing and deleting depend on what is changed and whose node it is: see the handlers.
_WHOLE = needs_one("a node's UUID or name")
ROUTES = (
    # Who may not enroll any node learns that before what is wrong with this one.
    Route("POST", "/v1/nodes", create, judges=True, first=_bound_to, learns="project", of=Create(Node)),
    Route("PATCH", "/v1/nodes", _WHOLE),
    Route("DELETE", "/v1/nodes", _WHOLE),
    Route("POST", "/v1/nodes/{node}", _WHOLE),
    Route(
        "PATCH",
        "/v1/nodes/{node}",
        patch,
        judges=True,
        query=(Argument("reset_interfaces", Bool(), since=45),),
        of=Patch(Node),
    ),
    Route("DELETE", "/v1/nodes/{node}", delete, judges=True, of=Delete(Node)),
)
