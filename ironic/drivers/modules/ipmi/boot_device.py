"""The boot device of an IPMI machine, for the next boot or for all.

Some BMCs forget a persistent device. With ipmi_force_boot_device it is remembered with the node, and the power
interface sets it again before each start of the machine (`restore_device`).
"""

import logging
from typing import Final

from ironic.conf import CONF
from ironic.core.bmc_readings import BootDevice
from ironic.core.errors import InvalidParameterValue, IronicError
from ironic.core.errors.hardware_errors import IPMIFailure
from ironic.core.keys.internal_keys import InternalKey
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.ipmi.bmc_access import flag_of
from ironic.drivers.modules.ipmi.conversation import change, read
from ironic.drivers.nodes import instance_capabilities

LOG = logging.getLogger(__name__)

# Boot devices with their codes in the boot flags of IPMI.
CODES: Final = {
    boot_devices.PXE: "0x04",
    boot_devices.DISK: "0x08",
    boot_devices.SAFE: "0x0c",
    boot_devices.CDROM: "0x14",
    boot_devices.BIOS: "0x18",
}
# Of Supermicro's machines in UEFI mode.
_SUPERMICRO_DISK: Final = "0x24"
_UEFI_ALWAYS, _UEFI_ONCE = "0xe0", "0xa0"
_NO_TIMEOUT: Final = ("raw", "0x00", "0x08", "0x03", "0x08")
_BOOT_FLAGS: Final = ("raw", "0x00", "0x08", "0x05")

_REMEMBERED: Final = InternalKey("persistent_boot_device", str, "The boot device that IPMI sets before each start.")
_IS_NEXT_PERSISTENT: Final = InternalKey(
    "is_next_boot_persistent", bool, "False while the next start is to be from another boot device."
)

# What ipmitool writes about a device; the first that fits.
_SHOWN: Final = (
    ("PXE", boot_devices.PXE),
    ("Safe-Mode", boot_devices.SAFE),
    ("Hard-Drive", boot_devices.DISK),
    ("BIOS", boot_devices.BIOS),
    ("CD/DVD", boot_devices.CDROM),
)
# The note of a task on what it has ordered for the next start.
_ORDERED: Final = "ipmi boot device"

_SELECTOR: Final = "Boot Device Selector"
_FOR_ALL: Final = "Options apply to all future boots"


def set_device(task: Task, device: str, *, persistent: bool) -> None:
    """Set the boot device; raise InvalidParameterValue for one that IPMI does not know."""
    node = task.node
    if device not in CODES:
        raise InvalidParameterValue(
            err=f"Node {node.uuid} has no boot device {device!r}; it supports {', '.join(CODES)}."
        )
    is_forced = _is_forced(node)
    if is_forced:
        _remember(node, device, persistent=persistent)
    _order(task, device, persistent=persistent and not is_forced)


def get_device(task: Task) -> BootDevice:
    """Return the boot device, the remembered one without asking the BMC.

    "Boot Flag Invalid" counts for nothing: some BMCs write it of a device that was set a moment ago, and others of one
    that a boot has used up.
    """
    device = _REMEMBERED.of(task.node)
    if device and _is_forced(task.node) and _IS_NEXT_PERSISTENT.of(task.node) is not False:
        return {"boot_device": device, "persistent": True}
    shown = read(task, ("chassis", "bootparam", "get", "5"))
    selector = next((line for line in shown.splitlines() if _SELECTOR in line), "")
    device = next((device for text, device in _SHOWN if text in selector), None)
    return {"boot_device": device, "persistent": _FOR_ALL in shown}


def restore_device(task: Task) -> None:
    """Set the remembered device for the next start, unless that is to be from another one; a failure is only logged."""
    node = task.node
    device = _REMEMBERED.of(node)
    if not _is_forced(node):
        return
    if _IS_NEXT_PERSISTENT.of(node) is False:
        _IS_NEXT_PERSISTENT.delete(node)
        node.save()
        return
    if device not in CODES:
        return
    try:
        _order(task, device, persistent=False, keeps_timeout=True)
    except IronicError as error:
        LOG.warning("Node %s may boot from another device than %s: %s", node.uuid, device, error)


def _is_forced(node: Node) -> bool:
    return flag_of(node, "force_boot_device", default=False)


def _remember(node: Node, device: str, *, persistent: bool) -> None:
    if persistent:
        _REMEMBERED.set(node, device)
        _IS_NEXT_PERSISTENT.delete(node)
    else:
        _IS_NEXT_PERSISTENT.set(node, False)
    node.save()


def power_changes(task: Task) -> None:
    """Forget what was ordered: a start uses it up, and some BMCs forget it when the machine is switched off."""
    task.notes.put(_ORDERED, None)


def _order(task: Task, device: str, *, persistent: bool, keeps_timeout: bool = False) -> None:
    """Send what sets the device, unless this task has sent it a moment ago and the power has not changed since."""
    mode = instance_capabilities.boot_mode(task.node)
    if task.notes.get(_ORDERED) == (device, persistent, mode):
        return
    if not keeps_timeout and flag_of(task.node, "disable_boot_timeout", default=CONF.ipmi.disable_boot_timeout):
        _disable_timeout(task)
    _send(task, device, persistent=persistent)
    task.notes.put(_ORDERED, (device, persistent, mode))


def _disable_timeout(task: Task) -> None:
    """Have the BMC keep the boot device until the machine starts; not every BMC can."""
    try:
        change(task, _NO_TIMEOUT)
    except IPMIFailure as error:
        if error.is_unreachable:
            raise
        LOG.warning(
            "Node %s: its BMC may forget the boot device after a minute: %s. Set ipmi_disable_boot_timeout to false if "
            "it can't do otherwise",
            task.node.uuid,
            error,
        )


def _send(task: Task, device: str, *, persistent: bool) -> None:
    if instance_capabilities.boot_mode(task.node) != boot_devices.UEFI:
        change(task, ("chassis", "bootdev", device, *(["options=persistent"] if persistent else [])))
        return
    # Newer lists of manufacturers say "Super Micro Computer Inc.".
    vendor = str(task.node.properties.get("vendor", "")).lower().replace(" ", "")
    is_supermicro = vendor in ("supermicro", "supermicrocomputerinc.")
    code = _SUPERMICRO_DISK if is_supermicro and device == boot_devices.DISK else CODES[device]
    change(task, (*_BOOT_FLAGS, _UEFI_ALWAYS if persistent else _UEFI_ONCE, code, "0x00", "0x00", "0x00"))
