"""Doors to what vendors offer beyond the API, on nodes and on drivers.

A method is named in the query or as the last part of the path. Whether there is such a method, by which HTTP methods it
is called and with what, only the driver knows; so everything is handed to a conductor.
"""

import base64
from typing import Any, Final

from ironic.api import answers, named_nodes
from ironic.api.answers import Answer
from ironic.api.arguments import Argument, Whole
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.api.schema import OPEN, Schema
from ironic.core.values import Text

Values = dict[str, Any]


def node_methods(request: Request, node: str) -> Answer:
    """List the methods of a node."""
    conductor, uuid = named_nodes.conductor(request, node)
    return answers.document(conductor.vendor_methods(request.context, uuid))


def call_of_node(request: Request, node: str, method: str, arguments: Values) -> Answer:
    """Call the method that the query names."""
    return call_named_of_node(request, node, method, arguments)


def call_named_of_node(request: Request, node: str, method: str, arguments: Values) -> Answer:
    """Call the method that the path names."""
    conductor, uuid = named_nodes.conductor(request, node)
    return _answer(conductor.call_vendor_method(request.context, uuid, method, request.method, arguments))


def driver_methods(request: Request, driver: str) -> Answer:
    """List the methods of a driver."""
    conductor = request.conductors.for_driver(driver)
    return answers.document(conductor.driver_vendor_methods(request.context, driver))


def driver_methods_by_query(request: Request, driver_name: str) -> Answer:
    """The older spelling of the same."""
    return driver_methods(request, driver_name)


def call_of_driver(request: Request, driver: str, method: str, arguments: Values) -> Answer:
    """Call the method that the query names."""
    return call_named_of_driver(request, driver, method, arguments)


def call_named_of_driver(request: Request, driver: str, method: str, arguments: Values) -> Answer:
    """Call the method that the path names."""
    conductor = request.conductors.for_driver(driver)
    return _answer(conductor.call_driver_vendor_method(request.context, driver, method, request.method, arguments))


def _answer(told: dict[str, Any]) -> Answer:
    if told["async"]:
        return answers.accepted()
    if "file" in told:
        return Answer(200, base64.b64decode(told["file"]), content_type="application/octet-stream", is_secret=True)
    return answers.secret(told["result"])


_NODE, _DRIVER = "/v1/nodes/{node}/vendor_passthru", "/v1/drivers/{driver}/vendor_passthru"
_NODE_RULE, _DRIVER_RULE = "baremetal:node:vendor_passthru", "baremetal:driver:vendor_passthru"
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_LISTED: Final[Schema] = {"type": "object", "additionalProperties": OPEN}
_DRIVER_NAME: Final = Argument("driver_name", Text(shortest=1), required=True)
_METHOD: Final = Argument("method", Text(shortest=1), required=True)
# A method takes and answers what it likes: at once, in the background, with a file.
_CALL: Final[dict[str, Any]] = {
    "body": Whole("arguments"),
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
