"""Booting a machine once more when no agent was heard of since it was started: firmware fails at the network at times.

The wait for the ramdisk goes on meanwhile and ends at its own time, however often the machine was started.
"""

import logging
from datetime import UTC, datetime, timedelta

from ironic.conf import CONF
from ironic.core import syntax
from ironic.core.agent_memory import KnownAgent
from ironic.drivers.modules.agent import machine
from ironic.drivers.modules.netboot import firmware
from ironic.drivers.modules.netboot.prepared import Prepared
from ironic.drivers.modules.netboot.variants import Variant
from ironic.drivers.task import Node, Task

LOG = logging.getLogger(__name__)


def is_due(node: Node) -> bool:
    """Tell whether the machine was started long ago and its agent was never heard of."""
    patience = CONF.pxe.boot_retry_timeout
    if not patience or Prepared.of(node) is None or KnownAgent(node.driver_internal_info).is_known:
        return False
    started = syntax.moment_of(node.driver_internal_info.get("last_power_state_change"))
    return started is not None and _now() - started > timedelta(seconds=patience)


def boot_again(task: Task, variant: Variant) -> None:
    """Start the machine once more."""
    LOG.warning(
        "Node %s: nothing was heard of its ramdisk for %d seconds; it is booted again",
        task.node.uuid,
        CONF.pxe.boot_retry_timeout,
    )
    machine.switch_off(task)
    firmware.boot_from_network(task, variant.boot_device, for_good=False)
    machine.switch_on(task)
    task.node.save()


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)
