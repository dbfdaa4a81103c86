"""The lights of a machine, and the signal that wakes one that hangs.

A light is named by itself and the component it sits on: `led@system`. These routes answer in every version, although
1.63 announced them.
"""

from typing import Any

from ironic.api import answers, input, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.request import Request
from ironic.api.resources import node_serving
from ironic.api.routes import FAULT, Route
from ironic.core.errors import InvalidParameterValue
from ironic.core.values import Text

_STATE = (("state", Text()),)


def index(request: Request, node: str) -> Answer:
    """List the lights."""
    input.query(request.query(), {})
    conductor, uuid = node_serving.conductor(request, node)
    found = conductor.supported_indicators(request.context, uuid)
    lights = [
        _document(request, node, component, name, terms)
        for component, by_name in found.items()
        for name, terms in by_name.items()
    ]
    return answers.document({"indicators": lights})


def _document(request: Request, node: str, component: str, name: str, terms: dict[str, Any]) -> dict[str, Any]:
    full_name = f"{name}@{component}"
    return {
        "name": full_name,
        "component": component,
        "readonly": terms["readonly"],
        "states": terms["states"],
        "links": projection.links(request.base, f"nodes/{node}/management/indicators/{full_name}"),
    }


def show(request: Request, node: str, indicator: str) -> Answer:
    """Show what a light shows."""
    input.query(request.query(), {})
    name, component = _parts(indicator)
    conductor, uuid = node_serving.conductor(request, node)
    return answers.document({"state": conductor.get_indicator(request.context, uuid, component, name)})


def switch(request: Request, node: str, indicator: str) -> Answer:
    """Switch a light."""
    state = input.arguments(request.arguments(), (), _STATE)["state"]
    name, component = _parts(indicator)
    conductor, uuid = node_serving.conductor(request, node)
    conductor.set_indicator(request.context, uuid, component, name, state)
    return NO_CONTENT


def _parts(indicator: str) -> tuple[str, str]:
    name, at, component = indicator.rpartition("@")
    if not at or not name or not component:
        raise InvalidParameterValue(err="A light is named <light>@<component>.")
    return name, component


def inject_nmi(request: Request, node: str) -> Answer:
    """Send the machine a non-maskable interrupt."""
    input.arguments(request.arguments(), ())
    conductor, uuid = node_serving.conductor(request, node)
    conductor.inject_nmi(request.context, uuid)
    return NO_CONTENT


_MANAGEMENT = "/v1/nodes/{node}/management"
_GET, _SET = "baremetal:node:get_indicator_state", "baremetal:node:set_indicator_state"

ROUTES = (
    Route("GET", f"{_MANAGEMENT}/indicators", index, rule=_GET),
    Route("GET", f"{_MANAGEMENT}/indicators/{{indicator}}", show, rule=_GET),
    Route("PUT", f"{_MANAGEMENT}/indicators/{{indicator}}", switch, rule=_SET),
    Route("PUT", f"{_MANAGEMENT}/inject_nmi", inject_nmi, since=29, shape=FAULT, rule="baremetal:node:inject_nmi"),
)
