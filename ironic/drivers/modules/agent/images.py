"""The image of a deployment, as the agent wants to hear of it.

What a user has put into instance_info is checked while he waits; where something has to be looked up (a checksum that
is given by URL, an image that goes through this host) that is done when the deployment begins. Source:
doc/contract/agent.md#deployments.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from ironic.conf import CONF
from ironic.core import syntax
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.file_urls import names_file
from ironic.drivers.modules.agent import checksums, partitions, published
from ironic.drivers.task import Node
from ironic.integrations import image_servers

PROPERTIES: Final = {
    "image_download_source": "Who hands the image to the agent: http (the server that image_source names) or local "
    "(this service). The default is option [agent]image_download_source.",
    "image_http_proxy": "Proxy through which the agent fetches images over HTTP.",
    "image_https_proxy": "Proxy through which the agent fetches images over HTTPS.",
    "image_no_proxy": "Hosts that the agent reaches without a proxy, separated by commas.",
}

# Only an image of the image service is affected by "swift"; there is none behind a URL.
_DOWNLOAD_SOURCES: Final = ("http", "local", "swift")

_SCHEMES: Final = ("http", "https", "file")
_MEMORY: Final = "agent_image_info"
_IS_WHOLE_DISK: Final = "is_whole_disk_image"


def check(node: Node) -> None:
    """Raise when instance_info does not say which image, or says something that can't be."""
    source = node.instance_info.get("image_source")
    if not source:
        raise MissingParameterValue(err=f"Node {node.uuid} needs image_source in its instance_info.")
    _check_source(node, str(source))
    image_servers.check(node.uuid, node.instance_info)
    if not isinstance(node.instance_info.get("image_disk_format"), str | None):
        raise InvalidParameterValue(err=f"image_disk_format of node {node.uuid} must be a name.")
    partitions.check(node)
    checksums.check(node, is_file=names_file(source))


def _check_source(node: Node, source: str) -> None:
    if syntax.url_of(source, _SCHEMES) is None:
        raise InvalidParameterValue(
            err=f"image_source of node {node.uuid} must be a URL that begins with one of {', '.join(_SCHEMES)}."
        )
    if goes_through_here(node):
        published.check(node, source)


def goes_through_here(node: Node) -> bool:
    """Tell whether the agent gets the image from this host and not from the server that has it."""
    asked = node.driver_info.get("image_download_source") or CONF.agent.image_download_source
    if asked not in _DOWNLOAD_SOURCES:
        raise InvalidParameterValue(
            err=f"image_download_source in driver_info of node {node.uuid} is {str(asked)[:64]!r}; it may be: "
            f"{', '.join(_DOWNLOAD_SOURCES)}."
        )
    looks_itself: bool = CONF.conductor.conductor_always_validates_images
    return asked == "local" or looks_itself or names_file(node.instance_info["image_source"])


def prepare(node: Node) -> None:
    """Find out all that the agent has to know of the image, and keep it on the node; the caller saves."""
    source = str(node.instance_info["image_source"])
    is_partition = partitions.are_wanted(node)
    described = {
        "id": urlsplit(source).path.rpartition("/")[2] or node.uuid,
        **_place(node, source),
        "container_format": node.instance_info.get("image_container_format"),
        "stream_raw_images": CONF.agent.stream_raw_images,
        "node_uuid": node.uuid,
        **_proxies(node.driver_info),
        **(partitions.described(node) if is_partition else {}),
    }
    node.set_driver_internal_info(_MEMORY, described)
    node.set_driver_internal_info(_IS_WHOLE_DISK, not is_partition)


def _place(node: Node, source: str) -> dict[str, object]:
    """Return where the agent finds the image, of what format it is there, and its checksums."""
    sums = checksums.given(node, source)
    if goes_through_here(node):
        return published.publish(node, source, sums)
    return {"urls": [source], "disk_format": node.instance_info.get("image_disk_format"), **sums}


def info_of(node: Node) -> dict[str, object]:
    """Return what was found out, and how the agent proves to a server that it may have the image."""
    found = node.driver_internal_info.get(_MEMORY)
    if not found:
        raise MissingParameterValue(err=f"The image of node {node.uuid} was not looked up; deploy the node again.")
    return {**found, **({} if goes_through_here(node) else image_servers.for_agent(node.instance_info))}


def withdraw(node: Node) -> None:
    """Offer the image no longer, once it was written; the caller saves."""
    published.withdraw(node)
    node.del_driver_internal_info(_MEMORY)


def forget(node: Node) -> None:
    """Forget all about the image; the caller saves."""
    withdraw(node)
    node.del_driver_internal_info(_IS_WHOLE_DISK)


def _proxies(driver_info: Mapping[str, object]) -> dict[str, object]:
    proxies = {kind: driver_info.get(f"image_{kind}_proxy") for kind in ("http", "https")}
    given = {kind: proxy for kind, proxy in proxies.items() if proxy}
    told: dict[str, Any] = {"proxies": given} if given else {}
    if driver_info.get("image_no_proxy"):
        told["no_proxy"] = driver_info["image_no_proxy"]
    return told
