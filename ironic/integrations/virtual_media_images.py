"""Images for virtual media, copied to where BMCs can download them.

A BMC downloads its image from a URL: the user's own URL, or, for BMCs that can reach only this host, that of a copy
under [deploy]http_root (`ironic.integrations.web_root`). With [redfish]use_swift the copy goes to Swift, under the same
name, and its URL is valid for a while only. A node has at most one copy per drive.
"""

import logging
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import quote, urlsplit

from ironic.conf import CONF
from ironic.core import syntax
from ironic.core.allowed_addresses import server_of
from ironic.core.errors import InvalidParameterValue
from ironic.core.hardware_errors import ImageDownloadFailed
from ironic.core.secrets import REPLACEMENT
from ironic.integrations import disk_space, image_servers, web_root
from ironic.integrations.http_client import CallFailed
from ironic.integrations.object_store import ObjectStoreError, swift_container

if TYPE_CHECKING:
    from ironic.integrations.swift import SwiftContainer

LOG = logging.getLogger(__name__)

# Where a BMC downloads the image: from the server that the user has named, or from this host.
SOURCES: Final = ("http", "local")

_FOLDER: Final = "vmedia"
# Kinds of images that users attach; those of other kinds hold secrets of a boot.
_ATTACHED: Final = ("cdrom", "disk", "floppy")
_WEB: Final = ("http://", "https://")
_SUFFIXES: Final = frozenset({".iso", ".img", ".qcow2", ".raw"})


class Node(Protocol):
    """The part of a node record that is used here."""

    @property
    def uuid(self) -> str: ...

    @property
    def driver_info(self) -> Mapping[str, object]: ...


def check(node: Node, url: str, source: str) -> None:
    """Raise InvalidParameterValue when the image can't be offered; nothing is downloaded."""
    if url.startswith(_WEB) and server_of(url) is None:
        raise InvalidParameterValue(err="The URL of the image does not name a web server.")
    if source == "local" and url.startswith(_WEB):
        check_served(node)


def check_served(node: Node) -> None:
    """Raise InvalidParameterValue when the BMC of a node can download nothing from this host."""
    if not CONF.redfish.use_swift and not web_root.url_for_bmc(node.driver_info):
        raise InvalidParameterValue(
            err=f"The BMC of node {node.uuid} can't download images from this host: {web_root.REMEDY}; or name images "
            "that it downloads itself (image_download_source http)."
        )


def published(node: Node, device_type: str, url: str, source: str) -> str:
    """Return the URL from which a BMC downloads an image, after copying the image if need be.

    Raises ImageDownloadFailed.
    """
    if source != "local" or not url.startswith(_WEB):
        # Shares (nfs, cifs, smb) are mounted by the BMC itself.
        return url
    withdraw(node.uuid, [device_type])
    suffix = Path(urlsplit(url).path).suffix.lower()
    path = new_path(node, device_type, suffix if suffix in _SUFFIXES else "")
    _download(url, path)
    return url_of(node, path)


def new_path(node: Node, kind: str, suffix: str) -> Path:
    """Return the path for a new image of a node, in a directory that exists; some BMCs require a usual suffix.

    ``kind`` is a word: the drive, or what the image is for. The name is random, as the web server asks for no
    credentials. Raises ImageDownloadFailed when the directory can't be made.
    """
    try:
        _folder().mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}; set [deploy]http_root to a directory that the service can write"
        raise ImageDownloadFailed(reason=reason) from error
    return _folder() / f"{node.uuid}.{kind}.{secrets.token_hex(16)}{suffix}"


def is_here(name: str) -> bool:
    """Return whether BMCs can download the image of a name: from this host, or from Swift, which all hosts share."""
    return CONF.redfish.use_swift or (_folder() / name).exists()


def url_of(node: Node, path: Path) -> str:
    """Return the URL under which the BMC of a node downloads a published image; raises ObjectStoreError."""
    if CONF.redfish.use_swift:
        url = _container().temporary_url(path.name, CONF.redfish.swift_object_expiry_timeout)
        # Some BMCs take the kind of an image from the end of its URL.
        return f"{url}&filename={path.name}"
    return f"{web_root.url_for_bmc(node.driver_info)}/{_FOLDER}/{path.name}"


def shown(url: str) -> str:
    """Return the URL of an image as users see it: who knows the name of a boot image can read the agent's token."""
    folder, _, name = url.rpartition("/")
    folders = (f"/{_FOLDER}", f"/{quote(CONF.redfish.swift_container)}")
    is_ours = folder.endswith(folders) and syntax.is_stored_uuid(node_of(Path(name)))
    return f"{folder}/{REPLACEMENT}" if is_ours and kind_of(Path(name)) not in _ATTACHED else url


def offer(partial: Path, path: Path) -> None:
    """Publish a complete image, with a mode for every web server; raises ObjectStoreError."""
    if CONF.redfish.use_swift:
        _container().put_file(path.name, partial, CONF.redfish.swift_object_expiry_timeout)
        partial.unlink()
        return
    os.chmod(partial, CONF.redfish.file_permission)
    partial.rename(path)


def published_paths() -> list[Path]:
    """Return the paths of all published images, and of those that a killed service has left unfinished."""
    return [path for path in _folder().glob("*") if syntax.is_stored_uuid(node_of(path))]


def node_of(path: Path) -> str:
    """Return the UUID of the node that an image is published for."""
    return path.name.lstrip(".").partition(".")[0]


def kind_of(path: Path) -> str:
    """Return the kind of a published image: the drive, or what it is for."""
    return path.name.lstrip(".").split(".")[1]


def is_part_of(path: Path, name: str) -> bool:
    """Return whether a file is the image of this name, complete or in the making."""
    return bool(name) and path.name.lstrip(".").startswith(name)


def withdraw(node_uuid: str, device_types: Sequence[str] | None = None) -> None:
    """Remove the copies for these drives of a node, or for all."""
    # The name has a dot before it when the service was killed during the download.
    for path in [path for dot in ("", ".") for path in _folder().glob(f"{dot}{node_uuid}.*")]:
        if device_types is None or kind_of(path) in device_types:
            path.unlink(missing_ok=True)


def withdraw_from_store(names: Iterable[str]) -> None:
    """Remove images that Swift has; one that can't be removed now expires."""
    for name in names if CONF.redfish.use_swift else ():
        try:
            _container().delete(name)
        except ObjectStoreError as error:
            LOG.warning("An image of node %s is left in Swift until it expires: %s", node_of(Path(name)), error)


def _container() -> "SwiftContainer":
    return swift_container(CONF.redfish.swift_container)


def _folder() -> Path:
    return Path(CONF.deploy.http_root) / _FOLDER


def _download(url: str, target: Path) -> None:
    """Download an image into a file, which appears only when it is complete."""
    partial = target.with_name(f".{target.name}.part")
    try:
        with image_servers.get(url) as answer:
            if not answer.is_good:
                raise CallFailed(f"the server answers with status {answer.status}")
            with partial.open("wb") as file:
                for chunk in disk_space.fitting(answer.chunks(), partial.parent):
                    file.write(chunk)
        offer(partial, target)
    except (CallFailed, OSError) as error:
        reason = f"reading from {urlsplit(url).hostname}: {error if isinstance(error, CallFailed) else error.strerror}"
        LOG.warning("%s could not be stored: %s", target.name, reason)
        raise ImageDownloadFailed(reason=reason) from error
    finally:
        partial.unlink(missing_ok=True)
