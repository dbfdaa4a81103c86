"""Having a machine boot the inspection ramdisk, and putting it back.

Managed: the node's boot and network interfaces prepare it. Unmanaged: somebody else's DHCP and TFTP servers do, and
the machine is just told to boot from the network. Which it was is remembered on the node, for whoever clears up.
Source: doc/contract/inspection.md#start.
"""

import logging
import shlex
from typing import Any, Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue, UnsupportedDriverExtension
from ironic.core.flow import INSPECT
from ironic.drivers import boot_devices, fast_track
from ironic.drivers.modules.agent import machine
from ironic.drivers.task import Task
from ironic.inspection import boot_token

LOG = logging.getLogger(__name__)

_MANAGED: Final = "inspector_manage_boot"
_CALLBACK: Final = "/v1/continue_inspection"


def can_manage(task: Task) -> bool:
    """Tell whether the node's interfaces can boot the ramdisk; errors in their settings are raised."""
    return _obstacle(task) is None


def _obstacle(task: Task) -> UnsupportedDriverExtension | None:
    """Return why the node's interfaces can't boot the ramdisk, None when they can."""
    try:
        task.boot.validate_inspection(task)
        task.network.validate_inspection(task)
    except UnsupportedDriverExtension as error:
        return error
    return None


def validate(task: Task) -> None:
    """Raise when the machine could not be brought to boot the ramdisk."""
    obstacle = _obstacle(task)
    if obstacle is None:
        callback_url()
    elif CONF.inspector.require_managed_boot:
        raise UnsupportedDriverExtension(
            f"The interfaces of node {task.node.uuid} can't boot the inspection ramdisk: {obstacle} Choose others, or "
            "set [inspector]require_managed_boot to false where the machines boot it by other means."
        )


def start(task: Task) -> None:
    """Boot the ramdisk."""
    managed = can_manage(task)
    task.node.set_driver_internal_info(_MANAGED, managed)
    boot_token.forget(task.node)
    token = boot_token.issue(task.node) if managed and CONF.inspector.boot_token else None
    # Stored before anything happens to the machine: whoever takes over must know what there is to clear up.
    task.node.save()
    LOG.info("Node %s: inspection begins, boot is %s", task.node.uuid, "managed" if managed else "not managed")
    machine.switch_off(task)
    if managed:
        _prepare(task, token)
    else:
        task.management.set_boot_device(task, boot_devices.PXE, persistent=False)
    machine.switch_on(task)


def clear_up(task: Task) -> None:
    """Undo what was prepared; harmless when nothing was."""
    boot_token.forget(task.node)
    if task.node.del_driver_internal_info(_MANAGED):
        task.boot.clean_up_ramdisk(task)
        machine.remove_network(task, INSPECT)


def callback_url() -> str:
    """Return where the ramdisk posts what it finds, or raise InvalidParameterValue."""
    return f"{_service_url()}{_CALLBACK}"


def ramdisk_parameters(token: str | None = None, *, stays: bool = False) -> dict[str, object]:
    """Return the kernel parameters of the ramdisk; one without a value is a flag."""
    query = f"?{boot_token.PARAMETER}={token}" if token else ""
    parameters: dict[str, Any] = {"ipa-inspection-callback-url": callback_url() + query}
    if CONF.inspector.force_dhcp:
        parameters["ipa-collect-lldp"] = "1"
    if stays:
        # A ramdisk that stays must know whom to send its heartbeats to.
        parameters["ipa-api-url"] = _service_url()
    return parameters | extra_parameters(CONF.inspector.extra_kernel_params)


def extra_parameters(text: str) -> dict[str, str | None]:
    """Return parameters as written on a kernel command line."""
    pairs = (word.partition("=") for word in shlex.split(text))
    return {name: value if equals else None for name, equals, value in pairs if name}


def _service_url() -> str:
    base = (
        CONF.inspector.callback_endpoint_override or CONF.service_catalog.endpoint_override or CONF.api.public_endpoint
    )
    if not base:
        raise InvalidParameterValue(
            err="A ramdisk can't be told where to post its data: set [service_catalog]endpoint_override to the URL of "
            "this service."
        )
    return str(base).rstrip("/")


def _prepare(task: Task, token: str | None) -> None:
    machine.add_network(task, INSPECT)
    task.boot.prepare_ramdisk(task, ramdisk_parameters(token, stays=fast_track.is_wanted(task.node)))
