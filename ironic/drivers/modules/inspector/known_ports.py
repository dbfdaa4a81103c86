"""Ports for what the BMC knows about a machine's network cards, made before the ramdisk boots.

With them a look-up finds the node even where no BMC address helps. Most BMCs can't tell; that is no fault.
"""

import logging
from collections.abc import Iterable

from ironic.core.errors import HardwareInspectionFailure, UnsupportedDriverExtension
from ironic.core.resource_errors import MACAlreadyExists
from ironic.core.syntax import mac_of
from ironic.drivers.task import Task

LOG = logging.getLogger(__name__)


def create(task: Task) -> None:
    """Create a port for each MAC address that the BMC tells and no port of the node has."""
    missing = new_macs(_told_by_bmc(task), (port.address for port in task.ports))
    if missing:
        with task.store.writing():
            task.store.nodes.require_held(task.node)
            for mac in missing:
                _create(task, mac)
        task.ports = None
        LOG.info("Node %s: the BMC knows of %s, which become ports", task.node.uuid, ", ".join(missing))


def new_macs(told: Iterable[str], present: Iterable[str]) -> list[str]:
    """Return the valid addresses that are told and not present, each once."""
    valid = dict.fromkeys(mac for text in told if (mac := mac_of(text)))
    known = set(present)
    return [mac for mac in valid if mac not in known]


def _told_by_bmc(task: Task) -> Iterable[str]:
    try:
        return task.management.get_mac_addresses(task) or ()
    except UnsupportedDriverExtension:
        return ()


def _create(task: Task, mac: str) -> None:
    try:
        task.store.ports.create({"node_id": task.node.id, "address": mac})
    except MACAlreadyExists:
        raise HardwareInspectionFailure(
            error=f"the BMC of node {task.node.uuid} tells MAC address {mac}, which belongs to a port of another node. "
            "Delete that port if the network card was moved, or correct the BMC address of one of the nodes"
        ) from None
