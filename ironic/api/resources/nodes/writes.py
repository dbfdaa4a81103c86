"""Create, patch and delete nodes.

Creating and patching need no conductor: the interfaces of the node are chosen from the conductors' table, and the row
is read, checked and written in one transaction. A locked node is waited for a moment, then refused. The serving
conductor deletes a node.

A request names a chassis and a parent node by UUID or name, the row has an ID and a UUID. A reference to a row that
does not exist is a 400: the body is wrong, not the path. The rules that guard a field apply to a patch and to a new
node alike. Source: doc/contract/requests.md#rights-of-a-patch-of-a-node.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from ironic.api import access, answers, json_patch, named_nodes, row_rooms, step_lists
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument
from ironic.api.crud import Create, Delete, Patch
from ironic.api.json_patch import Change
from ironic.api.request import Request
from ironic.api.resources.nodes import reads
from ironic.api.routes import Route, refuse_collection
from ironic.core import bmc_hosts, node_rules, secret_updates, states
from ironic.core.errors import InvalidParameterValue
from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.core.kernel_parameters import check_project_parameters
from ironic.core.model.node import BOOT_MODES, INTERFACES, Node
from ironic.core.node_rules import NodeValues
from ironic.core.resource_errors import ChassisNotFound
from ironic.core.values import Bool, Enum
from ironic.services import allocation_binding, node_changes, node_parents, refused_logins, row_limits
from ironic.services.maintenance_history import Maintenance, note_change

if TYPE_CHECKING:
    from ironic.db import NodeRecord

_CREATE: Final = "baremetal:node:create"
_CREATE_OWN: Final = "baremetal:node:create:self_owned_node"
_DELETE: Final = "baremetal:node:delete"
_DELETE_OWN: Final = "baremetal:node:delete:self_owned_node"
_UPDATE_PARENT: Final = "baremetal:node:update:parent_node"


def rule_of(name: str, value: object = None) -> str:
    """Return the rule that guards setting a field to a value; for no field, that of a patch which changes nothing."""
    one = Node.table.fields.get(name)
    return (one and one.right_to_set(value)) or "baremetal:node:update"


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
        node_rules.check_project_driver_info({}, values.get("driver_info", {}))
        node_rules.check_project_properties({}, values.get("properties", {}))
        for name in secret_updates.IMAGE_DOCUMENTS:
            check_project_parameters(name, {}, values.get(name) or {}, settings.ramdisk.project_kernel_parameters)
    node_rules.check_values(values)
    if node_rules.named_boot_modes(values) & settings.disallowed_boot_modes:
        raise InvalidParameterValue(err="New nodes with this boot_mode are not allowed here.")
    values["uuid"] = values.get("uuid") or str(uuid4())
    values["conductor_group"] = group = values.get("conductor_group", settings.default_conductor_group)
    _check_rights_of_new(request, values)
    step_lists.check_named_in(request, {}, values.get("driver_info", {}), values.get("owner"), values.get("lessee"))
    node_changes.check_served(request.hash_ring, values["uuid"], values["driver"], group)
    values |= node_changes.chosen_interfaces(request.hash_ring, values["driver"], group, values)
    # Before 1.11 clients know no enroll and expect a new node to be available.
    values["provision_state"] = states.ENROLL if request.minor >= 11 else states.AVAILABLE
    node_rules.check_new(values)
    values |= node_rules.implied_values(values)
    _check_instance_interfaces(request, values["driver"], group, {}, values.get("instance_info") or {})
    if (info := values.get("driver_info")) and not request.services.policy.is_open:
        by_project = project is not None
        values["driver_internal_info"] = bmc_hosts.with_chooser({}, {}, info, [((), info)], by_project=by_project)
    values["resource_class"] = values.get("resource_class") or settings.default_resource_class
    room = row_rooms.of_project(request, project, Node)
    record = node_changes.enroll(request.store, values, partial(_as_columns, request), room)
    return answers.created(reads.document(request, record, is_new=True), request.url(f"/v1/nodes/{record.uuid}"))


def _project_of_new(request: Request) -> str | None:
    """Return the project that a new node has to belong to, None for any; raises 403 if the caller may enroll none."""
    project = _project_bound(request)
    if project is None:
        access.require_right(request, _CREATE)
    return project


def _project_bound(request: Request) -> str | None:
    """Return the project whose number of nodes has a limit when the caller enrolls one; None for other callers."""
    project = request.context.project_id if request.settings.project_admin_can_manage_own_nodes else None
    return project if project is not None and access.allows(request, _CREATE_OWN) else None


def _check_rights_of_new(request: Request, values: Mapping[str, Any]) -> None:
    """Raise 403 for a value in a new node that the caller could not set afterwards; defaults need no right."""
    if request.services.policy.is_open:
        return
    # What no patch sets has a right if a route of its own does.
    settable = {name: one for name, one in Node.writable("create").items() if one.right is not None}
    known = Node.writable("patch") | settable
    default = {name: one.empty for name, one in known.items()}
    default["conductor_group"] = request.settings.default_conductor_group
    given = {name: value for name, value in values.items() if name in known and not known[name].free_on_create}
    for rule in dict.fromkeys(rule_of(name, value) for name, value in given.items() if value != default[name]):
        access.require_right(request, rule, values.get("owner"), values.get("lessee"))


def _as_columns(request: Request, values: Mapping[str, Any], record: "NodeRecord | None" = None) -> dict[str, Any]:
    """Return values for the row: the chassis as an ID, the parent as a UUID; ``record`` is None for a new node."""
    columns = dict(values)
    if "chassis_uuid" in columns:
        chassis = columns.pop("chassis_uuid")
        try:
            columns["chassis_id"] = None if chassis is None else request.store.chassis.row(("id",), chassis)[0]
        except ChassisNotFound as error:
            raise InvalidParameterValue(err=str(error)) from None
    if (ident := columns.get("parent_node")) is not None:
        parent = named_nodes.seen_holder(request, ident, "parent_node names no node.")
        # A new parent is a change of both nodes.
        is_own = parent.owner == columns.get("owner", record and record.owner)
        if not is_own or not access.allows(request, _UPDATE_PARENT, parent.owner, parent.lessee):
            raise InvalidParameterValue(err="parent_node belongs to another owner.")
        own = str(columns.get("uuid")) if record is None else record.uuid
        node_parents.check_parent(request.store, own, parent.uuid)
        columns["parent_node"] = parent.uuid
    return columns


def patch(request: Request, node: str, changes: Sequence[Change], reset_interfaces: bool = False) -> Answer:
    """Change a node."""
    if reset_interfaces and not any(change.path == ("driver",) for change in changes):
        raise InvalidParameterValue(err="reset_interfaces needs a change of the driver in the same patch.")
    for change in changes:
        if change.op != "remove" and change.value is None and Node.table.fields[change.root].only_removed:
            raise InvalidParameterValue(err=f"{change.root} must not be null; remove it instead.")
    if not request.services.policy.is_open:
        # Before the wait for a locked node; checked again under the lock, because the owner may have changed by then.
        with access.as_if_foreign(request, _rules_of(changes)[0]):
            facts = named_nodes.node_values(request, node)
        _check_rights(request, facts, changes, node)
    record = node_changes.change_free(
        request.store,
        named_nodes.check_ident(request, node),
        lambda record: _change(request, record, changes, node, reset=reset_interfaces),
        named_nodes.lock_retries(request),
    )
    refused_logins.forget_written(
        request.store, record.driver_info or {}, json_patch.written_to("driver_info", changes)
    )
    return answers.document(reads.document(request, record))


def _change(request: Request, record: "NodeRecord", changes: Sequence[Change], node: str, *, reset: bool) -> None:
    """Check a patch against the node, which can't change meanwhile, and set the new values of the record.

    ``node`` is how the caller named it.
    """
    _check_rights(request, record, changes, node)
    drops_instance = len(changes) == 1 and changes[0].op == "remove" and changes[0].path == ("instance_uuid",)
    node_rules.check_editable(record, while_inspecting=request.minor < 39, drops_instance=drops_instance)
    roots = {change.root for change in changes}
    before = {name: getattr(record, name) for name in roots if name != "chassis_uuid"}
    if "chassis_uuid" in roots:
        (before["chassis_uuid"],) = request.store.nodes.row(("chassis_uuid",), record.id)
    values = json_patch.patched(Node, before, changes, request)
    json_patch.check_logins(request, rule_of("driver_info"), "driver_info", before, values, changes)
    _check_image_logins(request, record, values, changes)
    for name in secret_updates.IMAGE_DOCUMENTS:
        if name in values and access.acts_for_project(request, rule_of(name)):
            check_project_parameters(
                name, before[name] or {}, values[name], request.settings.ramdisk.project_kernel_parameters
            )
    if "driver_info" in values:
        if access.acts_for_project(request, rule_of("driver_info")):
            node_rules.check_project_driver_info(before["driver_info"], values["driver_info"])
        step_lists.check_named_in(request, before["driver_info"], values["driver_info"], record.owner, record.lessee)
    # Without rights there are no projects, but machines may have reported an address.
    is_noted = bool((record.driver_internal_info or {}).get(bmc_hosts.BY_PROJECT))
    if "driver_info" in roots and (is_noted or not request.services.policy.is_open):
        values |= _noted_chooser(request, record, before["driver_info"], values, changes)
    if "properties" in values and access.acts_for_project(request, rule_of("properties")):
        node_rules.check_project_properties(before["properties"] or {}, values["properties"])
    node_rules.check_changes(record, values)
    node_rules.check_values(values)
    values |= node_rules.implied_values(values, record.instance_name)
    if "instance_info" in values:
        driver, group = (values.get(name, getattr(record, name)) for name in ("driver", "conductor_group"))
        _check_instance_interfaces(request, driver, group, before["instance_info"] or {}, values["instance_info"])
    # Those that the patch names but does not change are chosen for another driver too.
    named = {name: before[name] for name in roots & INTERFACES} if "driver" in values else {}
    values |= _interfaces(request, record, named | values, reset=reset)
    allocation_binding.follow_node_change(request.store, record, values)
    owner = values.get("owner")
    if owner is not None and owner != record.owner and _project_bound(request) is not None:
        row_limits.check_room(request.store.nodes, row_rooms.of_project(request, owner, Node))
    maintenance = Maintenance.of(record)
    for name, value in _as_columns(request, values, record).items():
        setattr(record, name, value)
    note_change(request.store, request.context, record, maintenance)


def _check_image_logins(
    request: Request, record: "NodeRecord", values: Mapping[str, Any], changes: Sequence[Change]
) -> None:
    """Refuse that a project's patch sends logins, perhaps those of another project, to servers of its choice."""
    changed = [name for name in secret_updates.IMAGE_DOCUMENTS if name in values]
    if not any(access.acts_for_project(request, rule_of(name)) for name in changed):
        return
    before = {name: getattr(record, name) or {} for name in secret_updates.IMAGE_DOCUMENTS}
    after = before | {name: values[name] for name in changed}
    written = {name: json_patch.written_to(name, changes) for name in changed}
    names = secret_updates.redirected_image_secrets(before, after, written)
    json_patch.refuse_redirected(names, " and ".join(changed))


