"""Images that this host publishes below [deploy]http_root for agents to download.

An image is downloaded once into the cache of [pxe]instance_master_path, inspected, converted to raw with
[DEFAULT]force_raw_images, and linked below http_root for as long as its node needs it, by way of [pxe]images_path if
that is set. The link has an unguessable name: otherwise every client of the web server could download the image.
"""

import functools
import re
import secrets
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.addresses.own_host import names_file
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import BootImageFailed
from ironic.drivers.contract.task import Node
from ironic.drivers.modules.agent import host_memory
from ironic.integrations import host_files, image_formats, own_directories, web_root
from ironic.integrations.hidden_faults import is_of_project
from ironic.integrations.image_cache import Image, ImageCache, link_or_copy

# The UUID of a node and a random suffix.
_NAME: Final = re.compile(r"[0-9a-f-]{36}\.[0-9a-f]{16}")


def check(node: Node, source: str) -> None:
    """Raise InvalidParameterValue when the image must not or can't be published."""
    if names_file(source) and (fault := host_files.path_fault(source)):
        raise InvalidParameterValue(err=f"image_source of node {node.uuid} is {fault}.")
    if not web_root.url():
        raise InvalidParameterValue(
            err=f"The image of node {node.uuid} can't be offered to agents by this host: {web_root.REMEDY}."
        )


def publish(node: Node, source: str, sums: Mapping[str, Any]) -> dict[str, object]:
    """Publish the image; return ``urls``, ``disk_format`` and checksums of the published file.

    Raise BootImageFailed when it can't be downloaded, verified or converted.
    """
    check(node, source)
    withdraw(node)
    disk_format = node.instance_info.get("image_disk_format")
    # The published file depends on these two as well.
    variant = f"{disk_format} {CONF.force_raw_images}"
    image = Image(source, sums.get("os_hash_value"), sums.get("os_hash_algo"), variant, is_of_project(node))
    cache = ImageCache.from_conf(CONF.pxe.instance_master_path, functools.partial(_finish, disk_format))
    name = f"{node.uuid}.{secrets.token_hex(8)}"
    # The same without [pxe]images_path.
    offered, ready = _offered() / name, _made_ready() / name
    try:
        offered.parent.mkdir(parents=True, exist_ok=True)
        ready.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _download_slots(CONF.image_download_concurrency):
            about = cache.provide(image, ready)
        if ready != offered:
            link_or_copy(ready, offered)
    except OSError as error:
        raise BootImageFailed(image=image.name, reason=own_directories.explained(error)) from error
    return {"urls": [f"{web_root.url()}/{CONF.deploy.http_image_subdir}/{name}"], **about}


def withdraw(node: Node) -> None:
    """Remove the node's published images, if there are any."""
    for path in published():
        if node_of(path) == node.uuid:
            path.unlink(missing_ok=True)


def published() -> list[Path]:
    """Return the paths of all published images, and of those in [pxe]images_path."""
    return [path for folder in {_offered(), _made_ready()} for path in folder.glob("*.*") if _NAME.fullmatch(path.name)]


def node_of(path: Path) -> str:
    """Return the UUID of the node that an image is published for."""
    return path.name.partition(".")[0]


def _offered() -> Path:
    """Return the directory from which agents download."""
    return Path(CONF.deploy.http_root, CONF.deploy.http_image_subdir)


def _made_ready() -> Path:
    """Return the directory to which images come first."""
    return Path(CONF.pxe.images_path) if CONF.pxe.images_path else _offered()


@functools.cache
def _download_slots(most: int) -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(most)


def _finish(disk_format: str | None, path: Path) -> dict[str, object]:
    """Inspect a downloaded image and convert it if configured; return its format and checksum for the agent."""
    if not CONF.conductor.disable_deep_image_inspection:
        known = image_formats.inspect(path, disk_format, CONF.conductor.permitted_image_formats)
        if known.is_verbatim:
            disk_format = image_formats.RAW
        elif CONF.force_raw_images:
            host_memory.await_enough()
            image_formats.make_raw(path, known)
            disk_format = image_formats.RAW
        else:
            disk_format = known.name
    value = image_formats.sha256(path)
    return {"disk_format": disk_format, "checksum": value, "os_hash_algo": "sha256", "os_hash_value": value}
