"""`/v1/allocations`: list, show, create, patch and delete allocations, also below their node.

An allocation reserves a node for an instance. A new one is stored and passed to a conductor, which looks for a node;
the result shows in the allocation. An allocation for a node that already has its instance is written here, together
with the node, and so is the end of an allocation.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from ironic.api import access, answers, json_patch, listing, named_nodes, projection, row_rooms
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.crud import Create, Delete, List, One, Patch
from ironic.api.json_patch import Change
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route, refuse_collection
from ironic.core import allocation_matching as matching
from ironic.core.errors import HTTPForbidden, InvalidParameterValue, IronicError, MissingParameterValue, NodeNotFound
from ironic.core.errors.resource_errors import AllocationNotFound
from ironic.core.model.allocation import Allocation
from ironic.services import allocation_binding, row_changes
from ironic.services.row_limits import Room

if TYPE_CHECKING:
    from ironic.db import AllocationRecord


_LIST_ALL: Final = f"{access.LIST_ALLOCATIONS}_all"
_GET: Final = "baremetal:allocation:get"
_CREATE: Final = "baremetal:allocation:create"
_CREATE_RESTRICTED: Final = "baremetal:allocation:create_restricted"
# A deprecated rule from before roles had ranks; it never allows another owner.
_CREATE_UNRANKED: Final = "baremetal:allocation:create_pre_rbac"
_UPDATE: Final = "baremetal:allocation:update"
_DELETE: Final = "baremetal:allocation:delete"


def index(request: Request, page: Page) -> Answer:
    """List allocations."""
    filters = listing.store_filters(Allocation, page)
    if (node := page.filters.get("node")) is not None:
        try:
            filters["node_id"] = named_nodes.seen_id(request, node)
        except NodeNotFound:
            raise InvalidParameterValue(err="node names a node that does not exist.") from None
    project = access.own_project(request, access.LIST_ALLOCATIONS)
    if project is not None and not _may(request, _GET, project):
        raise HTTPForbidden(resource=_GET)
    if project is not None and filters.setdefault("owner", project) != project:
        raise HTTPForbidden(resource=_LIST_ALL)
    return listing.answer(request, Allocation, request.store.allocations, page, filters)


def show(request: Request, allocation: str, view: Projection) -> Answer:
    """Show one allocation."""
    return answers.document(view.document(request, request.store.allocations.row(view.columns, allocation)))


def show_of_node(request: Request, node: str, view: Projection) -> Answer:
    """Show the allocation of a node."""
    try:
        access.require_named(request, access.SEE_NODE, node)
        found = _allocation_of_node(request, node, _GET)
    except NodeNotFound:
        # Programs write a null as "None": the node of an allocation that has none yet.
        if node != "None":
            raise
        raise InvalidParameterValue(err="No node is named None; an allocation has a node once it is active.") from None
    return answers.document(view.document(request, request.store.allocations.row(view.columns, found)))


def _allocation_of_node(request: Request, node: str, rule: str) -> str:
    """Return the UUID of the allocation of a node; raises AllocationNotFound, or 403 if the rule denies.

    Who sees the node sees that it has an allocation.
    """
    uuid, allocation = named_nodes.row(request, ("uuid", "allocation_uuid"), node)
    if allocation is None:
        raise AllocationNotFound(f"Node {uuid} has no allocation.", allocation=None)
    if not request.services.policy.is_open:
        (owner,) = request.store.allocations.row(("owner",), allocation)
        if not _may(request, rule, owner):
            raise HTTPForbidden(resource=rule)
    return str(allocation)


def _may(request: Request, rule: str, owner: str | None) -> bool:
    """Return whether a rule allows the caller what it guards, on an allocation of this owner."""
    return request.rights.allows(rule, {"allocation.owner": owner})


def create(request: Request, values: dict[str, Any]) -> Answer:
    """Create an allocation."""
    if values.get("resource_class") is None and values.get("node") is None:
        raise MissingParameterValue(err="resource_class is required.")
    owner = values.get("owner")
    project = _project_of_new(request, has_owner=owner is not None)
    if project is not None and owner not in (None, project):
        raise HTTPForbidden(resource=_CREATE)
    values["owner"] = owner if project is None else project
    values["candidate_nodes"] = _uuids(request, values.get("candidate_nodes", []), project)
    room = row_rooms.of_project(request, project, Allocation)
    node = values.pop("node", None)
    if node is None:
        record = _request_node(request, values, room)
    else:
        (node,) = _uuids(request, [node], project)
        retries = named_nodes.lock_retries(request)
        record = allocation_binding.record_deployed(request.store, node, values, retries, room)
    document = projection.full(Allocation, request.minor).of_record(request, record, {"node_uuid": node})
    return answers.created(document, request.url(f"/v1/allocations/{record.uuid}"))


def _check_new(given: Mapping[str, object], minor: int) -> None:
    """Raise InvalidParameterValue for a node in a version without it, where it counts as unknown."""
    if minor < 58 and given.get("node") is not None:
        raise InvalidParameterValue(err="node needs API version 1.58 or later.")


def _project_of_new(request: Request, *, has_owner: bool) -> str | None:
    """Return the project that a new allocation and its nodes have to belong to, None for any; raises 403."""
    if request.services.policy.is_open:
        return None
    rules = (_CREATE, _CREATE_RESTRICTED) if has_owner else (_CREATE, _CREATE_RESTRICTED, _CREATE_UNRANKED)
    if not any(access.allows(request, rule) for rule in rules):
        raise HTTPForbidden(resource=_CREATE)
    if access.is_site_operator(request) or access.allows(request, _LIST_ALL):
        return None
    if (project := request.context.project_id) is None:
        raise HTTPForbidden(resource=_CREATE)
    return project


def _uuids(request: Request, idents: list[str], project: str | None) -> list[str]:
    """Return the UUIDs of nodes that a body names; raises InvalidParameterValue for one that the project has not."""
    known = request.store.allocations.uuids_of(idents, project) if idents else {}
    for position, ident in enumerate(idents, 1):
        if ident not in known:
            raise InvalidParameterValue(err=f"Node {position} of those that the body names does not exist.")
    return [known[ident] for ident in idents]


def _request_node(request: Request, values: dict[str, Any], room: Room | None) -> "AllocationRecord":
    """Store an allocation and pass it to a conductor; it is removed again if the conductor can't be reached."""
    uuid = values.get("uuid") or str(uuid4())
    conductor = request.conductors.for_work(uuid)
    new = values | {"uuid": uuid, "state": matching.ALLOCATING}
    record = row_changes.add(request.store, request.store.allocations, new, lambda values: values, lambda columns: room)
    try:
        conductor.process_allocation(request.context, uuid)
    except IronicError:
        # The conductor may have started nevertheless; then the allocation stays and shows its result.
        if request.store.allocations.withdraw(record.id):
            raise
    return record


