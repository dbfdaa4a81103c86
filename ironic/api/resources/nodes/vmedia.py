"""Images in the virtual drives of a machine. Attaching and detaching go on in the background."""

from ironic.api import answers, input
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.request import Request
from ironic.api.resources.nodes import serving
from ironic.api.routes import FAULT, Route
from ironic.core import secrets
from ironic.core.errors import InvalidParameterValue
from ironic.core.values import Enum, Pattern, Words

# Source: facts/state_machine.yaml, virtual_media_devices.
DEVICES = ("disk", "cdrom", "floppy")

_REQUIRED = (
    ("device_type", Enum(*DEVICES, name="device type")),
    (
        "image_url",
        Pattern("image URL", r"(https?|nfs|cifs|smb)://\S{1,2000}", "must be a URL of http, https, nfs, cifs or smb"),
    ),
)
_NAMED = {"device_types": Words()}
_OPTIONAL = (("image_download_source", Enum("http", "local", "swift", name="source")),)


def show(request: Request, node: str) -> Answer:
    """Show what is in the virtual drives."""
    input.query(request.query(), {})
    conductor, uuid = serving.conductor_of_part(request, node)
    return answers.document(secrets.masked(conductor.get_virtual_media(request.context, uuid)))


def attach(request: Request, node: str) -> Answer:
    """Begin to put an image into a drive."""
    input.query(request.query(), {})
    given = input.arguments(input.require_object(request.json()), _OPTIONAL, _REQUIRED)
    conductor, uuid = serving.conductor_of_part(request, node)
    source = given.get("image_download_source", "local")
    conductor.attach_virtual_media(request.context, uuid, given["device_type"], given["image_url"], source)
    return NO_CONTENT


def detach(request: Request, node: str) -> Answer:
    """Begin to empty drives; all of them unless some are named."""
    named = input.query(request.query(), _NAMED).get("device_types") or None
    if named is not None and not set(named) <= set(DEVICES):
        raise InvalidParameterValue(err=f"device_types may hold: {', '.join(DEVICES)}.")
    conductor, uuid = serving.conductor_of_part(request, node)
    conductor.detach_virtual_media(request.context, uuid, named)
    return NO_CONTENT


_VMEDIA = "/v1/nodes/{node}/vmedia"

ROUTES = (
    Route("GET", _VMEDIA, show, since=93, shape=FAULT, rule="baremetal:node:vmedia:get"),
    Route("POST", _VMEDIA, attach, since=89, rule="baremetal:node:vmedia:attach"),
    Route("DELETE", _VMEDIA, detach, since=89, rule="baremetal:node:vmedia:detach"),
)
