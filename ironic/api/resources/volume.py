"""`/v1/volume`: list, show, create, patch and delete volume connectors and targets, also below their node.

Both kinds have the same handlers, so each handler is bound to a kind. A new connector or target is only a row. An
existing one may be in use by a running machine, so it is changed only while its node is unlocked and powered off; both
are checked in the transaction that writes. Reading never calls a conductor.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from ironic.api import access, answers, json_patch, listing, named_nodes, projection, row_rooms
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.crud import Create, Delete, List, One, Patch
from ironic.api.json_patch import Change
from ironic.api.json_schema import LINK, closed, list_of
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route, refuse_collection, refuses
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.fields import Resource
from ironic.core.model.volumes import VolumeConnector, VolumeTarget
from ironic.core.secrets import masking
from ironic.services import row_changes

if TYPE_CHECKING:
    from ironic.db import NodeRecord, Store
    from ironic.db.repository import Repository
    from ironic.db.volumes import VolumeConnectors, VolumeTargets


_REDACTED: Final = orjson.Fragment(b'{"redacted_contents":"******"}')


def shown_properties(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
    """Return the properties of each target without secrets, or a mask if the caller may not see properties."""
    if not access.allows(request, "baremetal:volume:view_target_properties"):
        return [_REDACTED] * len(rows)
    return [masking.masked(orjson.loads(text)) if text else {} for (text,) in rows]


projection.bind_computed(VolumeTarget, properties=shown_properties)


def _links(request: Request, path: str) -> dict[str, object]:
    """Return the links to connectors and targets, below /v1 or below a node."""
    return {
        "links": projection.links(request.base, f"{path}/"),
        "connectors": projection.links(request.base, f"{path}/connectors"),
        "targets": projection.links(request.base, f"{path}/targets"),
    }


def show_root(request: Request) -> Answer:
    """Show the links to volume connectors and targets."""
    return answers.document(_links(request, "volume"))


def show_root_of_node(request: Request, node: str) -> Answer:
    """Show the links to the volume connectors and targets of a node."""
    (uuid,) = named_nodes.row(request, ("uuid",), node)
    return answers.document(_links(request, f"nodes/{uuid}/volume"))


@dataclass(frozen=True, slots=True)
class Kind:
    """The handlers of connectors or of targets."""

    resource: type[Resource]
    # The wildcard of the path, by which access is checked.
    ident: str
    stored: Callable[["Store"], "VolumeConnectors | VolumeTargets"]

    @property
    def name(self) -> str:
        """Return the name of the collection."""
        return self.resource.collection

    def rows(self, request: Request) -> "VolumeConnectors | VolumeTargets":
        """Return the repository."""
        return self.stored(request.store)

    def index(self, request: Request, page: Page) -> Answer:
        """List volumes of this kind."""
        filters: dict[str, Any] = {}
        if (node := page.filters.get("node")) is not None:
            filters["node_id"] = named_nodes.seen_id(request, node)
        return self._list(request, page, filters, f"volume/{self.name}")

    def index_of_node(self, request: Request, node: str, page: Page) -> Answer:
        """List volumes of this kind of a node."""
        if "node" in page.filters:
            raise InvalidParameterValue(err="The node is in the path and must not be in the query.")
        found, uuid = named_nodes.row(request, ("id", "uuid"), node)
        return self._list(request, page, {"node_id": found}, f"nodes/{uuid}/volume/{self.name}")

    def _list(self, request: Request, page: Page, filters: Mapping[str, object], path: str) -> Answer:
        """Return a page, narrowed to the caller's project unless the caller may list all volumes."""
        project = access.own_project(request, access.LIST_VOLUMES)
        mine = {} if project is None else {"project": project}
        return listing.answer(request, self.resource, self.rows(request), page, {**filters, **mine}, path=path)

    def show(self, request: Request, ident: str, view: Projection) -> Answer:
        """Show one volume of this kind."""
        return answers.document(view.document(request, self.rows(request).row(view.columns, ident)))

    def create(self, request: Request, values: dict[str, Any]) -> Answer:
        """Create a volume of this kind."""
        referred: dict[str, str] = {}

        def refer(values: dict[str, Any]) -> dict[str, Any]:
            owner = named_nodes.holder(request, values.pop("node_uuid"), _CREATE, _NO_NODE)
            referred["node_uuid"] = owner.uuid
            return {**values, "node_id": owner.id}

        volumes: Repository[Any] = self.rows(request)
        record = row_changes.add(request.store, volumes, values, refer, row_rooms.of_node(request, self.resource))
        document = projection.full(self.resource, request.minor).of_record(request, record, referred)
        return answers.created(document, request.url(f"/v1/volume/{self.name}/{record.uuid}"))

    def patch(self, request: Request, ident: str, changes: Sequence[Change]) -> Answer:
        """Change a volume of this kind."""
        volumes, resource = self.rows(request), self.resource

        def revise(record: Any, node: "NodeRecord") -> dict[str, Any]:
            known = [name for name in resource.writable("patch") if name != "node_uuid"]
            before = {name: getattr(record, name) for name in known} | {"node_uuid": node.uuid}
            values = json_patch.patched(resource, before, changes, request)
            json_patch.check_logins(request, _UPDATE, "properties", before, values, changes)
            if "node_uuid" in values:
                uuid = values.pop("node_uuid")
                owner = named_nodes.seen_holder(request, uuid, _NO_NODE)
                # A login among its properties must not get to another owner, also if an administrator moves it.
                if owner.owner != node.owner:
                    raise InvalidParameterValue(err="It can only move to a node of the same owner.")
                access.require(request, _CREATE, owner, uuid)
                values["node_id"] = owner.id
            return values

        retries = named_nodes.lock_retries(request)
        room = row_rooms.of_node(request, resource)
        row_changes.change_volume(request.store, volumes, ident, resource.singular, revise, retries, room)
        view = projection.full(resource, request.minor)
        return answers.document(view.document(request, volumes.row(view.columns, ident)))

    def delete(self, request: Request, ident: str) -> Answer:
        """Delete a volume of this kind."""
        retries = named_nodes.lock_retries(request)
        row_changes.delete_volume(request.store, self.rows(request), ident, self.resource.singular, retries)
        return NO_CONTENT

    def routes(self) -> tuple[Route, ...]:
        """Return the rows of the route table."""
        resource = self.resource
        every, of_node = f"/v1/volume/{self.name}", f"/v1/nodes/{{node}}/volume/{self.name}"
        one = f"{every}/{{{self.ident}}}"
        return (
            Route("GET", every, self.index, since=32, rule=access.LIST_VOLUMES, of=List(resource)),
            # The handler checks the right to create on the node that the body names.
            Route("POST", every, self.create, since=32, handler_authorizes=True, of=Create(resource)),
            Route("PATCH", every, _WHOLE, since=32),
            Route("DELETE", every, _WHOLE, since=32),
            Route("GET", one, self.show, since=32, rule=_GET, of=One(resource)),
            Route("POST", one, _WHOLE, since=32),
            Route("PATCH", one, self.patch, since=32, rule=_UPDATE, of=Patch(resource)),
            Route("DELETE", one, self.delete, since=32, rule=_DELETE, of=Delete(resource)),
            Route(
                "GET",
                of_node,
                self.index_of_node,
                since=32,
                rule=access.LIST_VOLUMES,
                of=List(resource, without=frozenset({"node"})),
            ),
            *(Route(method, of_node, _BELOW_NODE, since=32) for method in ("POST", "PATCH", "DELETE")),
            *(Route(method, f"{of_node}/*", _BELOW_NODE, since=32) for method in ("GET", "POST", "PATCH", "DELETE")),
        )


CONNECTORS: Final = Kind(VolumeConnector, "connector", lambda store: store.volume_connectors)
TARGETS: Final = Kind(VolumeTarget, "target", lambda store: store.volume_targets)

_GET: Final = "baremetal:volume:get"
_CREATE: Final = "baremetal:volume:create"
_UPDATE: Final = "baremetal:volume:update"
_DELETE: Final = "baremetal:volume:delete"
_NO_NODE: Final = "node_uuid names a node that does not exist."
_LINKS: Final = closed({name: list_of(LINK) for name in ("links", "connectors", "targets")})
_WHOLE: Final = refuse_collection("a UUID")
_BELOW_NODE: Final = refuses("Below a node volumes can only be listed; address one as /v1/volume/<kind>/<uuid>.")

ROUTES = (
    Route("GET", "/v1/volume", show_root, since=32, shape=FAULT, rule=_GET, ok=200, answer=_LINKS),
    Route("GET", "/v1/nodes/{node}/volume", show_root_of_node, since=32, rule=_GET, ok=200, answer=_LINKS),
    *CONNECTORS.routes(),
    *TARGETS.routes(),
)
