"""Doors to what vendors offer beyond the API, on nodes and on drivers.

A method is named in the query or as the last part of the path. Whether there is such a method, by which HTTP methods it
is called and with what, only the driver knows; so everything is handed to a conductor.
"""

import base64
from typing import Any, Final

from ironic.api import answers, input
from ironic.api.answers import Answer
from ironic.api.request import Request
from ironic.api.resources.nodes import serving as node_serving
from ironic.api.routes import Route
from ironic.core.errors import MissingParameterValue
from ironic.core.values import Text

_DRIVER_NAME: Final = {"driver_name": Text()}
_METHOD: Final = {"method": Text()}


def node_methods(request: Request, node: str) -> Answer:
    """List the methods of a node."""
    input.query(request.query(), {})
    conductor, uuid = node_serving.conductor(request, node)
    return answers.document(conductor.vendor_methods(request.context, uuid))


def call_of_node(request: Request, node: str) -> Answer:
    """Call the method that the query names."""
    return _of_node(request, node, _named_in_query(request))


def call_named_of_node(request: Request, node: str, method: str) -> Answer:
    """Call the method that the path names."""
    input.query(request.query(), {})
    return _of_node(request, node, method)


def _of_node(request: Request, node: str, method: str) -> Answer:
    arguments = input.require_object(request.json())
    conductor, uuid = node_serving.conductor(request, node)
    return _answer(conductor.call_vendor_method(request.context, uuid, method, request.method, arguments))


def driver_methods(request: Request, driver: str) -> Answer:
    """List the methods of a driver."""
    input.query(request.query(), {})
    return _driver_methods(request, driver)


def driver_methods_by_query(request: Request) -> Answer:
    """The older spelling of the same."""
    driver = input.query(request.query(), _DRIVER_NAME).get("driver_name")
    if not driver:
        raise MissingParameterValue(err="driver_name is required.")
    return _driver_methods(request, driver)


def _driver_methods(request: Request, driver: str) -> Answer:
    conductor = request.conductors.for_driver(driver)
    return answers.document(conductor.driver_vendor_methods(request.context, driver))


def call_of_driver(request: Request, driver: str) -> Answer:
    """Call the method that the query names."""
    return _of_driver(request, driver, _named_in_query(request))


def call_named_of_driver(request: Request, driver: str, method: str) -> Answer:
    """Call the method that the path names."""
    input.query(request.query(), {})
    return _of_driver(request, driver, method)


def _of_driver(request: Request, driver: str, method: str) -> Answer:
    arguments = input.require_object(request.json())
    conductor = request.conductors.for_driver(driver)
    return _answer(conductor.call_driver_vendor_method(request.context, driver, method, request.method, arguments))


def _named_in_query(request: Request) -> str:
    method: str | None = input.query(request.query(), _METHOD).get("method")
    if not method:
        raise MissingParameterValue(err="method is required: name a vendor method in the query or in the path.")
    return method


def _answer(told: dict[str, Any]) -> Answer:
    if told["async"]:
        return answers.accepted()
    if "file" in told:
        return Answer(200, base64.b64decode(told["file"]), content_type="application/octet-stream", is_secret=True)
    return answers.secret(told["result"])


_NODE, _DRIVER = "/v1/nodes/{node}/vendor_passthru", "/v1/drivers/{driver}/vendor_passthru"
_NODE_RULE, _DRIVER_RULE = "baremetal:node:vendor_passthru", "baremetal:driver:vendor_passthru"
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

ROUTES = (
    Route("GET", f"{_NODE}/methods", node_methods, rule=_NODE_RULE),
    *(Route(method, _NODE, call_of_node, rule=_NODE_RULE) for method in _METHODS),
    *(Route(method, f"{_NODE}/{{method}}", call_named_of_node, rule=_NODE_RULE) for method in _METHODS),
    Route("GET", "/v1/drivers/vendor_passthru/methods", driver_methods_by_query, rule=_DRIVER_RULE),
    Route("GET", f"{_DRIVER}/methods", driver_methods, rule=_DRIVER_RULE),
    *(Route(method, _DRIVER, call_of_driver, rule=_DRIVER_RULE) for method in _METHODS),
    *(Route(method, f"{_DRIVER}/{{method}}", call_named_of_driver, rule=_DRIVER_RULE) for method in _METHODS),
)
