"""What a machine's management interface does on request: boot device, lights, and the signal that wakes one that hangs.

A light is named by itself and the component it sits on: `led@system`. These routes answer in every version, although
1.63 announced them.
"""

from typing import Final

from ironic.api import answers, named_nodes, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument, BodyOrQuery
from ironic.api.errors import Abort
from ironic.api.refusing import Refuses
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.api.schema import OPEN, TEXT, closed, items, nullable
from ironic.core.errors import InvalidParameterValue
from ironic.core.machine_documents import Light
from ironic.core.values import Bool, Text


def show_boot_device(request: Request, node: str) -> Answer:
    """Show what the machine boots from."""
    conductor, uuid = named_nodes.conductor(request, node)
    return answers.document(conductor.get_boot_device(request.context, uuid))


def list_boot_devices(request: Request, node: str) -> Answer:
    """List what the machine could boot from."""
    conductor, uuid = named_nodes.conductor(request, node)
    return answers.document({"supported_boot_devices": conductor.supported_boot_devices(request.context, uuid)})


def set_boot_device(request: Request, node: str, boot_device: str, persistent: bool = False) -> Answer:
    """Choose what the machine boots from."""
    conductor, uuid = named_nodes.conductor(request, node)
    conductor.set_boot_device(request.context, uuid, boot_device, persistent)
    return NO_CONTENT


def list_indicators(request: Request, node: str) -> Answer:
    """List the lights."""
    conductor, uuid = named_nodes.conductor(request, node)
    found = conductor.supported_indicators(request.context, uuid)
    lights = [
        _document(request, node, component, name, terms)
        for component, by_name in found.items()
        for name, terms in by_name.items()
    ]
    return answers.document({"indicators": lights})


def _document(request: Request, node: str, component: str, name: str, terms: Light) -> dict[str, object]:
    full_name = f"{name}@{component}"
    return {
        "name": full_name,
        "component": component,
        "readonly": terms["readonly"],
        "states": terms["states"],
        "links": projection.links(request.base, f"nodes/{node}/management/indicators/{full_name}"),
    }


def show_indicator(request: Request, node: str, indicator: str) -> Answer:
    """Show what a light shows."""
    name, component = _parts(indicator)
    conductor, uuid = named_nodes.conductor(request, node)
    return answers.document({"state": conductor.get_indicator(request.context, uuid, component, name)})


def switch_indicator(request: Request, node: str, indicator: str, state: str) -> Answer:
    """Switch a light."""
    name, component = _parts(indicator)
    conductor, uuid = named_nodes.conductor(request, node)
    conductor.set_indicator(request.context, uuid, component, name, state)
    return NO_CONTENT


def _parts(indicator: str) -> tuple[str, str]:
    name, at, component = indicator.rpartition("@")
    if not at or not name or not component:
        raise InvalidParameterValue(err="A light is named <light>@<component>.")
    return name, component


def inject_nmi(request: Request, node: str) -> Answer:
    """Send the machine a non-maskable interrupt."""
    conductor, uuid = named_nodes.conductor(request, node)
    conductor.inject_nmi(request.context, uuid)
    return NO_CONTENT


_MANAGEMENT: Final = "/v1/nodes/{node}/management"
_GET_DEVICE: Final = "baremetal:node:get_boot_device"
_GET_LIGHT: Final = "baremetal:node:get_indicator_state"
_SET_LIGHT: Final = "baremetal:node:set_indicator_state"

# A machine was asked, and refused or did not answer.
_BY_MACHINE: Final = (502,)
_BOOT_DEVICE: Final = closed({"boot_device": nullable(TEXT), "persistent": {"type": ["boolean", "null"]}})

_ELSEWHERE: Final = Refuses(lambda: Abort(405, "Management has boot_device, indicators and inject_nmi only."))
ROUTES = (
    Route(
        "GET",
        f"{_MANAGEMENT}/boot_device",
        show_boot_device,
        rule=_GET_DEVICE,
        ok=200,
        also=_BY_MACHINE,
        answer=_BOOT_DEVICE,
    ),
    Route(
        "GET",
        f"{_MANAGEMENT}/boot_device/supported",
        list_boot_devices,
        rule=_GET_DEVICE,
        ok=200,
        also=_BY_MACHINE,
        answer=items("supported_boot_devices", TEXT),
    ),
    Route(
        "PUT",
        f"{_MANAGEMENT}/boot_device",
        set_boot_device,
        rule="baremetal:node:set_boot_device",
        body=BodyOrQuery(Argument("boot_device", Text(), required=True), Argument("persistent", Bool())),
        ok=204,
        also=_BY_MACHINE,
    ),
    Route(
        "GET",
        f"{_MANAGEMENT}/indicators",
        list_indicators,
        rule=_GET_LIGHT,
        ok=200,
        also=_BY_MACHINE,
        answer=items("indicators", OPEN),
    ),
    Route(
        "GET",
        f"{_MANAGEMENT}/indicators/{{indicator}}",
        show_indicator,
        rule=_GET_LIGHT,
        ok=200,
        also=_BY_MACHINE,
        answer=closed({"state": nullable(TEXT)}, ["state"]),
    ),
    Route(
        "PUT",
        f"{_MANAGEMENT}/indicators/{{indicator}}",
        switch_indicator,
        rule=_SET_LIGHT,
        body=BodyOrQuery(Argument("state", Text(), required=True)),
        ok=204,
        also=_BY_MACHINE,
    ),
    Route(
        "PUT",
        f"{_MANAGEMENT}/inject_nmi",
        inject_nmi,
        since=29,
        shape=FAULT,
        rule="baremetal:node:inject_nmi",
        body=BodyOrQuery(),
        ok=204,
        also=_BY_MACHINE,
    ),
    Route("GET", _MANAGEMENT, _ELSEWHERE),
    Route("GET", f"{_MANAGEMENT}/*", _ELSEWHERE),
)
