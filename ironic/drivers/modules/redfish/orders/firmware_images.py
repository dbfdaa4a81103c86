"""Firmware images where a BMC can fetch them: at the user's own URL, below [deploy]http_root, or in Swift.

An image that the BMC can't or shall not fetch itself is fetched once, checked, and published for as long as its step
lasts. The folder has an unguessable name, the file keeps its own, because some BMCs go by it. Users may name objects of
Swift, but not those in which the service keeps what it knows of other nodes.
"""

import hashlib
import logging
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from ironic.conf import CONF
from ironic.core.addresses.own_host import names_file
from ironic.core.errors import InvalidParameterValue, NodeNotFound
from ironic.core.errors.call_errors import ObjectStoreError
from ironic.core.errors.hardware_errors import ImageDownloadFailed
from ironic.core.texts import syntax
from ironic.drivers.contract.task import Node
from ironic.integrations import disk_space, host_files, image_servers, web_root
from ironic.integrations.hidden_faults import image_fault
from ironic.integrations.http_client import CallFailed
from ironic.integrations.object_store import swift_container

if TYPE_CHECKING:
    from ironic.db import Store

LOG = logging.getLogger(__name__)

# One update of a step: url, and optionally source, checksum and what is written here.
Update = dict[str, Any]

SOURCES: Final = ("http", "local", "swift")
SCHEMES: Final = ("http", "https", "file", "swift")
# Length of a checksum in hexadecimal digits -> algorithm.
ALGORITHMS: Final = {40: "sha1", 64: "sha256", 128: "sha512"}

_FOLDER: Final = "firmware"
_STAGED: Final = "staged"
_CHUNK: Final = 1 << 20
_UNUSUAL: Final = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME: Final = 100


def check(node: Node, update: Mapping[str, Any]) -> None:
    """Raise InvalidParameterValue when the image can't be offered to the BMC; nothing is fetched."""
    url = str(update["url"])
    if urlsplit(url).scheme.lower() == "swift":
        _object_of(url)
    if names_file(url) and (fault := host_files.path_fault(url)):
        raise InvalidParameterValue(err=f"The firmware image for node {node.uuid} is {fault}.")
    if _is_staged(update) and _source(update) != "swift" and not web_root.url_for_bmc(node.driver_info):
        raise InvalidParameterValue(
            err=f"The BMC of node {node.uuid} can't download firmware from this host: {web_root.REMEDY}."
        )


def stage(node: Node, update: Update) -> None:
    """Fetch an image that the BMC does not fetch itself, check it and publish it; raises ImageDownloadFailed."""
    if not _is_staged(update):
        return
    url = str(update["url"])
    name = f"{secrets.token_hex(16)}/{_file_name(url)}"
    path = _folder(node.uuid) / name
    try:
        path.parent.mkdir(mode=0o755, parents=True)
        _fetch(url, path, update.get("checksum"))
        path.chmod(CONF.redfish.file_permission)
        if _source(update) == "swift":
            _container().put_file(f"{node.uuid}/{name}", path, CONF.redfish.swift_object_expiry_timeout)
            shutil.rmtree(path.parent)
    except (CallFailed, OSError, ObjectStoreError, host_files.NotOffered) as error:
        shutil.rmtree(path.parent, ignore_errors=True)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        if isinstance(error, CallFailed):
            reason = image_fault(node, f"The firmware image for node {node.uuid}", reason)
        raise ImageDownloadFailed(reason=f"firmware image {path.name}: {reason}") from error
    update[_STAGED] = name


def url_for_bmc(node: Node, update: Update) -> str:
    """Return the URL for the BMC; an image that another conductor has published on its host is published here."""
    url = str(update["url"])
    if not _is_staged(update):
        return _temporary_url(*_object_of(url)) if urlsplit(url).scheme.lower() == "swift" else url
    if _source(update) == "swift":
        if _STAGED not in update:
            stage(node, update)
        return _temporary_url(CONF.redfish.swift_container, f"{node.uuid}/{update[_STAGED]}")
    if not (_STAGED in update and (_folder(node.uuid) / update[_STAGED]).is_file()):
        stage(node, update)
    return f"{web_root.url_for_bmc(node.driver_info)}/{_FOLDER}/{node.uuid}/{update[_STAGED]}"


