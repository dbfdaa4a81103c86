"""The checksum of an image: given, given by URL, or of a file that we have ourselves.

``image_checksum`` is a checksum whose algorithm shows in its length; ``image_os_hash_algo`` and
``image_os_hash_value`` say it in full and go before. Either value may be the URL of a list, as download pages have
them. No image is deployed without one.
"""

import hashlib
import re
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import requests

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.drivers.modules.agent import published
from ironic.drivers.task import Node

# Length in hexadecimal digits -> algorithm.
_ALGORITHMS: Final = {32: "md5", 64: "sha256", 128: "sha512"}
_KNOWN: Final = frozenset({"md5", "sha256", "sha384", "sha512", "sha3_256", "sha3_512"})

_SUM: Final = re.compile(r"[0-9a-fA-F]{32,128}")
# "SHA256 (name) = sum", and "sum  name" or "sum *name".
_BSD: Final = re.compile(r"^\S+ \((?P<name>.+)\) = (?P<sum>[0-9a-fA-F]+)$")
_GNU: Final = re.compile(r"^(?P<sum>[0-9a-fA-F]{32,128})(?:\s+\*?(?P<name>\S.*))?$")

_LONGEST_LIST: Final = 1024 * 1024
_SECONDS: Final = 60


def check(node: Node, *, is_file: bool) -> None:
    """Raise when there is no checksum, or one that can't be."""
    info = node.instance_info
    algorithm, value, simple = (info.get(f"image_{name}") for name in ("os_hash_algo", "os_hash_value", "checksum"))
    if bool(algorithm) != bool(value):
        raise MissingParameterValue(err=f"Node {node.uuid} needs both image_os_hash_algo and image_os_hash_value.")
    if algorithm and algorithm not in _KNOWN:
        raise InvalidParameterValue(
            err=f"image_os_hash_algo of node {node.uuid} must be of: {', '.join(sorted(_KNOWN))}."
        )
    if not (value or simple or is_file):
        raise MissingParameterValue(
            err=f"Node {node.uuid} needs a checksum of its image in instance_info: image_os_hash_algo and "
            "image_os_hash_value, or image_checksum."
        )
    for given in filter(None, (value, simple)):
        if not _is_url(given) and not _SUM.fullmatch(str(given)):
            raise InvalidParameterValue(err=f"The image checksum of node {node.uuid} is neither hexadecimal nor a URL.")


def find(node: Node, source: str) -> dict[str, Any]:
    """Return the checksums under the names that the agent knows."""
    info = node.instance_info
    algorithm, value = info.get("image_os_hash_algo"), info.get("image_os_hash_value")
    simple = info.get("image_checksum")
    if not (value or simple):
        algorithm, value = "sha256", _of_file(published.path_of(source))
    simple = _resolved(node, simple, source) if simple else None
    if value:
        value = _resolved(node, value, source)
    else:
        algorithm, value = _algorithm(node, simple), simple
    _check_strength(node, algorithm)
    return {"checksum": simple or value, "os_hash_algo": algorithm, "os_hash_value": value}


def _is_url(given: Any) -> bool:
    return str(given).startswith(("http://", "https://"))


def _algorithm(node: Node, value: Any) -> str:
    found = _ALGORITHMS.get(len(str(value)))
    if found is None:
        raise InvalidParameterValue(err=f"image_checksum of node {node.uuid} has the length of no known algorithm.")
    return found


def _check_strength(node: Node, algorithm: Any) -> None:
    if algorithm == "md5" and not CONF.agent.allow_md5_checksum:
        raise InvalidParameterValue(
            err=f"Node {node.uuid} has an MD5 checksum only, which [agent]allow_md5_checksum forbids. Give SHA256."
        )


def _resolved(node: Node, given: Any, source: str) -> str:
    return _from_list(node, _fetched(node, str(given)), source) if _is_url(given) else str(given).lower()


def _fetched(node: Node, url: str) -> str:
    try:
        with requests.get(url, timeout=_SECONDS, stream=True) as answer:
            answer.raise_for_status()
            return answer.raw.read(_LONGEST_LIST, decode_content=True).decode("utf-8", "replace")
    except requests.RequestException as error:
        reason = type(error).__name__
        raise InvalidParameterValue(
            err=f"The list of checksums for node {node.uuid} could not be fetched: {reason}."
        ) from error


def _from_list(node: Node, text: str, source: str) -> str:
    """Return the sum of the image in a list, or the only one there is."""
    wanted = unquote(urlsplit(source).path).rpartition("/")[2]
    found = [match for line in text.splitlines() if (match := _BSD.match(line.strip()) or _GNU.match(line.strip()))]
    for match in found:
        if (match["name"] or "").rpartition("/")[2] == wanted:
            return match["sum"].lower()
    if len(found) == 1 and not found[0]["name"]:
        return found[0]["sum"].lower()
    raise InvalidParameterValue(err=f"The list of checksums for node {node.uuid} has none for {wanted}.")


def _of_file(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
