"""`/v1/ports`: list, show, create, patch and delete ports, also below their node or port group.

A port is a network card of a node. A request names its node and its port group by UUID (the node since 1.94 also by
name), the row has IDs. A reference to a row that does not exist is a 400: the body is wrong, not the path.

A new port is only a row, written here in one transaction. Changing and deleting may affect the network of the machine,
so the conductor that serves the node does it, after the API has checked what it can; the conductor checks the state of
the node under its lock. Reading never calls a conductor.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple

from ironic.api import access, answers, json_patch, listing, named_nodes, projection, row_rooms
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.crud import Create, Delete, List, One, Patch
from ironic.api.error_responses import Refused, unacceptable
from ironic.api.json_patch import Change
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import Route, refuse_collection, refuses
from ironic.core import node_rules
from ironic.core.errors import Conflict, InvalidParameterValue, MissingParameterValue, NodeNotFound
from ironic.core.errors.resource_errors import MACAlreadyExists, PortgroupNotFound
from ironic.core.model.port import Port
from ironic.core.texts import syntax
from ironic.services import row_changes

# Filters of which a request may use only one.
_EXCLUSIVE: Final = ("node", "portgroup", "shard")
# Filters that a list below a node or port group does not take.
_NOT_BELOW: Final = frozenset({*_EXCLUSIVE, "conductor_groups"})
_NOT_WITH_CONDUCTOR_GROUPS: Final = ("node", "portgroup", "address")
# Fields that a patch needs in any case.
_ALWAYS: Final = ("uuid", "node_id", "node_uuid", "portgroup_uuid", "pxe_enabled")
_UPDATE: Final = "baremetal:port:update"


class Group(NamedTuple):
    """The port group that a port is to be in."""

    id: int
    uuid: str
    node_id: int
    standalone_ports_supported: bool


def index(request: Request, page: Page) -> Answer:
    """List ports."""
    filters = _filters(request, page, page.filters)
    if (node := page.filters.get("node")) is not None:
        if request.minor < access.NAMES_SINCE and not syntax.is_uuid(node):
            raise unacceptable("Naming a node by its name", access.NAMES_SINCE)
        filters["node_id"] = named_nodes.seen_id(request, node)
    if (portgroup := page.filters.get("portgroup")) is not None:
        with access.as_if_foreign(request, access.SEE_NODE, of_part=True):
            found, node_id = request.store.portgroups.row(("id", "node_id"), portgroup)
        if not access.sees_all_nodes(request):
            owner, lessee = request.store.nodes.row(("owner", "lessee"), node_id)
            if not access.sees(request, owner, lessee):
                raise PortgroupNotFound(portgroup=portgroup)
        filters["portgroup_id"] = found
    return listing.answer(request, Port, request.store.ports, page, filters)


def index_of_node(request: Request, node: str, page: Page) -> Answer:
    """List the ports of a node."""
    (found,) = named_nodes.row(request, ("id",), node)
    filters = _filters(request, page, page.filters | {"node": node}) | {"node_id": found}
    return listing.answer(request, Port, request.store.ports, page, filters, path=f"nodes/{node}/ports")


def index_of_portgroup(request: Request, portgroup: str, page: Page) -> Answer:
    """List the ports of a port group."""
    found, uuid = request.store.portgroups.row(("id", "uuid"), portgroup)
    filters = _filters(request, page, page.filters | {"portgroup": portgroup}) | {"portgroup_id": found}
    return listing.answer(request, Port, request.store.ports, page, filters, path=f"portgroups/{uuid}/ports")


def _filters(request: Request, page: Page, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters for the store, narrowed to the caller's project; ``asked`` includes a filter by the path."""
    if sum(name in asked for name in _EXCLUSIVE) > 1:
        raise Refused(403, f"Only one of {', '.join(_EXCLUSIVE)} can be used at a time.")
    if "conductor_groups" in asked and any(name in asked for name in _NOT_WITH_CONDUCTOR_GROUPS):
        names = ", ".join(_NOT_WITH_CONDUCTOR_GROUPS)
        raise InvalidParameterValue(err=f"conductor_groups can't be used with {names}.")
    filters = listing.store_filters(Port, page)
    if (project := access.own_project(request, access.LIST_PORTS)) is not None:
        filters["project"] = project
    if "conductor_groups" in filters:
        # The group of a node is stored in lower case.
        filters["conductor_groups"] = [name.lower() for name in filters["conductor_groups"]]
    return filters


