"""What a node lacks: each of its interfaces says whether it could work now."""

from typing import Final

from ironic.api import access, answers, input
from ironic.api.answers import Answer
from ironic.api.errors import unacceptable
from ironic.api.request import Request
from ironic.api.resources.nodes import serving
from ironic.api.routes import Route
from ironic.core import secrets, syntax
from ironic.core.errors import MissingParameterValue
from ironic.core.values import Text, Uuid

_VALIDATED: Final = {"node": Text(), "node_uuid": Uuid()}
_VALIDATE: Final = "baremetal:node:validate"


def validate(request: Request, node: str) -> Answer:
    """Say of each interface whether the node could use it now."""
    input.query(request.query(), {})
    return _validated(request, node)


def validate_by_query(request: Request) -> Answer:
    """The older spelling of the same."""
    given = input.query(request.query(), _VALIDATED)
    node = given.get("node") or given.get("node_uuid")
    if not node:
        raise MissingParameterValue(err="node or node_uuid is required.")
    access.require_named(request, _VALIDATE, node)
    return _validated(request, node)


def _validated(request: Request, node: str) -> Answer:
    if request.minor < 5 and not syntax.is_uuid(node):
        raise unacceptable("Naming a node by its name", 5)
    conductor, uuid = serving.conductor(request, node)
    # Drivers say what is wrong with their options in texts that quote these.
    return answers.document(secrets.masked(conductor.validate_interfaces(request.context, uuid)))


ROUTES = (
    Route("GET", "/v1/nodes/validate", validate_by_query, judges=True),
    Route("GET", "/v1/nodes/{node}/validate", validate, rule=_VALIDATE),
)
