"""`/v1/nodes/{node}/firmware`: the firmware components of a node, as they were last read from the machine.

They are read-only; steps change them.
"""

from collections.abc import Sequence

from ironic.api import answers, named_nodes, projection
from ironic.api.answers import Answer
from ironic.api.arguments import Argument
from ironic.api.error_responses import Abort
from ironic.api.json_schema import ref
from ironic.api.request import Request
from ironic.api.routes import Refusing, Route
from ironic.core.errors import InvalidParameterValue, NotAcceptable
from ironic.core.model.fields import FieldNames
from ironic.core.model.node import FirmwareComponent

# Fields that are shown whatever fields are chosen.
ALWAYS = ("created_at", "updated_at")


def index(request: Request, node: str, fields: Sequence[str] = ()) -> Answer:
    """List the firmware components of a node."""
    try:
        view = projection.selected(FirmwareComponent, request.minor, [*fields, *ALWAYS] if fields else ())
    except NotAcceptable as error:
        # Here a field that is newer than the version has always been a 400, like one that does not exist.
        raise InvalidParameterValue(err=str(error)) from None
    (node_id,) = named_nodes.row(request, ("id",), node)
    rows = request.store.firmware.rows(view.columns, node_id)
    return answers.document({"firmware": view.batch(request, rows).documents(0, len(rows))})


_NO_COMPONENT = Refusing(lambda: Abort(405, "Firmware components can only be listed."))

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
