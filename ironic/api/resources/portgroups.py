"""`/v1/portgroups`: list, show, create, patch and delete port groups, also below their node.

A port group combines several network cards of a node. A new one is only a row. The conductor that serves the node
changes and deletes port groups, as with ports: it checks the ports of the group and the state of the node under its
lock.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ironic.api import access, answers, json_patch, listing, named_nodes, projection, row_rooms
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.crud import Create, Delete, List, One, Patch
from ironic.api.json_patch import Change
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route, refuse_collection, refuses
from ironic.core import node_rules
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.port import Portgroup
from ironic.services import row_changes

# Filters of which a request may use only one.
_EXCLUSIVE = ("node", "address", "shard", "conductor_groups")
# Filters that a list below a node does not take.
_NOT_BELOW_NODE = frozenset(_EXCLUSIVE)


def index(request: Request, page: Page) -> Answer:
    """List port groups."""
    filters = _filters(request, page, page.filters)
    if (node := page.filters.get("node")) is not None:
        filters["node_id"] = named_nodes.seen_id(request, node)
    return listing.answer(request, Portgroup, request.store.portgroups, page, filters)


def index_of_node(request: Request, node: str, page: Page) -> Answer:
    """List the port groups of a node."""
    (found,) = named_nodes.row(request, ("id",), node)
    filters = _filters(request, page, page.filters | {"node": node}) | {"node_id": found}
    return listing.answer(request, Portgroup, request.store.portgroups, page, filters, path=f"nodes/{node}/portgroups")


def _filters(request: Request, page: Page, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters for the store, narrowed to the caller's project; ``asked`` includes a filter by the path."""
    if sum(name in asked for name in _EXCLUSIVE) > 1:
        raise InvalidParameterValue(err=f"Only one of {', '.join(_EXCLUSIVE)} can be used at a time.")
    filters = listing.store_filters(Portgroup, page)
    if "conductor_groups" in filters:
        filters["conductor_groups"] = [name.lower() for name in filters["conductor_groups"]]
    if (project := access.own_project(request, access.LIST_PORTGROUPS)) is not None:
        filters["project"] = project
    return filters


def show(request: Request, portgroup: str, view: Projection) -> Answer:
    """Show one port group."""
    return answers.document(view.document(request, request.store.portgroups.row(view.columns, portgroup)))


def create(request: Request, values: dict[str, Any]) -> Answer:
    """Create a port group."""
    values["mode"] = values.get("mode") or request.settings.default_portgroup_mode
    referred: dict[str, str] = {}

    def refer(values: dict[str, Any]) -> dict[str, Any]:
        owner = named_nodes.holder(request, values.pop("node_uuid"), "baremetal:portgroup:create", named_nodes.NO_NODE)
        referred["node_uuid"] = owner.uuid
        return {**values, "node_id": owner.id}

    record = row_changes.add(
        request.store, request.store.portgroups, values, refer, row_rooms.of_node(request, Portgroup)
    )
    document = projection.full(Portgroup, request.minor).of_record(request, record, referred)
    return answers.created(document, request.url(f"/v1/portgroups/{record.uuid}"))


@json_patch.repeated_if_changed
def patch(request: Request, portgroup: str, changes: Sequence[Change]) -> Answer:
    """Change a port group."""
    roots = sorted({change.root for change in changes})
    before = json_patch.before_patch(request.store.portgroups, Portgroup, portgroup, ("uuid", "node_uuid", *roots))
    node = named_nodes.node_values(request, before["node_uuid"])
    node_rules.check_parts_editable(node, while_inspecting=request.minor < 39)
    values = json_patch.patched(Portgroup, before, changes, request)
    if values:
        columns = {name: value for name, value in values.items() if name != "node_uuid"}
        if "node_uuid" in values:
            columns["node_id"] = named_nodes.new_holder(request, _UPDATE, before["node_uuid"], values["node_uuid"])
        seen = json_patch.made_from(before, values)
        named_nodes.for_part_of(request, node).update_portgroup(
            request.context, before["uuid"], columns, seen, **row_rooms.of_move(request, columns)
        )
    view = projection.full(Portgroup, request.minor)
    return answers.document(view.document(request, request.store.portgroups.row(view.columns, before["uuid"])))


def delete(request: Request, portgroup: str) -> Answer:
    """Delete a port group that has no ports."""
    uuid, node_uuid = request.store.portgroups.row(("uuid", "node_uuid"), portgroup)
    named_nodes.for_part_of(request, named_nodes.node_values(request, node_uuid)).destroy_portgroup(
        request.context, uuid
    )
    return NO_CONTENT


_ALL: Final = "/v1/portgroups"
_ONE: Final = "/v1/portgroups/{portgroup}"
_OF_NODE: Final = "/v1/nodes/{node}/portgroups"
_UPDATE: Final = "baremetal:portgroup:update"
_WHOLE: Final = refuse_collection("a port group's UUID or name")
_BELOW_NODE: Final = refuses("Below a node port groups can only be listed; address one as /v1/portgroups/<port group>.")
_SINCE: Final[dict[str, Any]] = {"since": 23, "shape": FAULT}

ROUTES = (
    Route("GET", _ALL, index, **_SINCE, rule=access.LIST_PORTGROUPS, of=List(Portgroup)),
    Route("GET", f"{_ALL}/detail", index, **_SINCE, rule=access.LIST_PORTGROUPS, of=List(Portgroup, detailed=True)),
    # The handler checks the right to create on the node that the body names.
    Route("POST", _ALL, create, **_SINCE, handler_authorizes=True, of=Create(Portgroup)),
    Route("PATCH", _ALL, _WHOLE, **_SINCE),
    Route("DELETE", _ALL, _WHOLE, **_SINCE),
    Route("GET", _ONE, show, **_SINCE, rule="baremetal:portgroup:get", of=One(Portgroup)),
    Route("PATCH", _ONE, patch, **_SINCE, rule=_UPDATE, of=Patch(Portgroup)),
    Route("DELETE", _ONE, delete, **_SINCE, rule="baremetal:portgroup:delete", of=Delete(Portgroup)),
    Route("GET", _OF_NODE, index_of_node, since=24, rule=access.SEE_NODE, of=List(Portgroup, without=_NOT_BELOW_NODE)),
    Route(
        "GET",
        f"{_OF_NODE}/detail",
        index_of_node,
        since=24,
        rule=access.SEE_NODE,
        of=List(Portgroup, detailed=True, without=_NOT_BELOW_NODE),
    ),
    *(Route(method, _OF_NODE, _BELOW_NODE, since=24) for method in ("POST", "PATCH", "DELETE")),
    *(Route(method, f"{_OF_NODE}/*", _BELOW_NODE, since=24) for method in ("GET", "POST", "PATCH", "DELETE")),
)
