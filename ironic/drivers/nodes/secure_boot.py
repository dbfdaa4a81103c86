"""Secure boot that an instance requests with capability `secure_boot`: on for the instance, off for ramdisks.

A node that can't do it is refused before its machine is touched; a request is never ignored. Source:
doc/contract/drivers.md#secure-boot.
"""

import logging
from typing import Final

from ironic.core.errors import InvalidParameterValue, UnsupportedDriverExtension
from ironic.core.keys.internal_keys import InternalKey
from ironic.drivers.contract.interfaces import ManagementInterface
from ironic.drivers.contract.task import Task
from ironic.drivers.contract.wait_declarations import ORDERED
from ironic.drivers.nodes import instance_capabilities

LOG = logging.getLogger(__name__)


def check(task: Task) -> None:
    """Raise InvalidParameterValue when a requested secure boot is impossible, as far as that shows without the BMC."""
    instance_capabilities.check_secure_boot(task.node)
    if not instance_capabilities.requests_secure_boot(task.node):
        return
    if type(task.management).set_secure_boot_state is ManagementInterface.set_secure_boot_state:
        raise _impossible(task)


def require(task: Task) -> None:
    """Read the present state where secure boot is requested; raise InvalidParameterValue when the BMC has none."""
    if not instance_capabilities.requests_secure_boot(task.node):
        return
    try:
        task.node.secure_boot = task.management.get_secure_boot_state(task)
    except UnsupportedDriverExtension as error:
        raise _impossible(task) from error


_IS_ON: Final = InternalKey(
    "secure_boot_of_instance", bool, "Secure boot is on for the instance, whatever instance_info says now."
)


def turn_former_off(task: Task) -> None:
    """Turn off what was ordered off with a former instance, unless the present one requests it on."""
    if not instance_capabilities.requests_secure_boot(task.node):
        turn_off(task)


def turn_on(task: Task) -> None:
    """Turn secure boot on if the instance requests it; the caller saves the node."""
    if instance_capabilities.requests_secure_boot(task.node):
        _set(task, True)
        _IS_ON.set(task.node, True)


def turn_off(task: Task) -> None:
    """Turn off what `turn_on` turned on, or what the instance requests; the caller saves the node."""
    node = task.node
    if not _IS_ON.of(node):
        try:
            if not instance_capabilities.requests_secure_boot(node):
                return
        except InvalidParameterValue as error:
            # An instance with such capabilities was never deployed, and it must be removable.
            LOG.debug("Node %s: no secure boot to turn off: %s", node.uuid, error)
            return
    try:
        if _set(task, False) is ORDERED:
            # The next ramdisk's preparation looks whether it has taken effect.
            LOG.info("Node %s: secure boot is ordered off, which takes effect when the machine starts", node.uuid)
            _IS_ON.set(node, True)
            return
    except UnsupportedDriverExtension as error:
        LOG.warning("Node %s: secure boot can't be turned off: %s. Check it by hand", node.uuid, error)
    _IS_ON.delete(node)


def _set(task: Task, state: bool) -> object:
    """Set the state unless it is so; return ORDERED if that takes effect when the machine starts."""
    management = task.management
    if management.get_secure_boot_state(task) is not state:
        if management.set_secure_boot_state(task, state) is ORDERED:
            return ORDERED
        LOG.info("Node %s: secure boot is %s now", task.node.uuid, "on" if state else "off")
    task.node.secure_boot = state
    return None


def _impossible(task: Task) -> InvalidParameterValue:
    return InvalidParameterValue(
        err=f"The instance of node {task.node.uuid} requests secure boot, which management interface "
        f"{task.node.management_interface} or its BMC can't set. Choose another node, or remove secure_boot from the "
        "capabilities in instance_info."
    )
