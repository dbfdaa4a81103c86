"""Files on this host that no machine needs any more, because another conductor has gone on with the node.

A machine that restarts later must not find them: it would boot a ramdisk that nobody waits for. What a node is prepared
for stands in its row before its files are written and until they are gone, so a folder without it is left over.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from ironic.conf import CONF
from ironic.core import syntax
from ironic.core.errors import NodeNotFound
from ironic.drivers.modules.netboot import files, prepared
from ironic.drivers.modules.netboot.variants import Variant
from ironic.integrations import dhcp

if TYPE_CHECKING:
    from ironic.db import Store

LOG = logging.getLogger(__name__)


def clear(variant: Variant, store: "Store") -> None:
    """Remove what is left over below the root of a way of booting."""
    for folder in _folders(variant.root):
        if not _is_prepared(store, folder.name):
            LOG.info("Node %s: its boot files are left over on this host and are removed", folder.name)
            dhcp.provider().withdraw(_hosts(store, folder.name))
            _remove_by_mac(variant.root / CONF.pxe.pxe_config_subdir, folder.name)
            files.remove_folder(folder)


def _folders(root: Path) -> Iterator[Path]:
    """Return the folders of nodes; all others are somebody else's."""
    for path in root.iterdir() if root.is_dir() else ():
        if path.is_dir() and syntax.is_stored_uuid(path.name):
            yield path


def _is_prepared(store: "Store", node_uuid: str) -> bool:
    try:
        (memory,) = store.nodes.row(("driver_internal_info",), node_uuid)
    except NodeNotFound:
        return False
    return prepared.is_kept(orjson.loads(memory or "{}"))


def _hosts(store: "Store", node_uuid: str) -> list[dhcp.Host]:
    try:
        (node_id,) = store.nodes.row(("id",), node_uuid)
    except NodeNotFound:
        return []
    return [dhcp.Host(port.uuid, port.address) for port in store.ports.find(node_id=node_id)]


def _remove_by_mac(directory: Path, node_uuid: str) -> None:
    for path in directory.iterdir() if directory.is_dir() else ():
        if path.is_file() and _mentions(path, node_uuid):
            files.remove(path)


def _mentions(path: Path, text: str) -> bool:
    try:
        return text in path.read_text()
    except (OSError, UnicodeDecodeError):
        return False
