"""Creating, changing and deleting allocations.

A new one is stored and handed to a conductor, which looks for a node; the caller sees the result in the allocation. One
for a node that has its instance already is written here, together with the node, and so is the end of an allocation.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ironic.api import access, answers, json_patch, named_nodes, patching, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.forms import Create, Delete, Patch
from ironic.api.json_patch import Change
from ironic.api.refusing import needs_one
from ironic.api.request import Request
from ironic.api.resources.allocations import reads
from ironic.api.routes import FAULT, Route
from ironic.core import allocation as matching
from ironic.core.errors import (
    HTTPForbidden,
    InvalidParameterValue,
    IronicError,
    MissingParameterValue,
)
from ironic.core.model.allocation import Allocation
from ironic.services import allocations, records

if TYPE_CHECKING:
    from ironic.db import AllocationRecord

_CREATE, _RESTRICTED = "baremetal:allocation:create", "baremetal:allocation:create_restricted"
# Of a time before roles had ranks; never for another owner.
_UNRANKED = "baremetal:allocation:create_pre_rbac"


def create(request: Request, values: dict[str, Any]) -> Answer:
    """Ask for a node, or write down that an instance has one."""
    if values.get("resource_class") is None and values.get("node") is None:
        raise MissingParameterValue(err="resource_class is required.")
    project = _bound_to(request, has_owner=values.get("owner") is not None)
    values["owner"] = _owner(values.get("owner"), project)
    values["candidate_nodes"] = _uuids(request, values.get("candidate_nodes", []), project)
    node = values.pop("node", None)
    if node is None:
        return _created(request, _asked(request, values), None)
    (uuid,) = _uuids(request, [node], project)
    record = allocations.write_down(request.store, uuid, values, named_nodes.patience(request))
    return _created(request, record, uuid)


def _check_new(given: Mapping[str, object], minor: int) -> None:
    """Refuse a node in versions before it like something that does not exist."""
    if minor < 58 and given.get("node") is not None:
        raise InvalidParameterValue(err="node needs API version 1.58 or later.")


def _bound_to(request: Request, *, has_owner: bool) -> str | None:
    """Return the project that a caller can ask for nodes of; None: of any, or of none."""
    if request.services.policy.is_open:
        return None
    rules = (_CREATE, _RESTRICTED) if has_owner else (_CREATE, _RESTRICTED, _UNRANKED)
    if not any(access.allows(request, rule) for rule in rules):
        raise HTTPForbidden(resource=_CREATE)
    if access.is_site_operator(request) or access.allows(request, f"{access.LIST_ALLOCATIONS}_all"):
        return None
    if (project := request.context.project_id) is None:
        raise HTTPForbidden(resource=_CREATE)
    return project


def _owner(asked: str | None, project: str | None) -> str | None:
    if project is None:
        return asked
    if asked not in (None, project):
        raise HTTPForbidden(resource=_CREATE)
    return project


def _uuids(request: Request, idents: list[str], project: str | None) -> list[str]:
    """Return the UUIDs of nodes that a body names."""
    known = request.store.allocations.uuids_of(idents, project) if idents else {}
    for place, ident in enumerate(idents):
        if ident not in known:
            raise InvalidParameterValue(err=f"Node {place + 1} of those that the body names does not exist.")
    return [known[ident] for ident in idents]


def _created(request: Request, record: "AllocationRecord", node: str | None) -> Answer:
    document = projection.full(Allocation, request.minor).of_record(request, record, {"node_uuid": node})
    return answers.created(document, request.url(f"/v1/allocations/{record.uuid}"))


def _asked(request: Request, values: dict[str, Any]) -> "AllocationRecord":
    uuid = values.get("uuid") or str(uuid4())
    conductor = request.conductors.for_work(uuid)
    record = request.store.allocations.create(values | {"uuid": uuid, "state": matching.ALLOCATING})
    try:
        conductor.process_allocation(request.context, uuid)
    except IronicError:
        # The conductor may have begun all the same; then what it finds will be seen.
        if request.store.allocations.withdraw(record.id):
            raise
    return record


def patch(request: Request, allocation: str, changes: Sequence[Change]) -> Answer:
    """Change what an allocation is called, and what is noted about it."""
    for change in changes:
        _check_value(change)

    def revise(record: "AllocationRecord") -> dict[str, Any]:
        before = {name: getattr(record, name) for name in Allocation.table.written["patch"]}
        return patching.patched(Allocation, before, changes, request.minor)

    record = records.change(request.store, request.store.allocations, allocation, revise)
    view = projection.full(Allocation, request.minor)
    return answers.document(view.document(request, request.store.allocations.row(view.columns, record.uuid)))


def _check_value(change: Change) -> None:
    if isinstance(change.value, (list, float)):
        raise InvalidParameterValue(err="The value of a patch of an allocation is no list and no broken number.")


def delete(request: Request, allocation: str) -> Answer:
    """End an allocation, and free its node."""
    (uuid,) = request.store.allocations.row(("uuid",), allocation)
    allocations.end(request.store, uuid, named_nodes.patience(request))
    return NO_CONTENT


def delete_of_node(request: Request, node: str) -> Answer:
    """End the allocation of a node."""
    uuid = reads.of_node(request, node, "baremetal:allocation:delete")
    allocations.end(request.store, uuid, named_nodes.patience(request))
    return NO_CONTENT


_ALL, _ONE = "/v1/allocations", "/v1/allocations/{allocation}"

# Creating depends on whose the allocation shall be, ending that of a node on whose it is: see the handlers.
_WHOLE = needs_one("an allocation's UUID or name")
ROUTES = (
    Route("POST", _ALL, create, since=52, below=405, shape=FAULT, judges=True, of=Create(Allocation, _check_new)),
    Route("PATCH", _ALL, _WHOLE, since=52, below=405, shape=FAULT),
    Route("DELETE", _ALL, _WHOLE, since=52, below=405, shape=FAULT),
    Route("POST", _ONE, _WHOLE, since=52, below=405, shape=FAULT),
    Route(
        "PATCH",
        _ONE,
        patch,
        since=57,
        below=405,
        shape=FAULT,
        rule="baremetal:allocation:update",
        of=Patch(Allocation, syntax=json_patch.ANY_PATH),
    ),
    Route(
        "DELETE",
        _ONE,
        delete,
        since=52,
        below=405,
        shape=FAULT,
        rule="baremetal:allocation:delete",
        of=Delete(Allocation),
    ),
    Route(
        "DELETE", "/v1/nodes/{node}/allocation", delete_of_node, since=52, rule=access.SEE_NODE, of=Delete(Allocation)
    ),
)
