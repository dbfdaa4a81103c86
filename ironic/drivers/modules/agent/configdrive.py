"""The config drive of an instance: what the system reads at its first boot.

A user gives the address of a finished one, a finished one as text, or the parts of it; from parts it is built here.
What is in it is secret: no text quotes it.
"""

import base64
import functools
import gzip
import io
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.modules.agent import config_drive_image
from ironic.drivers.task import Node

if TYPE_CHECKING:
    from ironic.integrations.swift import SwiftContainer

# The agent takes no larger one.
_LARGEST: Final = 64 << 20
_A_DAY: Final = 86400
_GZIP: Final = b"\x1f\x8b"
_PIECE: Final = 1 << 20
_HEAD: Final = 0x9000
# Where a file system says what it is: ISO 9660 in its first descriptor, FAT in its boot sector.
_ISO_AT: Final = 0x8001
_ISO: Final = b"CD001"
_BOOT_SIGN_AT: Final = 510
_BOOT_SIGN: Final = b"\x55\xaa"
_FAT_AT: Final = (54, 82)


def check(node: Node) -> None:
    """Raise when the instance's config drive is none."""
    given = node.instance_info.get("configdrive")
    if isinstance(given, Mapping):
        _check_parts(node, given)
    elif given and not _is_url(given) and not CONF.conductor.disable_configdrive_check:
        _check_image(node, *_head_and_size(node, str(given)))


def _check_parts(node: Node, parts: Mapping[str, object]) -> None:
    for name in ("meta_data", "network_data", "vendor_data"):
        if parts.get(name) and not isinstance(parts[name], Mapping):
            raise InvalidParameterValue(err=f"{name} in the config drive of node {node.uuid} must be an object.")


def of(node: Node) -> str | None:
    """Return the config drive as the agent takes it: an address, or compressed base64 text; None without one."""
    given = node.instance_info.get("configdrive")
    if not given or _is_url(given):
        return str(given) if given else None
    text = build(node, given) if isinstance(given, Mapping) else _compressed(node, str(given))
    return _stored(node, text) if CONF.deploy.configdrive_use_object_store else text


def _compressed(node: Node, text: str) -> str:
    content = _bytes(node, text)
    return text if content.startswith(_GZIP) else _packed(content)


def _stored(node: Node, text: str) -> str:
    """Put the text into the object store; return a URL that leads there for as long as it is needed."""
    seconds: int = (
        CONF.conductor.configdrive_swift_temp_url_duration or CONF.conductor.deploy_callback_timeout or _A_DAY
    )
    store, name = _store(CONF.conductor.configdrive_swift_container), f"configdrive-{node.uuid}"
    store.put(name, text.encode(), keep_seconds=seconds, content_type="text/plain")
    return store.temporary_url(name, seconds)


@functools.cache
def _store(container: str) -> "SwiftContainer":
    # Whoever hands config drives over directly should not load a client for something else.
    from ironic.integrations.swift import SwiftContainer

    return SwiftContainer.from_conf(container)


def _is_url(given: object) -> bool:
    return isinstance(given, str) and "://" in given


def _bytes(node: Node, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=False)
    except ValueError:
        raise InvalidParameterValue(
            err=f"The config drive of node {node.uuid} is neither a URL, base64 text nor an object."
        ) from None


def _head_and_size(node: Node, text: str) -> tuple[bytes, int]:
    """Return the begin of a finished config drive's image and its size, or more than the largest one may have."""
    content = _bytes(node, text)
    if not content.startswith(_GZIP):
        return content[:_HEAD], len(content)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            head = packed.read(_HEAD)
            size = len(head)
            # Looked at in pieces: a few KiB may hold more than there is memory for.
            while size <= _LARGEST and (piece := packed.read(_PIECE)):
                size += len(piece)
            return head, size
    except (OSError, EOFError, zlib.error):
        raise InvalidParameterValue(
            err=f"The config drive of node {node.uuid} is compressed, and broken: give base64 of a whole gzip file."
        ) from None


def _check_image(node: Node, head: bytes, size: int) -> None:
    if size > _LARGEST:
        raise InvalidParameterValue(
            err=f"The config drive of node {node.uuid} is too large; agents take up to {_LARGEST >> 20} MiB."
        )
    is_iso = head[_ISO_AT : _ISO_AT + len(_ISO)] == _ISO
    is_fat = head[_BOOT_SIGN_AT : _BOOT_SIGN_AT + 2] == _BOOT_SIGN and any(
        head[place : place + 3] == b"FAT" for place in _FAT_AT
    )
    if not (is_iso or is_fat):
        raise InvalidParameterValue(
            err=f"The config drive of node {node.uuid} is neither an ISO 9660 nor a FAT image. If it is meant to be "
            "like that, see [conductor]disable_configdrive_check."
        )


def build(node: Node, parts: Mapping[str, object]) -> str:
    """Build a config drive from its parts."""
    return _packed(config_drive_image.made_of(node.uuid, parts))


def _packed(image: bytes) -> str:
    return base64.b64encode(gzip.compress(image, mtime=0)).decode()
