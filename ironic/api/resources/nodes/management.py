"""`/v1/nodes/{node}/management`: boot device, indicators, and non-maskable interrupts of a machine.

An indicator is named by itself and its component: `led@system`. These routes answer in every version, although 1.63
announced them.
"""

from typing import Final

from ironic.api import answers, named_nodes, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument, BodyOrQuery
from ironic.api.error_responses import Abort
from ironic.api.json_schema import OPEN, TEXT, closed, items, nullable
from ironic.api.request import Request
from ironic.api.routes import FAULT, Refusing, Route
from ironic.core.errors import InvalidParameterValue
from ironic.core.values.value_types import Bool, Text


def show_boot_device(request: Request, node: str) -> Answer:
    """Show the boot device of a node."""
    conductor, uuid = named_nodes.conductor(request, node)
    return answers.document(conductor.get_boot_device(request.context, uuid))


def list_boot_devices(request: Request, node: str) -> Answer:
    """List the supported boot devices of a node."""
    conductor, uuid = named_nodes.conductor(request, node)
    return answers.document({"supported_boot_devices": conductor.supported_boot_devices(request.context, uuid)})


def set_boot_device(request: Request, node: str, boot_device: str, persistent: bool = False) -> Answer:
    """Set the boot device of a node."""
    conductor, uuid = named_nodes.conductor(request, node)
    conductor.set_boot_device(request.context, uuid, boot_device, persistent)
    return NO_CONTENT


def list_indicators(request: Request, node: str) -> Answer:
    """List the indicators of a node."""
    conductor, uuid = named_nodes.conductor(request, node)
    found = conductor.supported_indicators(request.context, uuid)
    indicators = []
    for component, name, light in ((key, *item) for key, lights in found.items() for item in lights.items()):
        full_name = f"{name}@{component}"
        indicators.append(
            {
                "name": full_name,
                "component": component,
                "readonly": light["readonly"],
                "states": light["states"],
                "links": projection.links(request.base, f"nodes/{node}/management/indicators/{full_name}"),
            }
        )
    return answers.document({"indicators": indicators})


def show_indicator(request: Request, node: str, indicator: str) -> Answer:
    """Show the state of an indicator of a node."""
    name, component = _split_name(indicator)
    conductor, uuid = named_nodes.conductor(request, node)
    return answers.document({"state": conductor.get_indicator(request.context, uuid, component, name)})


def set_indicator(request: Request, node: str, indicator: str, state: str) -> Answer:
    """Set the state of an indicator of a node."""
    name, component = _split_name(indicator)
    conductor, uuid = named_nodes.conductor(request, node)
    conductor.set_indicator(request.context, uuid, component, name, state)
    return NO_CONTENT


def _split_name(indicator: str) -> tuple[str, str]:
    name, at, component = indicator.rpartition("@")
    if not at or not name or not component:
        raise InvalidParameterValue(err="An indicator is named <indicator>@<component>.")
    return name, component


def inject_nmi(request: Request, node: str) -> Answer:
    """Send a non-maskable interrupt to a node."""
    conductor, uuid = named_nodes.conductor(request, node)
    conductor.inject_nmi(request.context, uuid)
    return NO_CONTENT


_MANAGEMENT: Final = "/v1/nodes/{node}/management"
_GET_DEVICE: Final = "baremetal:node:get_boot_device"
_GET_INDICATOR: Final = "baremetal:node:get_indicator_state"
_SET_INDICATOR: Final = "baremetal:node:set_indicator_state"

# The machine failed or did not answer.
_MACHINE_FAILED: Final = (502,)
_BOOT_DEVICE: Final = closed({"boot_device": nullable(TEXT), "persistent": {"type": ["boolean", "null"]}})

_NO_SUCH_PATH: Final = Refusing(lambda: Abort(405, "The only paths here are boot_device, indicators and inject_nmi."))
ROUTES = (
    Route(
        "GET",
        f"{_MANAGEMENT}/boot_device",
        show_boot_device,
        rule=_GET_DEVICE,
        ok=200,
        also=_MACHINE_FAILED,
        answer=_BOOT_DEVICE,
    ),
    Route(
        "GET",
        f"{_MANAGEMENT}/boot_device/supported",
        list_boot_devices,
        rule=_GET_DEVICE,
        ok=200,
        also=_MACHINE_FAILED,
        answer=items("supported_boot_devices", TEXT),
    ),
    Route(
        "PUT",
        f"{_MANAGEMENT}/boot_device",
        set_boot_device,
        rule="baremetal:node:set_boot_device",
        body=BodyOrQuery(Argument("boot_device", Text(), required=True), Argument("persistent", Bool())),
        ok=204,
        also=_MACHINE_FAILED,
    ),
    Route(
        "GET",
        f"{_MANAGEMENT}/indicators",
        list_indicators,
        rule=_GET_INDICATOR,
        ok=200,
        also=_MACHINE_FAILED,
        answer=items("indicators", OPEN),
    ),
    Route(
        "GET",
        f"{_MANAGEMENT}/indicators/{{indicator}}",
        show_indicator,
        rule=_GET_INDICATOR,
        ok=200,
        also=_MACHINE_FAILED,
        answer=closed({"state": nullable(TEXT)}, ["state"]),
    ),
    Route(
        "PUT",
        f"{_MANAGEMENT}/indicators/{{indicator}}",
        set_indicator,
        rule=_SET_INDICATOR,
        body=BodyOrQuery(Argument("state", Text(), required=True)),
        ok=204,
        also=_MACHINE_FAILED,
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
        also=_MACHINE_FAILED,
    ),
    Route("GET", _MANAGEMENT, _NO_SUCH_PATH),
    Route("GET", f"{_MANAGEMENT}/*", _NO_SUCH_PATH),
)
