"""`/v1/nodes/{node}/vendor_passthru` and `/v1/drivers/{driver}/vendor_passthru`: methods that vendors add to the API.

A method is named in the query or as the last part of the path. Only the driver knows which methods exist, which HTTP
methods call them and which arguments they take, so every request is passed to a conductor.
"""

import base64
from typing import Any, Final

from ironic.api import answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.arguments import Argument, OpenBody
from ironic.api.json_schema import OPEN, Schema
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.values.value_types import Text

Values = dict[str, Any]


def node_methods(request: Request, node: str) -> Answer:
    """List the vendor methods of a node."""
    conductor, uuid = named_nodes.conductor(request, node)
    return answers.document(conductor.vendor_methods(request.context, uuid))


def call_of_node(request: Request, node: str, method: str, arguments: Values) -> Answer:
    """Call the vendor method of a node that the query names."""
    return call_named_of_node(request, node, method, arguments)


def call_named_of_node(request: Request, node: str, method: str, arguments: Values) -> Answer:
    """Call the vendor method of a node that the path names."""
    conductor, uuid = named_nodes.conductor(request, node)
    return _answer(conductor.call_vendor_method(request.context, uuid, method, request.method, arguments))


def driver_methods(request: Request, driver: str) -> Answer:
    """List the vendor methods of a driver."""
    conductor = request.conductors.for_driver(driver)
    return answers.document(conductor.driver_vendor_methods(request.context, driver))


def driver_methods_by_query(request: Request, driver_name: str) -> Answer:
    """List the vendor methods of a driver, older spelling with the driver in the query."""
    return driver_methods(request, driver_name)


def call_of_driver(request: Request, driver: str, method: str, arguments: Values) -> Answer:
    """Call the vendor method of a driver that the query names."""
    return call_named_of_driver(request, driver, method, arguments)


def call_named_of_driver(request: Request, driver: str, method: str, arguments: Values) -> Answer:
    """Call the vendor method of a driver that the path names."""
    conductor = request.conductors.for_driver(driver)
    return _answer(conductor.call_driver_vendor_method(request.context, driver, method, request.method, arguments))


def _answer(result: dict[str, Any]) -> Answer:
    """Return the result of a vendor method, which may be a document, a file, or nothing yet."""
    if result["async"]:
        return answers.accepted()
    if "file" in result:
        return Answer(200, base64.b64decode(result["file"]), content_type="application/octet-stream", is_secret=True)
    return answers.secret(result["result"])


_NODE, _DRIVER = "/v1/nodes/{node}/vendor_passthru", "/v1/drivers/{driver}/vendor_passthru"
_NODE_RULE, _DRIVER_RULE = "baremetal:node:vendor_passthru", "baremetal:driver:vendor_passthru"
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_LISTED: Final[Schema] = {"type": "object", "additionalProperties": OPEN}
_DRIVER_NAME: Final = Argument("driver_name", Text(shortest=1), required=True)
_METHOD: Final = Argument("method", Text(shortest=1), required=True)
# A method may take any arguments, and answer with any document or file, or in the background.
_CALL: Final[dict[str, Any]] = {
    "body": OpenBody("arguments"),
    "ok": 200,
    "also": (202, 409, 502),
    "answer": {},
    "kind": "*/*",
}

ROUTES = (
    Route("GET", f"{_NODE}/methods", node_methods, rule=_NODE_RULE, ok=200, answer=_LISTED),
    *(Route(method, _NODE, call_of_node, rule=_NODE_RULE, query=(_METHOD,), **_CALL) for method in _METHODS),
    *(Route(method, f"{_NODE}/{{method}}", call_named_of_node, rule=_NODE_RULE, **_CALL) for method in _METHODS),
    Route(
        "GET",
        "/v1/drivers/vendor_passthru/methods",
        driver_methods_by_query,
        rule=_DRIVER_RULE,
        query=(_DRIVER_NAME,),
        ok=200,
        answer=_LISTED,
    ),
    Route("GET", f"{_DRIVER}/methods", driver_methods, rule=_DRIVER_RULE, ok=200, answer=_LISTED),
    *(Route(method, _DRIVER, call_of_driver, rule=_DRIVER_RULE, query=(_METHOD,), **_CALL) for method in _METHODS),
    *(Route(method, f"{_DRIVER}/{{method}}", call_named_of_driver, rule=_DRIVER_RULE, **_CALL) for method in _METHODS),
)
