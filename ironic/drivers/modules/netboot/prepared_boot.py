"""What a node is prepared to boot, stored in its driver_internal_info; and removal of files without such a record.

The record is stored before the node's boot files are written and deleted after they are removed. It is enough to write
the files again on another conductor's host, and to find the files of ports that are gone.

A directory of boot files on this host whose node has no record is a leftover of a node that another conductor took
over. It is removed, so that a machine that restarts later does not boot a ramdisk that no operation waits for.
"""

import logging
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Self

import orjson

from ironic.conf import CONF
from ironic.core.errors import NodeNotFound
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.texts import syntax
from ironic.drivers.contract.task import Node
from ironic.drivers.modules.netboot import shared_boot_files
from ironic.drivers.modules.netboot.boot_variants import Variant
from ironic.integrations import dhcp
from ironic.integrations.dhcp import task_provider

if TYPE_CHECKING:
    from ironic.db import Store

LOG = logging.getLogger(__name__)

KEY: Final = InternalKey("netboot", dict[str, Any], "What the machine is prepared to boot from the network.")


@dataclass(frozen=True, slots=True)
class PreparedBoot:
    """The purpose, the kernel parameters, and the network cards (port UUID -> MAC address) of a prepared boot."""

    purpose: str
    # "secret" in the name keeps it out of the API: it may contain the token of an inspection.
    secret_parameters: dict[str, str | None]
    cards: dict[str, str]
    # Port UUIDs of the cards that are InfiniBand, which PXELINUX names otherwise.
    infiniband: tuple[str, ...] = ()

    @classmethod
    def of(cls, node: Node) -> Self | None:
        """Return what the node is prepared to boot; None when it is not prepared."""
        kept = KEY.of(node)
        return cls(**{**kept, "infiniband": tuple(kept.get("infiniband", ()))}) if kept else None

    def put(self, node: Node) -> None:
        """Put the record on the node; the caller saves the node."""
        kept = asdict(self)
        if not self.infiniband:
            del kept["infiniband"]  # a conductor of the former release knows only the others
        KEY.set(node, kept)


def forget_prepared_boot(node: Node) -> None:
    """Delete the record from the node; the caller saves the node."""
    KEY.delete(node)


def remove_leftovers(variant: Variant, store: "Store") -> None:
    """Remove the boot files and DHCP options of nodes that are not prepared, below the root directory of a variant."""
    if not variant.has_root:
        return
    by_mac = variant.root / CONF.pxe.pxe_config_subdir
    for folder in variant.root.iterdir() if variant.root.is_dir() else ():
        node_uuid = folder.name
        # Directories that are not named by a UUID do not belong to a node.
        if not (folder.is_dir() and syntax.is_stored_uuid(node_uuid)) or _is_prepared(store, node_uuid):
            continue
        LOG.info("Node %s: its boot files are left over on this host and are removed", node_uuid)
        task_provider.withdraw_leftovers(_hosts(store, node_uuid))
        for path in by_mac.iterdir() if by_mac.is_dir() else ():
            try:
                is_of_node = path.is_file() and node_uuid in path.read_text()
            except (OSError, UnicodeDecodeError):
                continue
            if is_of_node:
                shared_boot_files.remove_file(path)
        shared_boot_files.remove_folder(folder)


def _is_prepared(store: "Store", node_uuid: str) -> bool:
    try:
        (memory,) = store.nodes.row(("driver_internal_info",), node_uuid)
    except NodeNotFound:
        return False
    return bool(KEY.read(orjson.loads(memory or "{}")))


def _hosts(store: "Store", node_uuid: str) -> list[dhcp.Host]:
    """Return the ports of a node as the DHCP provider takes them; none when the node is deleted."""
    try:
        (node_id,) = store.nodes.row(("id",), node_uuid)
    except NodeNotFound:
        return []
    return [dhcp.Host(port.uuid, port.address) for port in store.ports.find(node_id=node_id)]
