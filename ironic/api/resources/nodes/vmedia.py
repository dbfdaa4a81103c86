"""`/v1/nodes/{node}/vmedia`: images in the virtual media drives of a machine.

Attaching and detaching continue in the background. Source: doc/contract/states.md#virtual-media.
"""

from typing import Final

from ironic.api import answers, named_nodes
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.arguments import Argument, Body
from ironic.api.json_schema import OPEN, list_of
from ironic.api.request import Request
from ironic.api.routes import FAULT, Route
from ironic.core.secrets import masking
from ironic.core.values.value_types import Enum, Pattern, Words

DEVICES = ("disk", "cdrom", "floppy")
_IMAGE_URL = Pattern(
    "image URL", r"(https?|nfs|cifs|smb)://\S{1,2000}", "must be a URL of http, https, nfs, cifs or smb"
)


class Devices(Words):
    """The type of a comma-separated list of drives."""

    name = "device types"

    def validate(self, value: object) -> list[str]:
        """Check every drive."""
        found = super().validate(value)
        if not set(found) <= set(DEVICES):
            raise ValueError(f"may hold: {', '.join(DEVICES)}")
        return found

    def described(self) -> dict[str, object]:
        """Return the schema of the drives."""
        return {"items": {"type": "string", "enum": list(DEVICES)}}


def show(request: Request, node: str) -> Answer:
    """Show the virtual media of a node."""
    conductor, uuid = named_nodes.conductor_of_part(request, node)
    return answers.document(masking.masked(conductor.get_virtual_media(request.context, uuid)))


def attach(
    request: Request, node: str, device_type: str, image_url: str, image_download_source: str = "local"
) -> Answer:
    """Attach an image to a virtual media drive of a node."""
    conductor, uuid = named_nodes.conductor_of_part(request, node)
    conductor.attach_virtual_media(request.context, uuid, device_type, image_url, image_download_source)
    return NO_CONTENT


def detach(request: Request, node: str, device_types: list[str] | None = None) -> Answer:
    """Detach the images from the virtual media drives of a node, or from some of them."""
    conductor, uuid = named_nodes.conductor_of_part(request, node)
    conductor.detach_virtual_media(request.context, uuid, device_types or None)
    return NO_CONTENT


_ALL: Final = "/v1/nodes/{node}/vmedia"

ROUTES = (
    Route(
        "GET",
        _ALL,
        show,
        since=93,
        shape=FAULT,
        rule="baremetal:node:vmedia:get",
        ok=200,
        also=(502,),
        answer=list_of(OPEN),
    ),
    Route(
        "POST",
        _ALL,
        attach,
        since=89,
        rule="baremetal:node:vmedia:attach",
        body=Body(
            Argument("device_type", Enum(*DEVICES, name="device type"), required=True),
            Argument("image_url", _IMAGE_URL, required=True),
            Argument("image_download_source", Enum("http", "local", "swift", name="source")),
        ),
        ok=204,
    ),
    Route(
        "DELETE",
        _ALL,
        detach,
        since=89,
        rule="baremetal:node:vmedia:detach",
        query=(Argument("device_types", Devices()),),
        ok=204,
    ),
)
