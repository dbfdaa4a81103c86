"""Images for the virtual drives of BMCs.

A BMC fetches its image from a URL. Either that is the user's own URL, or a copy of the image is put under
[deploy]http_root, which a web server offers at [deploy]http_url: for BMCs that reach nothing but this host. A node has
at most one copy per drive.
"""

import logging
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.management_errors import ImageDownloadFailed
from ironic.core.servers import server_of
from ironic.integrations import disk_room, image_servers
from ironic.integrations.outgoing import CallFailed

LOG = logging.getLogger(__name__)

# Who hands the image to the BMC: the server the user named, or this host.
SOURCES: Final = ("http", "local")

_FOLDER: Final = "vmedia"
_WEB: Final = ("http://", "https://")
_SUFFIXES: Final = frozenset({".iso", ".img", ".qcow2", ".raw"})


def check(url: str, source: str) -> None:
    """Refuse what can't be offered here, before anything is begun."""
    if url.startswith(_WEB) and server_of(url) is None:
        raise InvalidParameterValue(err="The URL of the image does not name a web server.")
    if source == "local" and url.startswith(_WEB) and not CONF.deploy.http_url:
        raise InvalidParameterValue(
            err="Images can't be copied to this host, for [deploy]http_url is not set. Set it to the URL at which "
            "[deploy]http_root is served, or ask for image_download_source http."
        )


def offered(node_uuid: str, device_type: str, url: str, source: str) -> str:
    """Return the URL at which a BMC finds an image, after copying the image there if need be."""
    if source != "local" or not url.startswith(_WEB):
        # Shares (nfs, cifs, smb) are mounted by the BMC itself.
        return url
    withdraw(node_uuid, [device_type])
    # A name that can't be guessed: whoever reaches the web server could fetch it otherwise.
    name = f"{node_uuid}.{device_type}.{secrets.token_hex(8)}{_suffix(url)}"
    _download(url, _folder() / name)
    return f"{CONF.deploy.http_url.rstrip('/')}/{_FOLDER}/{name}"


def withdraw(node_uuid: str, device_types: Sequence[str] | None = None) -> None:
    """Remove the copies for these drives of a node, or for all."""
    for path in _copies(node_uuid, device_types):
        path.unlink(missing_ok=True)


def _copies(node_uuid: str, device_types: Sequence[str] | None) -> Iterable[Path]:
    # With a dot before the name where a killed service had begun to fetch it.
    of_node = [path for dot in ("", ".") for path in _folder().glob(f"{dot}{node_uuid}.*")]
    return [path for path in of_node if device_types is None or path.name.lstrip(".").split(".")[1] in device_types]


def _folder() -> Path:
    return Path(CONF.deploy.http_root) / _FOLDER


def _suffix(url: str) -> str:
    """Return the ending of the image's name if it is a usual one: some BMCs look at it."""
    suffix = Path(urlsplit(url).path).suffix.lower()
    return suffix if suffix in _SUFFIXES else ""


def _download(url: str, target: Path) -> None:
    """Copy what a URL has into a file, which appears only once it is complete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.part")
    try:
        with image_servers.get(url) as answer:
            if not answer.is_good:
                raise CallFailed(f"the server answers with status {answer.status}")
            with partial.open("wb") as file:
                for chunk in disk_room.fitting(answer.chunks(), partial.parent):
                    file.write(chunk)
        partial.rename(target)
    except (CallFailed, OSError) as error:
        reason = f"reading from {urlsplit(url).hostname}: {error if isinstance(error, CallFailed) else error.strerror}"
        LOG.warning("%s could not be stored: %s", target.name, reason)
        raise ImageDownloadFailed(reason=reason) from error
    finally:
        partial.unlink(missing_ok=True)
