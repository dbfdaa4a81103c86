"""The boot mode of an instance as third-party plug-ins ask for it.

Such plug-ins also read what earlier releases and other plug-ins have stored as ``deploy_boot_mode``, and rely on an
error where an instance requests another mode than its node has. Flows of this service decide by
`ironic.drivers.nodes.instance_capabilities`.
"""

from typing import Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.keys.internal_keys import InternalKey
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.netboot import firmware_boot
from ironic.drivers.nodes import instance_capabilities, node_attributes

_STORED: Final = InternalKey("deploy_boot_mode", str, "The boot mode of an instance, stored by a plug-in.")


def get_boot_mode_for_deploy(node: Node) -> str | None:
    """Return uefi for an instance with secure boot, or else the mode that instance or node name; None without any.

    The first of these counts: capability boot_mode in instance_info, deploy_boot_mode there, the capability in
    properties, deploy_boot_mode in driver_internal_info. Raises InvalidParameterValue if the instance names another
    mode than properties, and for malformed capabilities.
    """
    if instance_capabilities.requests_secure_boot(node):
        return boot_devices.UEFI
    requested = instance_capabilities.requested_capabilities(node).get("boot_mode") or node.instance_info.get(
        _STORED.name
    )
    own = node_attributes.capability(node, "boot_mode")
    if requested and own and str(requested).lower() != own.lower():
        raise InvalidParameterValue(
            err=f"The instance of node {node.uuid} requests boot mode {str(requested)[:64]!r}, but the node's own "
            f"capability boot_mode is {own[:64]!r}. Change one of them."
        )
    named = requested or own or _STORED.of(node)
    return str(named).lower() if named else None


def get_boot_mode(node: Node) -> str:
    """Return the mode of `get_boot_mode_for_deploy`, or else [deploy]default_boot_mode: uefi or bios."""
    return get_boot_mode_for_deploy(node) or str(CONF.deploy.default_boot_mode).lower()


def sync_boot_mode(task: Task) -> None:
    """Set the mode of `get_boot_mode_for_deploy`, unless there is none, the machine has it, or its BMC knows no modes.

    Raises what the management interface raises.
    """
    if (wanted := get_boot_mode_for_deploy(task.node)) is not None:
        firmware_boot.set_boot_mode(task, wanted)
