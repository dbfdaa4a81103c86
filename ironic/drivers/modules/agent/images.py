"""The image of a deployment, as the agent wants to hear of it.

What a user has put into instance_info is checked while he waits; where something has to be looked up (a checksum that
is given by URL, an image in a file here) that is done when the deployment begins. Images are whole-disk images.
Source: facts/steps.yaml, recorded deployments.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from ironic.conf import CONF
from ironic.core import root_device_hints
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.drivers.modules.agent import checksums, published
from ironic.drivers.task import Node

PROPERTIES: Final = {
    "image_http_proxy": "Proxy through which the agent fetches images over HTTP.",
    "image_https_proxy": "Proxy through which the agent fetches images over HTTPS.",
    "image_no_proxy": "Hosts that the agent reaches without a proxy, separated by commas.",
}

_SCHEMES: Final = ("http", "https", "file")
_MEMORY: Final = "agent_image_info"


def check(node: Node) -> None:
    """Raise when instance_info does not say which image, or says something that can't be."""
    info = node.instance_info
    source = info.get("image_source")
    if not source:
        raise MissingParameterValue(err=f"Node {node.uuid} needs image_source in its instance_info.")
    _check_source(node, str(source))
    if info.get("image_type") == "partition" or info.get("kernel") or info.get("ramdisk"):
        raise InvalidParameterValue(
            err=f"Node {node.uuid} asks for a partition image. Give a whole-disk image, without kernel and ramdisk."
        )
    checksums.check(node, is_file=str(source).startswith("file:"))
    if faults := _hint_faults(node):
        raise InvalidParameterValue(err=f"root_device of node {node.uuid}: {'; '.join(faults)}.")


def _hint_faults(node: Node) -> list[str]:
    hints = node.instance_info.get("root_device") or node.properties.get("root_device")
    return list(root_device_hints.faults(hints)) if hints else []


def _check_source(node: Node, source: str) -> None:
    try:
        parts = urlsplit(source)
        usable = parts.scheme in _SCHEMES and (bool(parts.hostname) if parts.scheme != "file" else bool(parts.path))
    except ValueError:
        usable = False
    if not usable:
        raise InvalidParameterValue(
            err=f"image_source of node {node.uuid} must be a URL that begins with one of {', '.join(_SCHEMES)}."
        )
    if source.startswith("file:"):
        published.check(node, source)


def prepare(node: Node) -> None:
    """Find out all that the agent has to know of the image, and keep it on the node; the caller saves."""
    info, source = node.instance_info, str(node.instance_info["image_source"])
    sums = checksums.find(node, source)
    url = published.publish(node, source) if source.startswith("file:") else source
    described = {
        "id": urlsplit(source).path.rpartition("/")[2] or node.uuid,
        "urls": [url],
        "disk_format": info.get("image_disk_format"),
        "container_format": info.get("image_container_format"),
        "stream_raw_images": CONF.agent.stream_raw_images,
        **sums,
        "node_uuid": node.uuid,
        **_proxies(node.driver_info),
    }
    node.set_driver_internal_info(_MEMORY, described)
    node.set_driver_internal_info("is_whole_disk_image", True)


def info_of(node: Node) -> dict[str, Any]:
    """Return what was found out."""
    found = node.driver_internal_info.get(_MEMORY)
    if not found:
        raise MissingParameterValue(err=f"The image of node {node.uuid} was not looked up; deploy the node again.")
    return dict(found)


def forget(node: Node) -> None:
    """Forget the image, and offer it no longer; the caller saves."""
    published.withdraw(node)
    for key in (_MEMORY, "is_whole_disk_image"):
        node.del_driver_internal_info(key)


def _proxies(driver_info: Mapping[str, Any]) -> dict[str, Any]:
    proxies = {kind: driver_info.get(f"image_{kind}_proxy") for kind in ("http", "https")}
    given = {kind: proxy for kind, proxy in proxies.items() if proxy}
    told: dict[str, Any] = {"proxies": given} if given else {}
    if driver_info.get("image_no_proxy"):
        told["no_proxy"] = driver_info["image_no_proxy"]
    return told
