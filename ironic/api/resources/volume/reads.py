"""Volume connectors and targets: list and show, also as parts of their node.

Both kinds do everything alike, so each handler is made twice. Reading never goes through a conductor. Writing is in
`volume_writes`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ironic.api import access, answers, listing, named_nodes, projection
from ironic.api.answers import Answer
from ironic.api.forms import List, One
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.refusing import refuses
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.api.schema import LINK, closed, list_of
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.fields import Resource
from ironic.core.model.volumes import VolumeConnector, VolumeTarget

if TYPE_CHECKING:
    from ironic.db import Store
    from ironic.db.volumes import VolumeConnectors, VolumeTargets


def links(request: Request, path: str) -> dict[str, object]:
    """Return the document of links to both kinds, below /v1 or below a node."""
    return {
        "links": projection.links(request.base, f"{path}/"),
        "connectors": projection.links(request.base, f"{path}/connectors"),
        "targets": projection.links(request.base, f"{path}/targets"),
    }


def show_root(request: Request) -> Answer:
    """Show where connectors and targets are."""
    return answers.document(links(request, "volume"))


def show_root_of_node(request: Request, node: str) -> Answer:
    """Show where the connectors and targets of a node are."""
    (uuid,) = named_nodes.row(request, ("uuid",), node)
    return answers.document(links(request, f"nodes/{uuid}/volume"))


@dataclass(frozen=True, slots=True)
class Kind:
    """Connectors or targets."""

    resource: type[Resource]
    # The wildcard of the path, which is also how access is judged.
    ident: str
    stored: Callable[["Store"], "VolumeConnectors | VolumeTargets"]

    @property
    def name(self) -> str:
        """What the kind is called in paths."""
        return self.resource.collection

    def rows(self, request: Request) -> "VolumeConnectors | VolumeTargets":
        """Return where they are stored."""
        return self.stored(request.store)

    def index(self, request: Request, page: Page) -> Answer:
        """List them."""
        filters: dict[str, Any] = {}
        if (node := page.filters.get("node")) is not None:
            filters["node_id"] = named_nodes.seen(request, node)
        return self._list(request, page, filters, f"volume/{self.name}")

    def index_of_node(self, request: Request, node: str, page: Page) -> Answer:
        """List those of a node."""
        if "node" in page.filters:
            raise InvalidParameterValue(err="The path names the node already.")
        found, uuid = named_nodes.row(request, ("id", "uuid"), node)
        return self._list(request, page, {"node_id": found}, f"nodes/{uuid}/volume/{self.name}")

    def _list(self, request: Request, page: Page, filters: Mapping[str, object], path: str) -> Answer:
        project = access.own_project(request, access.LIST_VOLUMES)
        mine = {} if project is None else {"project": project}
        return listing.answer(request, self.resource, self.rows(request), page, {**filters, **mine}, path=path)

    def show(self, request: Request, ident: str, view: Projection) -> Answer:
        """Show one."""
        return answers.document(view.document(request, self.rows(request).row(view.columns, ident)))

    def routes(self) -> tuple[Route, ...]:
        """Return the rows of the route table."""
        ours, of_node = f"/v1/volume/{self.name}", f"/v1/nodes/{{node}}/volume/{self.name}"
        below = List(self.resource, without=frozenset({"node"}))
        return (
            Route("GET", ours, self.index, since=32, rule=access.LIST_VOLUMES, of=List(self.resource)),
            Route("GET", f"{ours}/{{{self.ident}}}", self.show, since=32, rule=_GET, of=One(self.resource)),
            Route("GET", of_node, self.index_of_node, since=32, rule=access.LIST_VOLUMES, of=below),
            *(Route(method, of_node, _LISTED, since=32) for method in ("POST", "PATCH", "DELETE")),
            *(Route(method, f"{of_node}/*", _LISTED, since=32) for method in ("GET", "POST", "PATCH", "DELETE")),
        )


CONNECTORS = Kind(VolumeConnector, "connector", lambda store: store.volume_connectors)
TARGETS = Kind(VolumeTarget, "target", lambda store: store.volume_targets)

_GET = "baremetal:volume:get"
_LINKS = closed({name: list_of(LINK) for name in ("links", "connectors", "targets")})

_LISTED = refuses("Below a node volumes can only be listed; address one as /v1/volume/<kind>/<uuid>.")
ROUTES = (
    Route("GET", "/v1/volume", show_root, since=32, shape=FAULT, rule=_GET, ok=200, answer=_LINKS),
    Route("GET", "/v1/nodes/{node}/volume", show_root_of_node, since=32, rule=_GET, ok=200, answer=_LINKS),
    *CONNECTORS.routes(),
    *TARGETS.routes(),
)