def withdraw(node_uuid: str, updates: list[Update]) -> None:
    """Remove what was published for the updates of a node."""
    shutil.rmtree(_folder(node_uuid), ignore_errors=True)
    for update in updates:
        if _STAGED in update and _source(update) == "swift":
            try:
                _container().delete(f"{node_uuid}/{update[_STAGED]}")
            except ObjectStoreError as error:
                LOG.warning("Node %s: a firmware image is left in Swift until it expires: %s", node_uuid, error)


def remove_leftovers(store: "Store", is_in_use: Any) -> None:
    """Remove the images on this host of nodes that are not in use, such as those of an aborted step."""
    for folder in _folder("").glob("*"):
        if not syntax.is_stored_uuid(folder.name):
            continue
        try:
            node = store.nodes.get(folder.name)
        except NodeNotFound:
            node = None
        if node is None or not is_in_use(node):
            LOG.info("Node %s: firmware images on this host are left over and are removed", folder.name)
            shutil.rmtree(folder, ignore_errors=True)


def _source(update: Mapping[str, Any]) -> str:
    return str(update.get("source") or CONF.redfish.firmware_source)


def _is_staged(update: Mapping[str, Any]) -> bool:
    """Return whether the service fetches the image, and not the BMC."""
    scheme, source = urlsplit(str(update["url"])).scheme.lower(), _source(update)
    return not ((scheme in ("http", "https") and source == "http") or (scheme == "swift" and source == "swift"))


def _folder(node_uuid: str) -> Path:
    return Path(CONF.deploy.http_root) / _FOLDER / node_uuid


def _file_name(url: str) -> str:
    """Return the file name of a URL, without what a path or URL could misunderstand."""
    name = _UNUSUAL.sub("-", unquote(urlsplit(url).path).rpartition("/")[2])[-_LONGEST_NAME:]
    return name.lstrip(".-") or "image"


def _fetch(url: str, path: Path, checksum: str | None) -> None:
    digest = hashlib.new(ALGORITHMS[len(checksum)], usedforsecurity=False) if checksum else hashlib.sha256()
    with _source_of(url) as chunks, path.open("xb") as file:
        for chunk in disk_space.fitting(chunks, path.parent):
            digest.update(chunk)
            file.write(chunk)
    if checksum and digest.hexdigest() != checksum.lower():
        raise CallFailed("its checksum is not the given one")


@contextmanager
def _source_of(url: str) -> Iterator[Iterator[bytes]]:
    if names_file(url):
        with host_files.open_image(url) as file:
            yield iter(lambda: file.read(_CHUNK), b"")
        return
    if urlsplit(url).scheme.lower() == "swift":
        url = _temporary_url(*_object_of(url))
    with image_servers.get(url) as answer:
        if not answer.is_good:
            raise CallFailed(f"the server answers with status {answer.status}")
        yield answer.chunks()


# Swift


def _container() -> Any:
    return swift_container(CONF.redfish.swift_container)


def _object_of(url: str) -> tuple[str, str]:
    """Return container and object of a swift URL; raise InvalidParameterValue for one that users may not read."""
    parts = urlsplit(url)
    container, name = unquote(parts.netloc), unquote(parts.path).lstrip("/")
    own = (
        CONF.redfish.swift_container,
        CONF.conductor.configdrive_swift_container,
        CONF.inventory.swift_data_container,
        CONF.agent.deploy_logs_swift_container,
    )
    # Swift's server resolves no dots, but something before it may.
    is_plain = container and name and "/" not in container and not {".", ".."} & {container, *name.split("/")}
    if not is_plain or not container.isprintable() or not name.isprintable():
        raise InvalidParameterValue(err="A firmware image in Swift is named by swift://container/object.")
    if container in own:
        raise InvalidParameterValue(err=f"Container {container} is for data of the service, and has no firmware.")
    if container not in CONF.redfish.firmware_swift_containers:
        raise InvalidParameterValue(
            err=f"Container {container} is not among those of [redfish]firmware_swift_containers, in which an operator "
            "offers firmware."
        )
    return container, name


def _temporary_url(container: str, name: str) -> str:
    return swift_container(container).temporary_url(name, CONF.redfish.swift_object_expiry_timeout)