def show(request: Request, port: str, view: Projection) -> Answer:
    """Show one port."""
    return answers.document(view.document(request, request.store.ports.row(view.columns, port)))


def create(request: Request, values: dict[str, Any]) -> Answer:
    """Create a port."""
    referred: dict[str, str | None] = {}

    def refer(values: dict[str, Any]) -> dict[str, Any]:
        owner = _node_of_new(request, values, "baremetal:port:create")
        group = _group(request, values.pop("portgroup_uuid", None), owner.id)
        values.update(node_id=owner.id, portgroup_id=group and group.id)
        if group is not None:
            row_changes.join_group(
                request.store,
                group.id,
                values.get("physical_network"),
                node_id=owner.id,
                pxe_enabled=values.get("pxe_enabled", True),
            )
        referred.update(node_uuid=owner.uuid, portgroup_uuid=group and group.uuid)
        return values

    with _naming_the_holder(request):
        record = row_changes.add(request.store, request.store.ports, values, refer, row_rooms.of_node(request, Port))
    document = projection.full(Port, request.minor).of_record(request, record, referred)
    return answers.created(document, request.url(f"/v1/ports/{record.uuid}"))


@contextmanager
def _naming_the_holder(request: Request) -> Iterator[None]:
    """Have the refusal of a known MAC address name the node that has it, if the caller may see that node."""
    try:
        yield
    except MACAlreadyExists as error:
        for node in request.store.nodes.by_macs([str(error.facts.get("value"))]):
            with suppress(NodeNotFound):
                owner, lessee = request.store.nodes.row(("owner", "lessee"), node.uuid)
                if access.sees(request, owner, lessee):
                    raise MACAlreadyExists(f"{error} It belongs to node {node.uuid}.", **error.facts) from None
        raise


def _node_of_new(request: Request, values: dict[str, Any], rule: str) -> named_nodes.Holder:
    """Return the node of a new port and remove its name from the values; raises an error if the rule denies."""
    given = [values.pop(name, None) for name in ("node_uuid", "node_ident")]
    named = [ident for ident in given if ident is not None]
    if not named:
        raise MissingParameterValue(err="node_uuid is required.")
    if len(named) > 1:
        raise InvalidParameterValue(err="Give either node_uuid or node_ident.")
    return named_nodes.holder(request, named[0], rule, named_nodes.NO_NODE)


def _group(request: Request, uuid: str | None, node_id: int) -> Group | None:
    """Return the port group that a body names; raises InvalidParameterValue unless it belongs to the same node."""
    if uuid is None:
        return None
    try:
        with access.as_if_foreign(request, of_part=True):
            found = Group(*request.store.portgroups.row(Group._fields, uuid))
    except PortgroupNotFound as error:
        raise InvalidParameterValue(err=str(error)) from None
    if found.node_id != node_id:
        owner, lessee = request.store.nodes.row(("owner", "lessee"), found.node_id)
        if not access.sees(request, owner, lessee):
            raise InvalidParameterValue(err=str(PortgroupNotFound(portgroup=uuid)))
        raise InvalidParameterValue(err=f"Port group {uuid} belongs to another node than the port.")
    return found


def _check_pxe(group: Group | None, pxe_enabled: bool, values: Mapping[str, object]) -> None:
    """Raise Conflict for a port with PXE in a port group without standalone ports; ``values`` are the changes."""
    if not values.keys() & {"pxe_enabled", "portgroup_id"}:
        return
    if group is not None and pxe_enabled and not group.standalone_ports_supported:
        raise Conflict(f"Port group {group.uuid} has no standalone ports; set pxe_enabled of the port to false.")


@json_patch.repeated_if_changed
def patch(request: Request, port: str, changes: Sequence[Change]) -> Answer:
    """Change a port."""
    roots = {change.root for change in changes}
    before = json_patch.before_patch(request.store.ports, Port, port, (*_ALWAYS, *sorted(roots)))
    node = named_nodes.node_values(request, before["node_uuid"])
    node_rules.check_parts_editable(node, while_inspecting=request.minor < 39)
    values = json_patch.patched(Port, before, changes, request)
    if values:
        columns = _as_columns(request, before, values)
        seen = json_patch.made_from(before, values)
        with _naming_the_holder(request):
            named_nodes.for_part_of(request, node).update_port(
                request.context, before["uuid"], columns, seen, **row_rooms.of_move(request, columns)
            )
    view = projection.full(Port, request.minor)
    return answers.document(view.document(request, request.store.ports.row(view.columns, before["uuid"])))


