"""Partition images: the partitions that the agent creates and the boot loader that it installs.

A partition image contains one file system. The user gives the sizes of the partitions in instance_info: ``root_gb``,
``swap_mb``, ``ephemeral_gb`` with ``ephemeral_format``, and ``preserve_ephemeral`` to keep the ephemeral partition at a
rebuild. Such an image has no boot loader; for UEFI the boot loader of any image needs an entry in the firmware.
"""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.errors.hardware_errors import AgentCommandTimeout
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.readings import Known
from ironic.core.texts import syntax
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.task import Node
from ironic.drivers.modules.agent.agent_client import RUNNING, Agent
from ironic.drivers.nodes import instance_capabilities

WHOLE_DISK: Final = "whole-disk"
PARTITION: Final = "partition"

_MIB_PER_GIB: Final = 1024
_LARGEST_GIB: Final = 1 << 30
_FILE_SYSTEM: Final = re.compile(r"[a-z][a-z0-9]{1,15}")

_INSTALLATION: Final = "install_bootloader"
# When the agent began with it.
_BEGAN: Final = InternalKey("boot_loader_began_at", str, "When the agent began to install the boot loader.")
_IS_INSTALLED: Final = InternalKey("boot_loader_installed", bool, "The boot loader of the instance is installed.")

# Names of partitions in the agent's answer -> parameters of its command.
_LOADER_PARTITIONS: Final = {
    "root uuid": "root_uuid",
    "efi system partition uuid": "efi_system_part_uuid",
    "PReP Boot partition uuid": "prep_boot_part_uuid",
}


def is_partition_image(node: Node) -> bool:
    """Return whether the image is a partition image: by its image_type, or because kernel and ramdisk are given."""
    info = node.instance_info
    image_type = info.get("image_type")
    return image_type == PARTITION if image_type else bool(info.get("kernel") and info.get("ramdisk"))


def check_partitions(node: Node) -> None:
    """Raise InvalidParameterValue or MissingParameterValue when instance_info does not describe the partitions."""
    image_type = node.instance_info.get("image_type")
    if image_type not in (None, "", WHOLE_DISK, PARTITION):
        raise InvalidParameterValue(
            err=f"image_type of node {node.uuid} is {image_type!r}; it may be {WHOLE_DISK} or {PARTITION}."
        )
    if is_partition_image(node):
        partition_layout(node)


def partition_layout(node: Node) -> dict[str, object]:
    """Return the partitions as the agent expects them, sizes in MiB; raises as `check_partitions` does."""
    info = node.instance_info
    if info.get("root_gb") in (None, ""):
        raise MissingParameterValue(
            err=f"Node {node.uuid} needs root_gb in its instance_info for a partition image: the size of the root "
            "partition in GiB."
        )
    ephemeral, file_system = _size(node, "ephemeral_gb", least=0), None
    root, swap = _size(node, "root_gb", least=1), _size(node, "swap_mb", least=0)
    if ephemeral:
        file_system = str(info.get("ephemeral_format") or CONF.pxe.default_ephemeral_format)
        if not _FILE_SYSTEM.fullmatch(file_system):
            raise InvalidParameterValue(
                err=f"ephemeral_format of node {node.uuid} is {file_system[:64]!r}, which names no file system."
            )
    if (preserve := syntax.truth_of(str(info.get("preserve_ephemeral") or False))) is None:
        raise InvalidParameterValue(err=f"preserve_ephemeral of node {node.uuid} must be true or false.")
    boot_mode = instance_capabilities.boot_mode(node)
    usual_label = "gpt" if boot_mode == boot_devices.UEFI else "msdos"
    return {
        "image_type": PARTITION,
        "root_mb": root * _MIB_PER_GIB,
        "swap_mb": swap,
        "ephemeral_mb": ephemeral * _MIB_PER_GIB,
        "ephemeral_format": file_system,
        "preserve_ephemeral": preserve,
        "boot_option": "local",
        "deploy_boot_mode": boot_mode,
        "disk_label": instance_capabilities.requested_capabilities(node).get("disk_label") or usual_label,
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


def check_boot_loader(node: Node) -> None:
    """Raise InvalidParameterValue when the deployed image would have no boot loader for the machine's BIOS."""
    if (
        instance_capabilities.boot_mode(node) == boot_devices.LEGACY_BIOS
        and is_partition_image(node)
        and not CONF.agent.enable_bios_bootloader_install
    ):
        raise InvalidParameterValue(
            err=f"Node {node.uuid} boots through a BIOS and would get a partition image, which has no boot loader. "
            "Give a whole-disk image, boot by UEFI, or set [agent]enable_bios_bootloader_install."
        )


def install_boot_loader(node: Node) -> bool:
    """Have the agent install the boot loader; return whether it is installed, False while the agent is at it.

    It is to be called again after each heartbeat until it returns True; a BIOS with a whole-disk image needs no boot
    loader. Raise AgentCommandFailed when the agent can't install it, AgentCommandTimeout when that takes longer than
    [agent] allows.
    """
    mode = instance_capabilities.boot_mode(node)
    if mode != boot_devices.UEFI and not is_partition_image(node):
        return True
    if _IS_INSTALLED.of(node):
        return True
    agent = Agent(node)
    last = agent.commands()[-1:]
    if last and last[0].name == _INSTALLATION:
        command = last[0]
    else:
        answer = agent.execute("standby.get_partition_uuids")
        found = answer if isinstance(answer, Mapping) else {}
        _BEGAN.set(node, node.now().isoformat())
        command = agent.start(
            f"image.{_INSTALLATION}",
            **{parameter: found.get(name) for name, parameter in _LOADER_PARTITIONS.items()},
            target_boot_mode=mode,
        )
    # One that does not say how far it is may be running.
    if command.status == Known(RUNNING) or not isinstance(command.status, Known):
        if _is_overdue(node):
            raise AgentCommandTimeout(node=node.uuid, command=_INSTALLATION)
        return False
    _BEGAN.delete(node)
    agent.result(command)
    # The step is repeated when the machine has to restart, which ends the agent.
    _IS_INSTALLED.set(node, True)
    return True


def forget_boot_loader(node: Node) -> None:
    """Forget that the boot loader is installed: the deployment goes on, or another one begins."""
    _IS_INSTALLED.delete(node)


def _is_overdue(node: Node) -> bool:
    began = syntax.moment_of(_BEGAN.of(node))
    limit = timedelta(seconds=CONF.agent.command_wait_interval * CONF.agent.command_wait_attempts)
    return began is not None and node.now() - began > limit
