"""Where a BMC finds an image for its virtual media: on this host's web server, in Swift, or on a share that it mounts.

`vmedia_transport_protocol` of a node decides: NFS and CIFS name a share, which is mounted on this host too; all else is
the web server, or Swift with [redfish]use_swift. Files are named by the service, so nothing that users write becomes a
part of a path. An image is made in a directory of this host and then moved to its place, where it appears complete.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import quote, urlsplit

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import ImageCreationFailed
from ironic.integrations import disk_space, web_root
from ironic.integrations.object_store import swift_container

if TYPE_CHECKING:
    from ironic.integrations.swift import SwiftContainer


PROTOCOL: Final = "vmedia_transport_protocol"

# Schemes of the URLs of shares, and their protocol.
SHARE_SCHEMES: Final = {"nfs": "NFS", "cifs": "CIFS", "smb": "CIFS"}
NFS: Final = "NFS"
CIFS: Final = "CIFS"

_WEB: Final = ("HTTP", "HTTPS")
_OTHER_NAMES: Final = {"SMB": CIFS}
# Protocol of shares -> group of its options.
_GROUPS: Final = {NFS: "nfs", CIFS: "cifs"}
_FOLDER: Final = "vmedia"
# The name of a published image has nothing that a BMC could take for another path.
_IMAGE: Final = re.compile(r"[0-9a-z.-]+")


class Node(Protocol):
    """The part of a node record that is used here."""

    @property
    def uuid(self) -> str: ...

    @property
    def driver_info(self) -> Mapping[str, object]: ...

    @property
    def owner(self) -> str | None: ...

    @property
    def lessee(self) -> str | None: ...


class Place(Protocol):
    """A place for images."""

    def check(self, node: Node) -> None:
        """Raise InvalidParameterValue when the BMC of a node could take nothing from here."""

    def offer(self, partial: Path, path: Path) -> None:
        """Move a complete image here, under the name of ``path``; with a mode for every server."""

    def url(self, node: Node, name: str) -> str:
        """Return the URL by which the BMC takes the image of this name."""


class WebServer:
    """[deploy]http_root, which this host serves."""

    def check(self, node: Node) -> None:
        """Raise InvalidParameterValue when nothing serves the directory."""
        if not web_root.url_for_bmc(node.driver_info):
            raise InvalidParameterValue(
                err=f"The BMC of node {node.uuid} can't download images from this host: {web_root.REMEDY}; or name "
                "images that it downloads itself (image_download_source http)."
            )

    def offer(self, partial: Path, path: Path) -> None:
        """Rename the image, which is in the directory already."""
        os.chmod(partial, CONF.redfish.file_permission)
        partial.rename(path)

    def url(self, node: Node, name: str) -> str:
        """Return the URL for this node's BMC."""
        return f"{web_root.url_for_bmc(node.driver_info)}/{_FOLDER}/{name}"


class Swift:
    """A container of Swift."""

    def check(self, node: Node) -> None:
        """Accept every node: whether Swift can be reached is seen when an image is stored."""

    def offer(self, partial: Path, path: Path) -> None:
        """Store the image for a while; raises ObjectStoreError."""
        container().put_file(path.name, partial, CONF.redfish.swift_object_expiry_timeout)
        partial.unlink()

    def url(self, node: Node, name: str) -> str:
        """Return a temporary URL; raises ObjectStoreError."""
        url = container().temporary_url(name, CONF.redfish.swift_object_expiry_timeout)
        # Some BMCs take the kind of an image from the end of its URL.
        return f"{url}&filename={name}"


