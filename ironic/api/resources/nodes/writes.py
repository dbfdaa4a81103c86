"""Create, patch and delete nodes.

Creating and patching need no conductor: the interfaces of the node are chosen from the conductors' table, and the row
is read, checked and written in one transaction. A locked node is waited for a moment, then refused. The serving
conductor deletes a node.

A request names a chassis and a parent node by UUID or name, the row has an ID and a UUID. A reference to a row that
does not exist is a 400: the body is wrong, not the path. The rules that guard a field apply to a patch and to a new
node alike. Source: doc/contract/requests.md#rights-of-a-patch-of-a-node.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from ironic.api import access, answers, json_patch, named_nodes
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument
from ironic.api.crud import Create, Delete, Patch
from ironic.api.json_patch import Change
from ironic.api.request import Request
from ironic.api.resources.nodes import reads
from ironic.api.resources.nodes.authors import Caller, Enroller, project_bound, rule_of
from ironic.api.routes import Route, refuse_collection
from ironic.core import node_rules
from ironic.core.errors import InvalidParameterValue
from ironic.core.flows import states
from ironic.core.model.node import BOOT_MODES, Node
from ironic.core.node_rules import NodeValues
from ironic.core.values.value_types import Bool, Enum
from ironic.services import node_changes, nodes, refused_logins

if TYPE_CHECKING:
    from ironic.db import NodeRecord

_CREATE: Final = "baremetal:node:create"
_DELETE: Final = "baremetal:node:delete"
_DELETE_OWN: Final = "baremetal:node:delete:self_owned_node"


def rule_for(change: Change) -> str:
    """Return the rule that guards an operation of a patch."""
    return rule_of(change.root, None if change.op == "remove" else change.value)


def create(request: Request, values: dict[str, Any], project: str | None) -> Answer:
    """Enroll a node."""
    settings = request.settings
    if project is not None:
        if (values.get("owner") or project) != project:
            raise InvalidParameterValue(err="owner can only be your own project when a node is created.")
        values["owner"] = project
    values["uuid"] = values.get("uuid") or str(uuid4())
    values["conductor_group"] = values.get("conductor_group", settings.default_conductor_group)
    # Before 1.11 clients know no enroll and expect a new node to be available.
    values["provision_state"] = states.ENROLL if request.minor >= 11 else states.AVAILABLE
    author = Enroller(request, project, values)
    values = nodes.completed(values, author)
    values["resource_class"] = values.get("resource_class") or settings.default_resource_class
    record = nodes.enroll(values, author)
    return answers.created(reads.document(request, record, is_new=True), request.url(f"/v1/nodes/{record.uuid}"))


def _project_of_new(request: Request) -> str | None:
    """Return the project that a new node has to belong to, None for any; raises 403 if the caller may enroll none."""
    project = project_bound(request)
    if project is None:
        access.require_right(request, _CREATE)
    return project


def patch(request: Request, node: str, changes: Sequence[Change], reset_interfaces: bool = False) -> Answer:
    """Change a node."""
    if reset_interfaces and not any(change.path == ("driver",) for change in changes):
        raise InvalidParameterValue(err="reset_interfaces needs a change of the driver in the same patch.")
    for change in changes:
        if change.op != "remove" and change.value is None and Node.table.fields[change.root].only_removed:
            raise InvalidParameterValue(err=f"{change.root} must not be null; remove it instead.")
    rules = _rules_of(changes)
    if not request.services.policy.is_open:
        # Before the wait for a locked node; checked again under the lock, because the owner may have changed by then.
        with access.as_if_foreign(request, rules[0]):
            facts = named_nodes.node_values(request, node)
        _check_rights(request, facts, rules, node)
    record = node_changes.change_free(
        request.store,
        named_nodes.check_ident(request, node),
        lambda record: _change(request, record, changes, rules, node, reset=reset_interfaces),
        named_nodes.lock_retries(request),
    )
    refused_logins.forget_written(request.store, record.driver_info or {}, json_patch.written(changes)["driver_info"])
    return answers.document(reads.document(request, record))


def _change(
    request: Request, record: "NodeRecord", changes: Sequence[Change], rules: Sequence[str], node: str, *, reset: bool
) -> None:
    """Make the change of a patch, which ``node`` names so; the node can't change meanwhile."""
    _check_rights(request, record, rules, node)
    drops_instance = len(changes) == 1 and changes[0].op == "remove" and changes[0].path == ("instance_uuid",)
    node_rules.check_editable(record, while_inspecting=request.minor < 39, drops_instance=drops_instance)
    before = {change.root: getattr(record, change.root) for change in changes if change.root != "chassis_uuid"}
    if any(change.root == "chassis_uuid" for change in changes):
        (before["chassis_uuid"],) = request.store.nodes.row(("chassis_uuid",), record.id)
    values = json_patch.patched(Node, before, changes, request)
    nodes.change(record, values, Caller(request, changes), named=before, kept="none" if reset else "all")


def _rules_of(changes: Sequence[Change]) -> list[str]:
    return list(dict.fromkeys(rule_for(change) for change in changes)) or [rule_of("")]


def _check_rights(request: Request, record: NodeValues, rules: Sequence[str], ident: str) -> None:
    """Raise 403 or 404 when a rule denies one of the operations that ``rules`` guard."""
    for rule in rules:
        access.require(request, rule, record, ident)
    if record.provision_state == states.ACTIVE and rule_of("owner") in rules:
        access.require(request, "baremetal:node:update_owner_provisioned", record, ident)


def delete(request: Request, node: str) -> Answer:
    """Delete a node."""
    settings = request.settings
    with access.as_if_foreign(
        request, *((_DELETE_OWN,) if settings.project_admin_can_manage_own_nodes else ()), _DELETE
    ):
        facts = named_nodes.node_values(request, node)
    by_owner = settings.project_admin_can_manage_own_nodes and access.allows(
        request, _DELETE_OWN, facts.owner, facts.lessee
    )
    if not by_owner:
        access.require(request, _DELETE, facts, node)
    node_rules.check_deletable(facts, available_too=settings.allow_deleting_available_nodes)
    node_changes.check_served(request.hash_ring, facts.uuid, facts.driver, facts.conductor_group)
    request.conductors.serving(facts).destroy_node(request.context, facts.uuid)
    return NO_CONTENT


_ALL: Final = "/v1/nodes"
_ONE: Final = "/v1/nodes/{node}"
_WHOLE: Final = refuse_collection("a node's UUID or name")

# The rules depend on what changes and on the owner of the node: the handlers check them.
ROUTES = (
    # The right to enroll is checked before the values are.
    Route(
        "POST",
        _ALL,
        create,
        handler_authorizes=True,
        precheck=_project_of_new,
        precheck_as="project",
        of=Create(Node, exact={"boot_mode": Enum(*BOOT_MODES, name="boot mode")}),
    ),
    Route("PATCH", _ALL, _WHOLE),
    Route("DELETE", _ALL, _WHOLE),
    Route("POST", _ONE, _WHOLE),
    Route(
        "PATCH",
        _ONE,
        patch,
        handler_authorizes=True,
        query=(Argument("reset_interfaces", Bool(), since=45),),
        of=Patch(Node),
    ),
    Route("DELETE", _ONE, delete, handler_authorizes=True, of=Delete(Node)),
)
