"""The checksum of an image: given, or given by URL.

``image_checksum`` is a checksum whose algorithm shows in its length; ``image_os_hash_algo`` and
``image_os_hash_value`` say it in full and go before. Either value may be the URL of a list, as download pages have
them. No image is deployed without one.
"""

import hashlib
import re
from typing import Final
from urllib.parse import unquote, urlsplit

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.drivers.task import Node
from ironic.integrations import image_servers
from ironic.integrations.outgoing import CallFailed

# Length in hexadecimal digits -> algorithm.
_ALGORITHMS: Final = {32: "md5", 64: "sha256", 128: "sha512"}
_KNOWN: Final = frozenset({"md5", "sha256", "sha384", "sha512", "sha3_256", "sha3_512"})

_SUM: Final = re.compile(r"[0-9a-fA-F]{32,128}")
# "SHA256 (name) = sum", and "sum  name" or "sum *name".
_BSD: Final = re.compile(r"^\S+ \((?P<name>.+)\) = (?P<sum>[0-9a-fA-F]+)$")
_GNU: Final = re.compile(r"^(?P<sum>[0-9a-fA-F]{32,128})(?:\s+\*?(?P<name>\S.*))?$")

_LONGEST_LIST: Final = 1024 * 1024


def check(node: Node, *, is_file: bool) -> None:
    """Raise when there is no checksum, or one that can't be."""
    algorithm, value, simple = _said(node)
    _check_presence(node, is_file)
    for given in filter(None, (value, simple)):
        _check_form(node, given)
    if value and not _is_url(value) and len(value) != _digits(algorithm):
        raise InvalidParameterValue(err=f"image_os_hash_value of node {node.uuid} is no checksum of {algorithm}.")
    if value or (simple and not _is_url(simple)):
        _check_strength(node, algorithm or _algorithm(node, simple))


def _check_presence(node: Node, is_file: bool) -> None:
    algorithm, value, simple = _said(node)
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


def given(node: Node, source: str) -> dict[str, object]:
    """Return the checksums under the names that the agent knows, nothing when the user gives none."""
    algorithm, value, simple = _said(node)
    simple = _resolved(node, simple, source) if simple else ""
    if value:
        value = _resolved(node, value, source)
    elif simple:
        algorithm, value = _algorithm(node, simple), simple
    else:
        return {}
    _check_strength(node, algorithm)
    return {"checksum": simple or value, "os_hash_algo": algorithm, "os_hash_value": value}


def _said(node: Node) -> tuple[str, str, str]:
    """Return algorithm, value, and the checksum that does not say its algorithm; empty what is not given."""
    algorithm, value, simple = (
        str(node.instance_info.get(f"image_{name}") or "") for name in ("os_hash_algo", "os_hash_value", "checksum")
    )
    return algorithm, value, simple


def _check_form(node: Node, given: str) -> None:
    if not _is_url(given) and not _SUM.fullmatch(given):
        raise InvalidParameterValue(err=f"The image checksum of node {node.uuid} is neither hexadecimal nor a URL.")
    if _is_url(given) and CONF.conductor.disable_support_for_checksum_files:
        raise InvalidParameterValue(
            err=f"The image checksum of node {node.uuid} is a URL, which [conductor]disable_support_for_checksum_files "
            "forbids. Give the checksum itself."
        )


def _digits(algorithm: str) -> int:
    return 2 * hashlib.new(algorithm, usedforsecurity=False).digest_size


def _is_url(given: str) -> bool:
    return given.startswith(("http://", "https://"))


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


def _resolved(node: Node, given: str, source: str) -> str:
    return _from_list(node, _fetched(node, given), source) if _is_url(given) else given.lower()


def _fetched(node: Node, url: str) -> str:
    try:
        with image_servers.get(url, most_bytes=_LONGEST_LIST) as answer:
            if not answer.is_good:
                raise CallFailed(f"the server answers with status {answer.status}")
            return answer.read().decode("utf-8", "replace")
    except CallFailed as error:
        raise InvalidParameterValue(
            err=f"The list of checksums for node {node.uuid} could not be fetched: {error}."
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