@dataclass(frozen=True, slots=True)
class Share:
    """A directory of this host that BMCs mount as a share, by NFS or CIFS."""

    protocol: str

    @property
    def group(self) -> str:
        """The group of options of the share."""
        return _GROUPS[self.protocol]

    @property
    def folder(self) -> Path | None:
        """The directory, None when none is set."""
        path = CONF[self.group].share_path
        return Path(path) if path else None

    @property
    def url_of_folder(self) -> str:
        """The URL of the directory for BMCs."""
        options = CONF[self.group]
        return f"{(options.base_url or '').rstrip('/')}/{quote((options.share_path or '').strip('/'))}"

    def check(self, node: Node) -> None:
        """Raise InvalidParameterValue when the options name no share, or one that can't be written."""
        options, group = CONF[self.group], self.group
        subject = f"Node {node.uuid} takes images from a share ({PROTOCOL} {self.protocol})"
        if not (options.base_url and options.share_path):
            raise InvalidParameterValue(err=f"{subject}: set [{group}]base_url and [{group}]share_path.")
        if fault := _url_fault(options.base_url):
            raise InvalidParameterValue(err=f"{subject}: [{group}]base_url {fault}.")
        path = options.share_path
        if not os.path.isabs(path) or not os.path.isdir(path):
            reason = "is no directory of this host"
        elif not os.access(path, os.W_OK | os.X_OK):
            reason = "can't be written by the service"
        else:
            return
        raise InvalidParameterValue(
            err=f"{subject}: {path} of [{group}]share_path {reason}. Mount the share there, writable for the service."
        )

    def offer(self, partial: Path, path: Path) -> None:
        """Copy the image to the share; raises ImageCreationFailed, InsufficientDiskSpace."""
        folder = self.folder
        assert folder is not None, "check was not called"
        copy = folder / f".{path.name}.part"
        try:
            size = partial.stat().st_size
            # Exclusively: another client of the share might have put a link there.
            with partial.open("rb") as source, copy.open("xb") as target, disk_space.reserved(copy, size):
                shutil.copyfileobj(source, target, 1 << 20)
                target.flush()
                os.fsync(target.fileno())
                with contextlib.suppress(PermissionError):
                    # Some shares have no modes of their own.
                    os.fchmod(target.fileno(), CONF.redfish.file_permission)
            copy.rename(folder / path.name)
        except OSError as error:
            reason = f"{folder} of [{self.group}]share_path: {error.strerror}; see whether the share is mounted"
            raise ImageCreationFailed(image_type=self.protocol, error=reason) from error
        finally:
            with contextlib.suppress(OSError):
                copy.unlink(missing_ok=True)
        partial.unlink()

    def url(self, node: Node, name: str) -> str:
        """Return the URL below [nfs]base_url or [cifs]base_url."""
        return f"{self.url_of_folder}/{name}"


def protocol_of(node: Node) -> str | None:
    """Return the protocol by which the BMC of a node takes images, None when its node names none.

    Raises InvalidParameterValue for an unknown one.
    """
    given = node.driver_info.get(PROTOCOL)
    if given is None:
        return None
    protocol = str(given).upper()
    protocol = _OTHER_NAMES.get(protocol, protocol)
    if protocol not in (*_WEB, *_GROUPS):
        known = ", ".join((*_WEB, *_GROUPS, *_OTHER_NAMES))
        raise InvalidParameterValue(err=f"{PROTOCOL} in driver_info of node {node.uuid} must be one of: {known}.")
    return protocol


def stated_protocol(node: Node, url: str) -> str | None:
    """Return the protocol that is stated to the BMC with an image: none unless the node names one.

    A user's image may be elsewhere than those of the service; then its URL decides.
    """
    wanted, scheme = protocol_of(node), urlsplit(url).scheme.lower()
    if wanted is None:
        return None
    if scheme in SHARE_SCHEMES:
        return SHARE_SCHEMES[scheme]
    return wanted if wanted in _WEB else scheme.upper()


def place_of(node: Node) -> Place:
    """Return the place for images of a node's virtual media."""
    protocol = protocol_of(node)
    return Share(protocol) if protocol in _GROUPS else web_place()


def web_place() -> Place:
    """Return the place for images that are fetched over HTTP."""
    return Swift() if CONF.redfish.use_swift else WebServer()


def credentials_for(node: Node, url: str) -> dict[str, str]:
    """Return ``username`` and ``password`` by which a BMC mounts the share of an image, as far as they are set.

    They are for what the service has put on the share of [cifs] for this node: with the URL of another file, which a
    user may have named, a BMC would read what is not for it, or another server would learn them.
    """
    folder, _, name = url.rpartition("/")
    is_ours = CONF.cifs.base_url and folder == Share(CIFS).url_of_folder and _IMAGE.fullmatch(name)
    if not (is_ours and name.startswith(f"{node.uuid}.") and protocol_of(node) == CIFS):
        return {}
    given = {"username": CONF.cifs.username, "password": CONF.cifs.password}
    return {name: value for name, value in given.items() if value}


def folders() -> list[Path]:
    """Return the directories of this host that have images: that for making and serving them, and the shares."""
    return [own_folder(), *filter(None, (Share(protocol).folder for protocol in _GROUPS))]


def own_folder() -> Path:
    """Return the directory in which images are made, and served by the web server."""
    return Path(CONF.deploy.http_root) / _FOLDER


def parts_of_urls() -> tuple[str, ...]:
    """Return the ends of the URLs of all directories and containers with images."""
    shares = (Share(protocol).url_of_folder for protocol in _GROUPS if CONF[_GROUPS[protocol]].share_path)
    return f"/{_FOLDER}", f"/{quote(CONF.redfish.swift_container)}", *shares


def container() -> "SwiftContainer":
    """Return the container of Swift."""
    return swift_container(CONF.redfish.swift_container)


def _url_fault(url: str) -> str | None:
    """Return why a URL can't be the base of others; "//server" without a scheme is what some BMCs expect."""
    if "//" not in url or not url.isprintable() or " " in url:
        return "must be a URL, such as nfs://192.0.2.1 or cifs://192.0.2.1"
    # The URL is shown; [cifs]password is not.
    return "must not have a user name or password" if "@" in url else None
