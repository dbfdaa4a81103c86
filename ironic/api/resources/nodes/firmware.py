"""The firmware components of a node with their versions, as the last look at the machine found them. Read only."""

from collections.abc import Sequence

from ironic.api import answers, named_nodes, projection
from ironic.api.answers import Answer
from ironic.api.arguments import Argument
from ironic.api.errors import Abort
from ironic.api.projection import Projection
from ironic.api.refusing import Refuses
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.api.schema import ref
from ironic.core.errors import InvalidParameterValue, NotAcceptable
from ironic.core.model.fields import FieldNames
from ironic.core.model.node_items import FirmwareComponent

# Shown whatever fields are asked for.
ALWAYS = ("created_at", "updated_at")


def index(request: Request, node: str, fields: Sequence[str] = ()) -> Answer:
    """List the components of a node."""
    view = _projection(request, fields)
    (node_id,) = named_nodes.row(request, ("id",), node)
    rows = request.store.firmware.rows(view.columns, node_id)
    return answers.document({"firmware": view.batch(request, rows).documents(0, len(rows))})


def _projection(request: Request, fields: Sequence[str]) -> Projection:
    if not fields:
        return projection.plain(FirmwareComponent, request.minor)
    try:
        return projection.chosen(FirmwareComponent, request.minor, [*fields, *ALWAYS])
    except NotAcceptable as error:
        # Here a field that came later was always told like one that does not exist.
        raise InvalidParameterValue(err=str(error)) from None


_NO_COMPONENT = Refuses(lambda: Abort(405, "Firmware components are listed only."))

ROUTES = (
    Route(
        "GET",
        "/v1/nodes/{node}/firmware",
        index,
        since=86,
        rule="baremetal:node:firmware:get",
        query=(Argument("fields", FieldNames(FirmwareComponent)),),
        ok=200,
        answer=ref("FirmwareComponentList"),
    ),
    Route("GET", "/v1/nodes/{node}/firmware/*", _NO_COMPONENT, since=86),
)
