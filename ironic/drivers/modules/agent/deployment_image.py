"""The image of a deployment as the agent receives it: source, checksum, proxies.

Values of instance_info are checked while the user waits. A checksum that is given by URL is fetched, and an image of
this host published, when the deployment begins; the result is stored on the node.

``image_checksum`` is a checksum whose length shows the algorithm; ``image_os_hash_algo`` and ``image_os_hash_value``
name it and take precedence. Either value may be the URL of a list of checksums, as download pages offer them. No image
is deployed without a checksum. Source: doc/contract/agent.md#deployments.
"""

from collections.abc import Collection
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from ironic.conf import CONF
from ironic.core.addresses.own_host import names_file
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.errors.missing_keys import missing_keys
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.texts import syntax
from ironic.drivers.contract.task import Node
from ironic.drivers.modules.agent import partition_images, published_images
from ironic.drivers.modules.agent.checksum_lists import STRENGTH, BadList, digits, is_checksum, listed_checksum
from ironic.integrations import image_servers
from ironic.integrations.hidden_faults import image_fault
from ironic.integrations.http_client import CallFailed

# "swift" affects images of the image service only; a URL is treated like "http".
_DOWNLOAD_SOURCES: Final = ("http", "local", "swift")
_SCHEMES: Final = ("http", "https", "file")

_IMAGE_INFO: Final = InternalKey(
    "agent_image_info", dict[str, Any], "The image, as the agent is to write it, without a login of its server."
)
_IS_WHOLE_DISK: Final = InternalKey("is_whole_disk_image", bool, "The image is that of a whole disk.")

# Length in hexadecimal digits -> algorithm.
_ALGORITHMS: Final = {32: "md5", 64: "sha256", 128: "sha512"}

_LARGEST_LIST: Final = 1024 * 1024


# The image


def check_image(node: Node) -> None:
    """Raise InvalidParameterValue or MissingParameterValue when instance_info does not describe a usable image."""
    given = node.instance_info.get("image_source")
    if not given:
        raise missing_keys(node.uuid, "instance_info", ["image_source"], node.instance_info)
    source = str(given)
    if syntax.url_of(source, _SCHEMES) is None:
        raise InvalidParameterValue(
            err=f"image_source of node {node.uuid} must be a URL that begins with one of {', '.join(_SCHEMES)}."
        )
    if is_published_here(node):
        published_images.check(node, source)
    image_servers.check(node.uuid, node.instance_info)
    if not isinstance(node.instance_info.get("image_disk_format"), str | None):
        raise InvalidParameterValue(err=f"image_disk_format of node {node.uuid} must be a name.")
    partition_images.check_partitions(node)
    check_checksum(node, is_file=names_file(given))


def is_published_here(node: Node) -> bool:
    """Return whether this host publishes the image for the agent; otherwise the agent uses the server that has it."""
    given = node.driver_info.get("image_download_source") or CONF.agent.image_download_source
    if given not in _DOWNLOAD_SOURCES:
        raise InvalidParameterValue(
            err=f"image_download_source in driver_info of node {node.uuid} is {str(given)[:64]!r}; it may be: "
            f"{', '.join(_DOWNLOAD_SOURCES)}."
        )
    always: bool = CONF.conductor.conductor_always_validates_images
    return given == "local" or always or names_file(node.instance_info["image_source"])


def prepare_image(node: Node) -> None:
    """Collect the description of the image for the agent and store it on the node; the caller saves the node.

    Raise InvalidParameterValue for a checksum that can't be found, BootImageFailed for an image that can't be
    published.
    """
    source = str(node.instance_info["image_source"])
    is_partition = partition_images.is_partition_image(node)
    sums = given_checksum(node, source)
    if is_published_here(node):
        location = published_images.publish(node, source, sums)
    else:
        location = {"urls": [source], "disk_format": node.instance_info.get("image_disk_format"), **sums}
    described: dict[str, Any] = {
        "id": urlsplit(source).path.rpartition("/")[2] or node.uuid,
        **location,
        "container_format": node.instance_info.get("image_container_format"),
        "stream_raw_images": CONF.agent.stream_raw_images,
        "node_uuid": node.uuid,
    }
    proxies = {kind: node.driver_info.get(f"image_{kind}_proxy") for kind in ("http", "https")}
    if any(proxies.values()):
        described["proxies"] = {kind: proxy for kind, proxy in proxies.items() if proxy}
    if node.driver_info.get("image_no_proxy"):
        described["no_proxy"] = node.driver_info["image_no_proxy"]
    if is_partition:
        described |= partition_images.partition_layout(node)
    _IMAGE_INFO.set(node, described)
    _IS_WHOLE_DISK.set(node, not is_partition)


def image_info_of(node: Node) -> dict[str, object]:
    """Return the stored description of the image, with the credentials for its server."""
    found = _IMAGE_INFO.of(node)
    if not found:
        raise MissingParameterValue(err=f"The image of node {node.uuid} was not prepared; deploy the node again.")
    return {**found, **({} if is_published_here(node) else image_servers.for_agent(node.instance_info))}


