"""Images in files of this host, offered to agents by the web server that [deploy]http_root belongs to.

Only files below [conductor]file_url_allowed_paths are offered, links followed: whoever may deploy must not be able to
read the host's secrets that way. An image is linked, not copied, under the name of its node.
"""

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.task import Node


def check(node: Node, source: str) -> None:
    """Raise when the file may not be offered, or can't be."""
    path = os.path.realpath(path_of(source))
    allowed = [os.path.realpath(root) for root in CONF.conductor.file_url_allowed_paths]
    if urlsplit(source).netloc not in ("", "localhost") or not any(_is_below(path, root) for root in allowed):
        raise InvalidParameterValue(
            err=f"image_source of node {node.uuid} is a file that [conductor]file_url_allowed_paths does not allow."
        )
    if not os.path.isfile(path):
        raise InvalidParameterValue(err=f"image_source of node {node.uuid} is no file on conductor {CONF.host}.")
    if not CONF.deploy.http_url:
        raise InvalidParameterValue(
            err="An image in a file can't be offered to agents: set [deploy]http_url to the URL of [deploy]http_root."
        )


def path_of(source: str) -> str:
    """Return the path in a file URL."""
    return unquote(urlsplit(source).path)


def publish(node: Node, source: str) -> str:
    """Offer the file; return where the agent finds it."""
    check(node, source)
    link = _link(node)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(os.path.realpath(path_of(source)))
    return f"{CONF.deploy.http_url.rstrip('/')}/{CONF.deploy.http_image_subdir}/{node.uuid}"


def withdraw(node: Node) -> None:
    """Offer it no longer; nothing happens when none was."""
    _link(node).unlink(missing_ok=True)


def _link(node: Node) -> Path:
    return Path(CONF.deploy.http_root, CONF.deploy.http_image_subdir, node.uuid)


def _is_below(path: str, root: str) -> bool:
    return os.path.commonpath((path, root)) == root