def _noted_chooser(
    request: Request,
    record: "NodeRecord",
    before: Mapping[str, Any] | None,
    values: Mapping[str, Any],
    changes: Sequence[Change],
) -> dict[str, Any]:
    """Return driver_internal_info if a patch of driver_info changes who has chosen the host of the BMC."""
    internal = record.driver_internal_info or {}
    noted = bmc_hosts.with_chooser(
        internal,
        before or {},
        values.get("driver_info", before) or {},
        json_patch.written_to("driver_info", changes),
        by_project=access.acts_for_project(request, rule_of("driver_info")),
    )
    return {} if noted == internal else {"driver_internal_info": noted}


def _rules_of(changes: Sequence[Change]) -> list[str]:
    return list(dict.fromkeys(rule_for(change) for change in changes)) or [rule_of("")]


def _check_rights(request: Request, record: NodeValues, changes: Sequence[Change], ident: str) -> None:
    """Raise 403 or 404 when a rule denies one of the operations."""
    for rule in _rules_of(changes):
        access.require(request, rule, record, ident)
    if record.provision_state == states.ACTIVE and any(change.root == "owner" for change in changes):
        access.require(request, "baremetal:node:update_owner_provisioned", record, ident)


def _check_instance_interfaces(
    request: Request, driver: str, group: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    """Refuse an interface for the instance that the node can't have: its power and its removal would fail."""
    asked = node_rules.interfaces_of_instance(before, after)
    kinds = [kind for kind in KINDS if interface_field(kind) in asked]
    node_changes.chosen_interfaces(request.hash_ring, driver, group, asked, kinds)


def _interfaces(
    request: Request, record: "NodeRecord", values: Mapping[str, Any], *, reset: bool
) -> dict[str, str | None]:
    """Return the interfaces that a patch of driver, group or interfaces leads to, checked as a whole (S24).

    ``reset``: another driver replaces all interfaces but those in ``values``, where the node's state allows it.
    """
    reset = reset and values.get("driver", record.driver) != record.driver
    recomposed = reset or bool(values.keys() & (INTERFACES | {"driver"}))
    if not recomposed and "conductor_group" not in values:
        return {}
    driver = values.get("driver", record.driver)
    group = values.get("conductor_group", record.conductor_group)
    node_changes.check_served(request.hash_ring, record.uuid, driver, group)
    if not recomposed:
        return {}
    if not reset and "driver" not in values:
        # Interfaces that the patch does not set may have been disabled since; that must not refuse the patch (S26).
        touched = [kind for kind in KINDS if interface_field(kind) in values]
        return node_changes.chosen_interfaces(request.hash_ring, driver, group, values, touched)
    kept = {} if reset else {name: getattr(record, name) for name in INTERFACES - values.keys()}
    chosen = node_changes.chosen_interfaces(request.hash_ring, driver, group, values, kept=kept)
    # Another driver may replace interfaces that the patch does not name.
    node_rules.check_changes(record, {name: value for name, value in chosen.items() if value != getattr(record, name)})
    return chosen


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
