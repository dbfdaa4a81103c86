"""Images for virtual media, copied to where BMCs can take them from.

A BMC takes its image from a URL: the user's own URL, or, for BMCs that can reach only this host, that of a copy at one
of the places of `ironic.integrations.image_places`. A node has at most one copy per drive.
"""

import logging
import re
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from ironic.conf import CONF
from ironic.core.addresses.allowed_addresses import server_of
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.call_errors import ObjectStoreError
from ironic.core.errors.hardware_errors import ImageDownloadFailed
from ironic.core.secrets.masking import REPLACEMENT
from ironic.core.texts import syntax
from ironic.integrations import disk_space, image_places, image_servers
from ironic.integrations.hidden_faults import image_fault
from ironic.integrations.http_client import CallFailed
from ironic.integrations.image_places import SHARE_SCHEMES, Node, Place

LOG = logging.getLogger(__name__)

# Where a BMC downloads the image: from the server that the user has named, or from this host.
SOURCES: Final = ("http", "local")

# Kinds of images that users attach; those of other kinds hold secrets of a boot.
_ATTACHED: Final = ("cdrom", "disk", "floppy")
_WEB: Final = ("http://", "https://")
_SUFFIXES: Final = frozenset({".iso", ".img", ".qcow2", ".raw"})


# <node UUID>.<kind>.<random>, with a dot before it while the image is made.
_NAME: Final = re.compile(r"\.?[0-9a-f-]{36}\.[a-z]+\.[0-9a-f]+(\..*)?")


def check(node: Node, url: str, source: str) -> None:
    """Raise InvalidParameterValue when the image can't be offered; nothing is downloaded."""
    if url.startswith(_WEB):
        if server_of(url) is None:
            raise InvalidParameterValue(err="The URL of the image does not name a web server.")
        if source == "local":
            image_places.place_of(node).check(node)
        return
    if syntax.url_of(url, SHARE_SCHEMES) is None:
        raise InvalidParameterValue(err="The URL of the image does not name a server with shares.")
    if source == "local":
        raise InvalidParameterValue(
            err="This host makes no copies of images on shares (nfs, cifs, smb); with image_download_source http the "
            "BMC mounts the share itself."
        )


def published(node: Node, device_type: str, url: str, source: str) -> str:
    """Return the URL from which a BMC downloads an image, after copying the image if need be.

    Raises ImageDownloadFailed.
    """
    if source != "local" or not url.startswith(_WEB):
        return url
    place = image_places.place_of(node)
    withdraw(node.uuid, [device_type])
    suffix = Path(urlsplit(url).path).suffix.lower()
    path = new_path(node, device_type, suffix if suffix in _SUFFIXES else "")
    _download(node, url, path, place)
    return place.url(node, path.name)


def new_path(node: Node, kind: str, suffix: str) -> Path:
    """Return the path for a new image of a node, in a directory that exists; some BMCs require a usual suffix.

    ``kind`` is a word: the drive, or what the image is for. The name is random, as the web server asks for no
    credentials. Raises ImageDownloadFailed when the directory can't be made.
    """
    folder = image_places.own_folder()
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}; set [deploy]http_root to a directory that the service can write"
        raise ImageDownloadFailed(reason=reason) from error
    return folder / f"{node.uuid}.{kind}.{secrets.token_hex(16)}{suffix}"


def is_here(name: str) -> bool:
    """Return whether BMCs can take the image of a name: from this host, a share, or Swift, which all hosts share."""
    return CONF.redfish.use_swift or any((folder / name).exists() for folder in image_places.folders())


def shown(url: str) -> str:
    """Return the URL of an image as users see it: who knows the name of a boot image can read the agent's token."""
    folder, _, name = url.rpartition("/")
    is_ours = folder.endswith(image_places.parts_of_urls()) and syntax.is_stored_uuid(node_of(Path(name)))
    return f"{folder}/{REPLACEMENT}" if is_ours and kind_of(Path(name)) not in _ATTACHED else url


def published_paths() -> list[Path]:
    """Return the paths of all published images, and of those that a killed service has left unfinished."""
    return [
        path
        for folder in image_places.folders()
        for path in _names_in(folder)
        if _NAME.fullmatch(path.name) and syntax.is_stored_uuid(node_of(path))
    ]


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
    """Remove the copies for these drives of a node, or for all; on a share that is gone they are left."""
    for path in published_paths():
        if node_of(path) == node_uuid and (device_types is None or kind_of(path) in device_types):
            remove(path)


def remove(path: Path) -> None:
    """Remove a published image; one on a share that is gone is left for `published_paths`."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        LOG.warning("Node %s: an image in %s can't be removed: %s", node_of(path), path.parent, error.strerror)


def withdraw_from_store(names: Iterable[str]) -> None:
    """Remove images that Swift has; one that can't be removed now expires."""
    for name in names if CONF.redfish.use_swift else ():
        try:
            image_places.container().delete(name)
        except ObjectStoreError as error:
            LOG.warning("An image of node %s is left in Swift until it expires: %s", node_of(Path(name)), error)


def _names_in(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        LOG.warning("The images in %s can't be listed: %s", folder, error.strerror)
        return []


def _download(node: Node, url: str, target: Path, place: Place) -> None:
    """Download an image into a file, which appears only when it is complete."""
    partial = target.with_name(f".{target.name}.part")
    try:
        with image_servers.get(url) as answer:
            if not answer.is_good:
                raise CallFailed(f"the server answers with status {answer.status}")
            with partial.open("wb") as file:
                for chunk in disk_space.fitting(answer.chunks(), partial.parent):
                    file.write(chunk)
        place.offer(partial, target)
    except (CallFailed, OSError) as error:
        why = image_fault(node, target.name, error) if isinstance(error, CallFailed) else error.strerror
        reason = f"reading from {urlsplit(url).hostname}: {why}"
        LOG.warning("%s could not be stored: %s", target.name, reason)
        raise ImageDownloadFailed(reason=reason) from error
    finally:
        partial.unlink(missing_ok=True)
