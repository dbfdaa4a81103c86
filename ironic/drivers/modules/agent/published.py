"""Images that agents fetch from this host, from the web server that [deploy]http_root belongs to.

An image is fetched once and kept for others who want it, in [pxe]instance_master_path. It is looked into, made raw if
[DEFAULT]force_raw_images wants that, and linked below http_root for as long as its node needs it, under a name that
can't be guessed: whoever reaches the web server could fetch it otherwise.
"""

import functools
import re
import secrets
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.file_urls import names_file
from ironic.drivers.task import Node
from ironic.integrations import image_formats, local_files
from ironic.integrations.image_cache import Image, ImageCache

# A node's UUID, and what can't be guessed.
_NAME: Final = re.compile(r"[0-9a-f-]{36}\.[0-9a-f]{16}")


def check(node: Node, source: str) -> None:
    """Raise when the image may not be offered, or can't be."""
    if names_file(source) and (fault := local_files.fault_of(source)):
        raise InvalidParameterValue(err=f"image_source of node {node.uuid} is {fault}.")
    if not CONF.deploy.http_url:
        raise InvalidParameterValue(
            err=f"The image of node {node.uuid} can't be offered to agents by this host: set [deploy]http_url to the "
            "URL of [deploy]http_root."
        )


def publish(node: Node, source: str, sums: Mapping[str, object]) -> dict[str, object]:
    """Offer the image; return where the agent finds it, what format it has there, and its checksums."""
    check(node, source)
    withdraw(node)
    name = f"{node.uuid}.{secrets.token_hex(8)}"
    _folder().mkdir(parents=True, exist_ok=True)
    with _places(CONF.image_download_concurrency):
        about = _provided(node, source, sums, _folder() / name)
    return {"urls": [f"{CONF.deploy.http_url.rstrip('/')}/{CONF.deploy.http_image_subdir}/{name}"], **about}


def _provided(node: Node, source: str, sums: Mapping[str, Any], target: Path) -> dict[str, object]:
    called = node.instance_info.get("image_disk_format")
    # What is made of an image depends on these two.
    variant = f"{called} {CONF.force_raw_images}"
    image = Image(source, sums.get("os_hash_value"), sums.get("os_hash_algo"), variant)
    cache = ImageCache.from_conf(CONF.pxe.instance_master_path, functools.partial(_finish, called))
    return cache.provide(image, target)


def withdraw(node: Node) -> None:
    """Offer it no longer; nothing happens when none was."""
    for path in offered():
        if node_of(path) == node.uuid:
            path.unlink(missing_ok=True)


def offered() -> list[Path]:
    """Return what is offered here, for all nodes."""
    return [path for path in _folder().glob("*.*") if _NAME.fullmatch(path.name)]


def node_of(path: Path) -> str:
    """Return the UUID of the node that an image is offered to."""
    return path.name.partition(".")[0]


def _folder() -> Path:
    return Path(CONF.deploy.http_root, CONF.deploy.http_image_subdir)


@functools.cache
def _places(most: int) -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(most)


def _finish(called: str | None, path: Path) -> dict[str, object]:
    """Look into an image that was fetched, make it raw if wanted; return what an agent is told of it."""
    return {"disk_format": _made_fit(called, path), **_sums(image_formats.sha256(path))}


def _made_fit(called: str | None, path: Path) -> str | None:
    if CONF.conductor.disable_deep_image_inspection:
        return called
    known = image_formats.inspect(path, called, CONF.conductor.permitted_image_formats)
    if known.is_verbatim:
        return image_formats.RAW
    if not CONF.force_raw_images:
        return known.name
    image_formats.make_raw(path, known)
    return image_formats.RAW


def _sums(value: str) -> dict[str, str]:
    return {"checksum": value, "os_hash_algo": "sha256", "os_hash_value": value}
