"""The argument of step management.update_firmware: images without the components that they are for."""

from collections.abc import Mapping
from typing import Any, Final

from ironic.core import syntax
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.modules.redfish import firmware_images

ARGSINFO: Final = {
    "firmware_images": {
        "description": "Images in order, each with url (http, https, file or swift), checksum (SHA1, SHA256 or SHA512, "
        "compared when the service fetches the image) and optionally wait, the seconds to wait after the update, and "
        "source (http, local or swift), the way the BMC gets the image.",
        "required": True,
    },
}
_NEEDED: Final = frozenset({"url", "checksum"})
_ALLOWED: Final = _NEEDED | {"wait", "source"}


def checked(uuid: str, images: object) -> list[dict[str, Any]]:
    """Return the updates, or raise InvalidParameterValue that names the wrong one."""
    if not isinstance(images, list) or not images:
        raise InvalidParameterValue(err=f"Firmware images for node {uuid} must be a list, not empty.")
    for number, image in enumerate(images, 1):
        if fault := _fault(image):
            raise InvalidParameterValue(err=f"Firmware image {number} for node {uuid} {fault}.")
    return [dict(image) for image in images]


def _fault(image: object) -> str | None:
    if not isinstance(image, Mapping) or not _NEEDED <= image.keys() <= _ALLOWED:
        return "must have url and checksum, and may have wait and source"
    checksum, wait, source = image["checksum"], image.get("wait", 1), image.get("source", "http")
    if syntax.url_of(image["url"], firmware_images.SCHEMES) is None:
        return "must have a URL of http, https, file or swift"
    if not isinstance(checksum, str) or len(checksum) not in firmware_images.ALGORITHMS or not _is_hex(checksum):
        return "must have a checksum of SHA1, SHA256 or SHA512 in hexadecimal digits"
    if not isinstance(wait, int) or isinstance(wait, bool) or wait < 1:
        return "must wait for a whole number of seconds, at least 1"
    if source not in firmware_images.SOURCES:
        return f"must have one of the sources {', '.join(firmware_images.SOURCES)}"
    return None


def _is_hex(text: str) -> bool:
    return not set(text.lower()) - set("0123456789abcdef")
