"""Arguments of the steps that update firmware: lists of images, with or without the components they are for."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ironic.core.errors import InvalidParameterValue
from ironic.core.texts import syntax
from ironic.drivers.modules.redfish.orders import firmware_images
from ironic.drivers.modules.redfish.tree.flashed_versions import BIOS, BMC, NIC

# Of firmware.update.
UPDATES_ARGSINFO: Final = {
    "settings": {
        "description": "Updates in order, each with component (bios, bmc or nic:<serial number or id>), url (http, "
        "https, file or swift) and optionally wait, the seconds to wait after the update.",
        "required": True,
    },
}
# Of management.update_firmware.
IMAGES_ARGSINFO: Final = {
    "firmware_images": {
        "description": "Images in order, each with url (http, https, file or swift), checksum (SHA1, SHA256 or SHA512, "
        "compared when the service fetches the image) and optionally wait, the seconds to wait after the update, and "
        "source (http, local or swift), the way the BMC gets the image.",
        "required": True,
    },
}


def checked_updates(uuid: str, settings: object) -> list[dict[str, Any]]:
    """Return the updates of components, or raise InvalidParameterValue that names the wrong one."""
    return _checked(uuid, "update", settings, _fault_of_update)


def checked_images(uuid: str, images: object) -> list[dict[str, Any]]:
    """Return the images without components, or raise InvalidParameterValue that names the wrong one."""
    return _checked(uuid, "image", images, _fault_of_image)


def _checked(uuid: str, what: str, given: object, fault_of: Callable[[object], str | None]) -> list[dict[str, Any]]:
    if not isinstance(given, list) or not given:
        raise InvalidParameterValue(err=f"Firmware {what}s for node {uuid} must be a list, not empty.")
    for number, item in enumerate(given, 1):
        if fault := fault_of(item):
            raise InvalidParameterValue(err=f"Firmware {what} {number} for node {uuid} {fault}.")
    return [dict(item) for item in given]


def _fault_of_update(update: object) -> str | None:
    if not isinstance(update, Mapping) or not {"component", "url"} <= update.keys() <= {"component", "url", "wait"}:
        return "must have component and url, and may have wait"
    component = update["component"]
    is_nic = isinstance(component, str) and component.startswith(NIC) and component != NIC
    if component not in (BIOS, BMC) and not is_nic:
        return "must be of component bios, bmc or nic:<serial number or id>"
    return _common_fault(update)


def _fault_of_image(image: object) -> str | None:
    needed = {"url", "checksum"}
    if not isinstance(image, Mapping) or not needed <= image.keys() <= needed | {"wait", "source"}:
        return "must have url and checksum, and may have wait and source"
    checksum = image["checksum"]
    is_hexadecimal = isinstance(checksum, str) and not set(checksum.lower()) - set("0123456789abcdef")
    if not is_hexadecimal or len(checksum) not in firmware_images.ALGORITHMS:
        return "must have a checksum of SHA1, SHA256 or SHA512 in hexadecimal digits"
    if image.get("source", "http") not in firmware_images.SOURCES:
        return f"must have one of the sources {', '.join(firmware_images.SOURCES)}"
    return _common_fault(image)


def _common_fault(item: Mapping[Any, Any]) -> str | None:
    url, wait = item["url"], item.get("wait", 1)
    if syntax.url_of(url, firmware_images.SCHEMES) is None:
        return "must have a URL of http, https, file or swift"
    if not isinstance(wait, int) or isinstance(wait, bool) or wait < 1:
        return "must wait for a whole number of seconds, at least 1"
    return None