def _as_columns(request: Request, before: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changed columns, with IDs in place of UUIDs, after a check of node, port group and PXE together."""
    columns = {name: value for name, value in values.items() if name not in ("node_uuid", "portgroup_uuid")}
    if "node_uuid" in values:
        columns["node_id"] = named_nodes.new_holder(request, _UPDATE, before["node_uuid"], values["node_uuid"])
    if not values.keys() & {"node_uuid", "portgroup_uuid", "pxe_enabled", "physical_network"}:
        return columns
    after = dict(before) | dict(values)
    group = _group(request, after["portgroup_uuid"], columns.get("node_id", before["node_id"]))
    if "portgroup_uuid" in values:
        columns["portgroup_id"] = group and group.id
    _check_pxe(group, after["pxe_enabled"], columns)
    if group is not None and "physical_network" in values and request.minor >= 102:
        raise InvalidParameterValue(err=f"The physical network of a port in port group {group.uuid} is the group's.")
    return columns


def delete(request: Request, port: str) -> Answer:
    """Delete a port."""
    if not syntax.is_uuid(port):
        raise InvalidParameterValue(err="A port can be deleted by its UUID only.")
    uuid, node_uuid = request.store.ports.row(("uuid", "node_uuid"), port)
    named_nodes.for_part_of(request, named_nodes.node_values(request, node_uuid)).destroy_port(request.context, uuid)
    return NO_CONTENT


_ALL: Final = "/v1/ports"
_ONE: Final = "/v1/ports/{port}"
_OF_NODE: Final = "/v1/nodes/{node}/ports"
_OF_PORTGROUP: Final = "/v1/portgroups/{portgroup}/ports"
_WHOLE: Final = refuse_collection("a port's UUID or name")
_BELOW: Final = refuses("Here ports can only be listed; address one as /v1/ports/<port>.")
_LIST_BELOW: Final = List(Port, without=_NOT_BELOW)
_DETAILED_BELOW: Final = List(Port, detailed=True, without=_NOT_BELOW)

ROUTES = (
    Route("GET", _ALL, index, rule=access.LIST_PORTS, of=List(Port)),
    Route("GET", f"{_ALL}/detail", index, rule=access.LIST_PORTS, of=List(Port, detailed=True)),
    # The handler checks the right to create on the node that the body names.
    Route("POST", _ALL, create, handler_authorizes=True, of=Create(Port)),
    Route("PATCH", _ALL, _WHOLE),
    Route("DELETE", _ALL, _WHOLE),
    Route("GET", _ONE, show, rule="baremetal:port:get", of=One(Port)),
    Route("POST", _ONE, _WHOLE),
    Route("PATCH", _ONE, patch, rule=_UPDATE, of=Patch(Port)),
    Route("DELETE", _ONE, delete, rule="baremetal:port:delete", of=Delete(Port)),
    Route("GET", _OF_NODE, index_of_node, rule=access.SEE_NODE, of=_LIST_BELOW),
    Route("GET", f"{_OF_NODE}/detail", index_of_node, rule=access.SEE_NODE, of=_DETAILED_BELOW),
    *(Route(method, _OF_NODE, _BELOW) for method in ("POST", "PATCH", "DELETE")),
    *(Route(method, f"{_OF_NODE}/*", _BELOW) for method in ("GET", "POST", "PATCH", "DELETE")),
    Route("GET", _OF_PORTGROUP, index_of_portgroup, since=24, rule=access.LIST_PORTS, of=_LIST_BELOW),
    Route("GET", f"{_OF_PORTGROUP}/detail", index_of_portgroup, since=24, rule=access.LIST_PORTS, of=_DETAILED_BELOW),
    *(Route(method, _OF_PORTGROUP, _BELOW, since=24) for method in ("POST", "PATCH", "DELETE")),
    *(Route(method, f"{_OF_PORTGROUP}/*", _BELOW, since=24) for method in ("GET", "POST", "PATCH", "DELETE")),
)
