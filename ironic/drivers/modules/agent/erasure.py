"""How disks are to be erased: the options of [deploy], written where the agent reads them with its node."""

from typing import Any

from ironic.conf import CONF
from ironic.drivers.task import Node


def describe(node: Node) -> None:
    """Put the terms of erasure into driver_internal_info; the caller saves the node."""
    for key, value in _terms().items():
        node.set_driver_internal_info(key, value)


def _terms() -> dict[str, Any]:
    """Return the terms under the agent's names; it knows several for what is one option today."""
    goes_on: bool = CONF.deploy.continue_if_disk_secure_erase_fails
    return {
        "agent_erase_devices_iterations": CONF.deploy.shred_random_overwrite_iterations,
        "agent_erase_devices_zeroize": CONF.deploy.shred_final_overwrite_with_zeros,
        "agent_continue_if_secure_erase_failed": goes_on,
        "agent_continue_if_ata_erase_failed": goes_on,
        "agent_enable_nvme_secure_erase": CONF.deploy.enable_nvme_secure_erase,
        "agent_enable_ata_secure_erase": CONF.deploy.enable_ata_secure_erase,
        "disk_erasure_concurrency": CONF.deploy.disk_erasure_concurrency,
        "agent_erase_skip_read_only": CONF.deploy.erase_skip_read_only,
    }
