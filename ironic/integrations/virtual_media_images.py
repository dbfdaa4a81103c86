"""Images for virtual media, copied to where BMCs can download them.

A BMC downloads its image from a URL: the user's own URL, or, for BMCs that can reach only this host, that of a copy
under [deploy]http_root, which a web server offers at [deploy]http_url. A node has at most one copy per drive.
"""

import logging
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from ironic.conf import CONF
from ironic.core.allowed_addresses import server_of
from ironic.core.errors import InvalidParameterValue
from ironic.core.hardware_errors import ImageDownloadFailed
from ironic.integrations import disk_space, image_servers
from ironic.integrations.http_client import CallFailed

LOG = logging.getLogger(__name__)

# Where a BMC downloads the image: from the server that the user has named, or from this host.
SOURCES: Final = ("http", "local")

_FOLDER: Final = "vmedia"
_WEB: Final = ("http://", "https://")
_SUFFIXES: Final = frozenset({".iso", ".img", ".qcow2", ".raw"})


def check(url: str, source: str) -> None:
    """Raise InvalidParameterValue when the image can't be offered; nothing is downloaded."""
    if url.startswith(_WEB) and server_of(url) is None:
        raise InvalidParameterValue(err="The URL of the image does not name a web server.")
    if source == "local" and url.startswith(_WEB) and not CONF.deploy.http_url:
        raise InvalidParameterValue(
            err="Images can't be copied to this host, for [deploy]http_url is not set. Set it to the URL at which "
            "[deploy]http_root is served, or ask for image_download_source http."
        )


def published(node_uuid: str, device_type: str, url: str, source: str) -> str:
    """Return the URL from which a BMC downloads an image, after copying the image if need be.

    Raises ImageDownloadFailed.
    """
    if source != "local" or not url.startswith(_WEB):
        # Shares (nfs, cifs, smb) are mounted by the BMC itself.
        return url
    withdraw(node_uuid, [device_type])
    suffix = Path(urlsplit(url).path).suffix.lower()
    # A random name: the web server needs no credentials. Some BMCs require a usual suffix.
    name = f"{node_uuid}.{device_type}.{secrets.token_hex(8)}{suffix if suffix in _SUFFIXES else ''}"
    _download(url, _folder() / name)
    return f"{CONF.deploy.http_url.rstrip('/')}/{_FOLDER}/{name}"


def withdraw(node_uuid: str, device_types: Sequence[str] | None = None) -> None:
    """Remove the copies for these drives of a node, or for all."""
    # The name has a dot before it when the service was killed during the download.
    for path in [path for dot in ("", ".") for path in _folder().glob(f"{dot}{node_uuid}.*")]:
        if device_types is None or path.name.lstrip(".").split(".")[1] in device_types:
            path.unlink(missing_ok=True)


def _folder() -> Path:
    return Path(CONF.deploy.http_root) / _FOLDER


def _download(url: str, target: Path) -> None:
    """Download an image into a file, which appears only when it is complete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.part")
    try:
        with image_servers.get(url) as answer:
            if not answer.is_good:
                raise CallFailed(f"the server answers with status {answer.status}")
            with partial.open("wb") as file:
                for chunk in disk_space.fitting(answer.chunks(), partial.parent):
                    file.write(chunk)
        partial.rename(target)
    except (CallFailed, OSError) as error:
        reason = f"reading from {urlsplit(url).hostname}: {error if isinstance(error, CallFailed) else error.strerror}"
        LOG.warning("%s could not be stored: %s", target.name, reason)
        raise ImageDownloadFailed(reason=reason) from error
    finally:
        partial.unlink(missing_ok=True)
