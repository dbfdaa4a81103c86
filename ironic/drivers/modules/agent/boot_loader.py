"""The boot loader of what was deployed: for UEFI an entry in the firmware, for a BIOS what a partition image lacks."""

from collections.abc import Mapping
from typing import Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.modules.agent import partitions, wishes
from ironic.drivers.modules.agent.client import Agent
from ironic.drivers.task import Node

# What agents call the partitions -> how they want to be told of them.
_PARTITIONS: Final = {
    "root uuid": "root_uuid",
    "efi system partition uuid": "efi_system_part_uuid",
    "PReP Boot partition uuid": "prep_boot_part_uuid",
}


def check(node: Node) -> None:
    """Raise when the machine could not start from what would be deployed."""
    if wishes.boot_mode(node) == wishes.BIOS and _lacks_loader(node) and not CONF.agent.enable_bios_bootloader_install:
        raise InvalidParameterValue(
            err=f"Node {node.uuid} boots through a BIOS and would get a partition image, which has no boot loader. "
            "Give a whole-disk image, boot by UEFI, or set [agent]enable_bios_bootloader_install."
        )


def install(node: Node) -> None:
    """Have the agent install it where one is needed, and wait for that."""
    mode = wishes.boot_mode(node)
    if mode != wishes.UEFI and not _lacks_loader(node):
        return
    agent = Agent(node)
    answer = agent.ask("standby.get_partition_uuids")
    found = answer if isinstance(answer, Mapping) else {}
    agent.finish(
        "image.install_bootloader",
        **{wanted: found.get(called) for called, wanted in _PARTITIONS.items()},
        target_boot_mode=mode,
    )


def _lacks_loader(node: Node) -> bool:
    """Tell whether the image brings no boot loader of its own."""
    return partitions.are_wanted(node)
