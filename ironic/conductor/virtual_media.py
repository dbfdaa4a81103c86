"""Images in the virtual drives of a machine.

The BMC fetches an image by itself: from where the user named it (source "http"), or from the web server beside this
conductor, where a copy is put before (source "local"). Attaching and detaching go on in the background.
"""

from collections.abc import Sequence
from typing import Any, Final

from ironic.conductor import background
from ironic.conductor.background import Work
from ironic.conductor.task import Task
from ironic.core.errors import InvalidParameterValue
from ironic.integrations import media_images

_TOPIC: Final = "virtual media"


def attached(task: Task) -> list[dict[str, Any]]:
    """Return what is in the virtual drives."""
    found: list[dict[str, Any]] = _ready(task).get_virtual_media(task)
    return found


def start_attaching(task: Task, device_type: str, image_url: str, source: str) -> None:
    """Begin to put an image into a drive, or refuse it."""
    _ready(task)
    if source not in media_images.SOURCES:
        known = ", ".join(media_images.SOURCES)
        raise InvalidParameterValue(err=f"Images of source {source} can't be handed to BMCs here; use one of: {known}.")
    media_images.check(image_url, source)
    work = Work(f"attaching a virtual {device_type}", _TOPIC, _attach)
    background.begin(task, work, device_type, image_url, source)


def start_detaching(task: Task, device_types: Sequence[str] | None) -> None:
    """Begin to empty drives; None means all."""
    _ready(task)
    background.begin(task, Work("detaching virtual media", _TOPIC, _detach), device_types)


def _ready(task: Task) -> Any:
    management = task.driver.require("management")
    management.validate(task)
    return management


def _attach(task: Task, device_type: str, image_url: str, source: str) -> None:
    url = media_images.offered(task.node.uuid, device_type, image_url, source)
    task.driver.require("management").attach_virtual_media(task, device_type=device_type, image_url=url)


def _detach(task: Task, device_types: Sequence[str] | None) -> None:
    task.driver.require("management").detach_virtual_media(task, device_types=device_types)
    media_images.withdraw(task.node.uuid, device_types)