def patch(request: Request, allocation: str, changes: Sequence[Change]) -> Answer:
    """Change the name or the extra of an allocation."""
    if any(isinstance(change.value, (list, float)) for change in changes):
        raise InvalidParameterValue(err="The value of a patch of an allocation must not be a list or a fraction.")

    def revise(record: "AllocationRecord") -> dict[str, Any]:
        before = {name: getattr(record, name) for name in Allocation.table.written["patch"]}
        return json_patch.patched(Allocation, before, changes, request)

    record = row_changes.change(request.store, request.store.allocations, allocation, revise)
    view = projection.full(Allocation, request.minor)
    return answers.document(view.document(request, request.store.allocations.row(view.columns, record.uuid)))


def delete(request: Request, allocation: str) -> Answer:
    """Delete an allocation and release its node."""
    (uuid,) = request.store.allocations.row(("uuid",), allocation)
    allocation_binding.delete(request.store, uuid, named_nodes.lock_retries(request))
    return NO_CONTENT


def delete_of_node(request: Request, node: str) -> Answer:
    """Delete the allocation of a node and release the node."""
    uuid = _allocation_of_node(request, node, _DELETE)
    allocation_binding.delete(request.store, uuid, named_nodes.lock_retries(request))
    return NO_CONTENT


_ALL: Final = "/v1/allocations"
_ONE: Final = "/v1/allocations/{allocation}"
_OF_NODE: Final = "/v1/nodes/{node}/allocation"
_WHOLE: Final = refuse_collection("an allocation's UUID or name")
_WRITE: Final[dict[str, Any]] = {"since": 52, "below": 405, "shape": FAULT}

# The right to create depends on the owner of the new allocation, the right to delete that of a node on its owner: the
# handlers check them.
ROUTES = (
    Route("GET", _ALL, index, since=52, shape=FAULT, rule=access.LIST_ALLOCATIONS, of=List(Allocation)),
    Route("GET", _ONE, show, since=52, shape=FAULT, rule=_GET, of=One(Allocation)),
    Route("GET", _OF_NODE, show_of_node, since=52, handler_authorizes=True, of=One(Allocation)),
    Route("POST", _ALL, create, **_WRITE, handler_authorizes=True, of=Create(Allocation, _check_new)),
    Route("PATCH", _ALL, _WHOLE, **_WRITE),
    Route("DELETE", _ALL, _WHOLE, **_WRITE),
    Route("POST", _ONE, _WHOLE, **_WRITE),
    Route(
        "PATCH",
        _ONE,
        patch,
        since=57,
        below=405,
        shape=FAULT,
        rule=_UPDATE,
        of=Patch(Allocation, syntax=json_patch.ANY_PATH),
    ),
    Route("DELETE", _ONE, delete, **_WRITE, rule=_DELETE, of=Delete(Allocation)),
    Route("DELETE", _OF_NODE, delete_of_node, since=52, rule=access.SEE_NODE, of=Delete(Allocation)),
)