def withdraw_image(node: Node) -> None:
    """Remove the published image after it was written; the caller saves the node."""
    published_images.withdraw(node)
    _IMAGE_INFO.delete(node)


def forget_image(node: Node) -> None:
    """Remove the published image and all that is stored about it; the caller saves the node."""
    withdraw_image(node)
    _IS_WHOLE_DISK.delete(node)


# Its checksum


def check_checksum(node: Node, *, is_file: bool) -> None:
    """Raise InvalidParameterValue or MissingParameterValue when the checksum is missing or malformed.

    A local file needs no checksum.
    """
    algorithm, value, simple = _given(node)
    if bool(algorithm) != bool(value):
        raise MissingParameterValue(err=f"Node {node.uuid} needs both image_os_hash_algo and image_os_hash_value.")
    if algorithm and algorithm not in STRENGTH:
        raise InvalidParameterValue(
            err=f"image_os_hash_algo of node {node.uuid} must be one of: {', '.join(sorted(STRENGTH))}."
        )
    if not (value or simple or is_file):
        raise MissingParameterValue(
            err=f"Node {node.uuid} needs a checksum of its image in instance_info: image_os_hash_algo and "
            "image_os_hash_value, or image_checksum."
        )
    for given in filter(None, (value, simple)):
        _check_form(node, given)
    if value and not _is_url(value) and len(value) != digits(algorithm):
        raise InvalidParameterValue(err=f"image_os_hash_value of node {node.uuid} is no checksum of {algorithm}.")
    if value or (simple and not _is_url(simple)):
        _check_strength(node, algorithm or _algorithm(node, simple))


def given_checksum(node: Node, source: str) -> dict[str, object]:
    """Return the checksums under the agent's names; lists are fetched. Empty when the user gives no checksum."""
    algorithm, value, simple = _given(node)
    if not (value or simple):
        return {}
    usable = [name for name in STRENGTH if name != "md5" or value or CONF.agent.allow_md5_checksum]
    usual = ""
    if _is_url(simple):
        usual, simple = _listed(node, simple, source, usable)
    if _is_url(value):
        value = _listed(node, value, source, [algorithm])[1]
    elif not value:
        algorithm, value = usual or _algorithm(node, simple), simple
    _check_strength(node, algorithm)
    return {"checksum": (simple or value).lower(), "os_hash_algo": algorithm, "os_hash_value": value.lower()}


def _given(node: Node) -> tuple[str, str, str]:
    """Return algorithm, value, and the checksum without a named algorithm; empty text for what is not given."""
    algorithm, value, simple = (
        str(node.instance_info.get(f"image_{name}") or "") for name in ("os_hash_algo", "os_hash_value", "checksum")
    )
    return algorithm, value, simple


def _check_form(node: Node, given: str) -> None:
    """Refuse what is neither a checksum nor, where lists are allowed, a URL."""
    if not _is_url(given) and not is_checksum(given):
        raise InvalidParameterValue(err=f"The image checksum of node {node.uuid} is neither hexadecimal nor a URL.")
    if _is_url(given) and CONF.conductor.disable_support_for_checksum_files:
        raise InvalidParameterValue(
            err=f"The image checksum of node {node.uuid} is a URL, which [conductor]disable_support_for_checksum_files "
            "forbids. Give the checksum itself."
        )


def _is_url(given: str) -> bool:
    return syntax.url_of(given, ("http", "https")) is not None


def _algorithm(node: Node, value: str) -> str:
    found = _ALGORITHMS.get(len(value))
    if found is None:
        raise InvalidParameterValue(err=f"image_checksum of node {node.uuid} has the length of no known algorithm.")
    return found


def _check_strength(node: Node, algorithm: str) -> None:
    if algorithm == "md5" and not CONF.agent.allow_md5_checksum:
        raise InvalidParameterValue(
            err=f"Node {node.uuid} has an MD5 checksum only, which [agent]allow_md5_checksum forbids. Give SHA256."
        )


def _listed(node: Node, url: str, source: str, algorithms: Collection[str]) -> tuple[str, str]:
    """Return the strongest of these algorithms in the list behind a URL, and its checksum of the image."""
    try:
        with image_servers.get(url, most_bytes=_LARGEST_LIST) as answer:
            if not answer.is_good:
                raise CallFailed(f"the server answers with status {answer.status}")
            text = answer.read().decode("utf-8-sig", "replace")
    except CallFailed as error:
        what = f"The list of checksums for node {node.uuid}"
        raise InvalidParameterValue(err=f"{what} could not be fetched: {image_fault(node, what, error)}.") from error
    try:
        return listed_checksum(text, _file_name(source), algorithms, _file_name(url))
    except BadList as error:
        forbids = (
            "" if "md5" in algorithms else " [agent]allow_md5_checksum forbids MD5." if len(algorithms) > 1 else ""
        )
        raise InvalidParameterValue(
            err=f"The list of checksums for node {node.uuid} {error}. Name a list that has one.{forbids}"
        ) from None


def _file_name(url: str) -> str:
    return unquote(urlsplit(url).path).rpartition("/")[2]
