"""Partition images: the image of one file system, for which the agent makes the partitions itself.

The user says how large they are to be, in instance_info: ``root_gb``, ``swap_mb``, ``ephemeral_gb`` with
``ephemeral_format``, and whether the ephemeral partition survives a rebuild (``preserve_ephemeral``).
"""

import re
from typing import Final

from ironic.conf import CONF
from ironic.core import syntax
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.drivers.modules.agent import wishes
from ironic.drivers.task import Node

WHOLE_DISK: Final = "whole-disk"
PARTITION: Final = "partition"

_MIB_PER_GIB: Final = 1024
_LARGEST_GIB: Final = 1 << 30
_FILE_SYSTEM: Final = re.compile(r"[a-z][a-z0-9]{1,15}")


def are_wanted(node: Node) -> bool:
    """Tell whether the image is one of a partition: it is called so, or comes with a kernel and a ramdisk."""
    info = node.instance_info
    called = info.get("image_type")
    return called == PARTITION if called else bool(info.get("kernel") and info.get("ramdisk"))


def check(node: Node) -> None:
    """Raise when instance_info does not say what partitions there are to be, or says what can't be."""
    called = node.instance_info.get("image_type")
    if called not in (None, "", WHOLE_DISK, PARTITION):
        raise InvalidParameterValue(
            err=f"image_type of node {node.uuid} is {called!r}; it may be {WHOLE_DISK} or {PARTITION}."
        )
    if are_wanted(node):
        described(node)


def described(node: Node) -> dict[str, object]:
    """Return the partitions as the agent wants to hear of them."""
    if node.instance_info.get("root_gb") in (None, ""):
        raise MissingParameterValue(
            err=f"Node {node.uuid} would get a partition image: root_gb in its instance_info must say how large the "
            "partition is to be, in GiB."
        )
    ephemeral = _size(node, "ephemeral_gb", least=0)
    return {
        "image_type": PARTITION,
        "root_mb": _size(node, "root_gb", least=1) * _MIB_PER_GIB,
        "swap_mb": _size(node, "swap_mb", least=0),
        "ephemeral_mb": ephemeral * _MIB_PER_GIB,
        "ephemeral_format": _file_system(node) if ephemeral else None,
        "preserve_ephemeral": _is_preserved(node),
        "boot_option": "local",
        "deploy_boot_mode": wishes.boot_mode(node),
        "disk_label": wishes.of(node).get("disk_label") or _usual_label(node),
        "cpu_arch": node.properties.get("cpu_arch"),
    }


def _size(node: Node, name: str, *, least: int) -> int:
    given = node.instance_info.get(name) or 0
    try:
        size = int(given)
    except (TypeError, ValueError):
        size = -1
    if isinstance(given, bool | float) or not least <= size <= _LARGEST_GIB:
        raise InvalidParameterValue(
            err=f"{name} of node {node.uuid} must be a whole number of at least {least}, not {str(given)[:64]!r}."
        )
    return size


def _file_system(node: Node) -> str:
    given = str(node.instance_info.get("ephemeral_format") or CONF.pxe.default_ephemeral_format)
    if not _FILE_SYSTEM.fullmatch(given):
        raise InvalidParameterValue(
            err=f"ephemeral_format of node {node.uuid} is {given[:64]!r}, which names no file system."
        )
    return given


def _is_preserved(node: Node) -> bool:
    if (meant := syntax.truth_of(str(node.instance_info.get("preserve_ephemeral") or False))) is None:
        raise InvalidParameterValue(err=f"preserve_ephemeral of node {node.uuid} must be true or false.")
    return meant


def _usual_label(node: Node) -> str:
    """Return the partition table that goes with the boot mode."""
    return "gpt" if wishes.boot_mode(node) == wishes.UEFI else "msdos"
