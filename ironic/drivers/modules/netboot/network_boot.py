"""Boot interfaces `pxe`, `ipxe`, `http` and `http-ipxe`.

To boot a machine over the network, its boot files are written on this host, its DHCP options are passed to the DHCP
provider, and its firmware is set to boot from the network. What was prepared is stored on the node first, so that a
conductor that takes the node over can write the missing files on its own host, or remove them.
"""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue, MissingParameterValue, UnsupportedDriverExtension
from ironic.core.errors.hardware_errors import BootImageFailed
from ironic.core.flows import states
from ironic.drivers import info_keys
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.driver_periodics import node_periodic, periodic
from ironic.drivers.contract.interfaces import BootInterface
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.netboot import firmware_boot, kernel_and_ramdisk, prepared_boot, shared_boot_files
from ironic.drivers.modules.netboot.boot_files import BootFiles
from ironic.drivers.modules.netboot.boot_variants import VARIANTS, Variant
from ironic.drivers.modules.netboot.prepared_boot import PreparedBoot
from ironic.drivers.nodes import instance_capabilities, node_attributes, secure_boot
from ironic.integrations import dhcp, own_directories, web_root
from ironic.integrations.own_directories import OwnDirectory

LOG = logging.getLogger(__name__)

_RAMDISK_INSTANCE: Final = "ramdisk"
_SPACING: Final = 60.0
_LEFTOVERS_SPACING: Final = 300.0


class NetworkBoot(BootInterface):
    """Boots ramdisks over the network; a deployed machine boots from its disk unless its instance is a ramdisk.

    With [pxe]enable_netboot_fallback a machine that boots from the network all the same is sent to its disk.
    """

    sets_boot_device: ClassVar[bool] = True
    variant: ClassVar[Variant]

    def __init__(self) -> None:
        shared_boot_files.write_shared_files_where_possible(self.variant)

    def get_properties(self) -> dict[str, str]:
        return {
            **info_keys.RAMDISKS,
            **info_keys.COMMAND_LINE,
            **info_keys.BOOT_DEVICES,
        }

    # Validation

    def validate(self, task: Task) -> None:
        node = task.node
        self._validate_settings(node)
        _network_cards(task)
        boot_option = instance_capabilities.requested_capabilities(node).get("boot_option")
        if _RAMDISK_INSTANCE not in (node.deploy_interface, boot_option):
            kernel_and_ramdisk.find_ramdisk(node, info_keys.DEPLOY)
            return
        # The user's ramdisk; a node without an instance names none yet.
        kernel_and_ramdisk.check_command_line(node, self._program(node), kernel_and_ramdisk.INSTANCE)
        if node.instance_info.get("boot_iso"):
            kernel_and_ramdisk.check_iso(node, self._program(node))
        elif node.instance_info.get("kernel"):
            kernel_and_ramdisk.of_instance(node)

    def validate_rescue(self, task: Task) -> None:
        self._validate_settings(task.node)
        kernel_and_ramdisk.find_ramdisk(task.node, info_keys.RESCUE)

    def validate_inspection(self, task: Task) -> None:
        """Raise UnsupportedDriverExtension without a ramdisk: the machine must then be booted by other means."""
        try:
            kernel_and_ramdisk.find_ramdisk(task.node, info_keys.DEPLOY)
        except MissingParameterValue as error:
            raise UnsupportedDriverExtension(str(error)) from error
        self._validate_settings(task.node)

    def _validate_settings(self, node: Node) -> None:
        """Check everything but the images: DHCP provider, web server, boot mode, kernel parameters."""
        dhcp.provider()
        if not self.variant.has_root:
            raise InvalidParameterValue(
                err=f"Boot interface {self.variant.name} of node {node.uuid} needs a directory for boot files: set "
                f"{'[deploy]http_root' if self.variant.needs_web else '[pxe]tftp_root'}."
            )
        if self.variant.needs_web and not web_root.url():
            raise InvalidParameterValue(
                err=f"Boot interface {self.variant.name} of node {node.uuid} needs a web server: {web_root.REMEDY}."
            )
        if self.variant.http and instance_capabilities.boot_mode(node) != boot_devices.UEFI:
            raise InvalidParameterValue(
                err=f"Node {node.uuid} starts through a BIOS, which can't boot over HTTP. Choose boot interface ipxe "
                "or pxe, or boot mode uefi."
            )
        kernel_and_ramdisk.check_command_line(node, self._program(node), info_keys.DEPLOY)
        node_attributes.is_boot_device_persistent(node, default=False)

    def written_directories(self) -> tuple[OwnDirectory, ...]:
        return own_directories.RAMDISKS, own_directories.WEB if self.variant.needs_web else own_directories.TFTP

    def _program(self, node: Node) -> str:
        return self.variant.program(instance_capabilities.boot_mode(node))

    # Preparation

    def prepare_ramdisk(self, task: Task, ramdisk_params: Mapping[str, object]) -> None:
        parameters = {name: None if value is None else str(value) for name, value in ramdisk_params.items()}
        parameters.setdefault("ipa-global-request-id", task.context.request_id)
        # The service's ramdisk may be unsigned.
        secure_boot.turn_off(task)
        self._prepare(task, kernel_and_ramdisk.purpose_of(task.node), parameters)
        firmware_boot.boot_from_network(task, self.variant.boot_device, persistent=False)

    def clean_up_ramdisk(self, task: Task) -> None:
        prepared = PreparedBoot.of(task.node)
        BootFiles(self.variant, task.node).remove(prepared, task)
        if prepared is not None:
            prepared_boot.forget_prepared_boot(task.node)
            task.node.save()

    def prepare_instance(self, task: Task) -> None:
        secure_boot.turn_on(task)
        if instance_capabilities.requested_capabilities(task.node).get("boot_option") == _RAMDISK_INSTANCE:
            self._prepare(task, kernel_and_ramdisk.INSTANCE, {})
            firmware_boot.boot_from_network(task, self.variant.boot_device, persistent=True)
        else:
            if CONF.pxe.enable_netboot_fallback and any(port.pxe_enabled for port in task.ports):
                self._prepare(task, kernel_and_ramdisk.DISK, {})
            else:
                self.clean_up_ramdisk(task)
            firmware_boot.boot_from_disk(task)

    def clean_up_instance(self, task: Task) -> None:
        secure_boot.turn_off(task)
        self.clean_up_ramdisk(task)

    def _prepare(self, task: Task, purpose: str, parameters: dict[str, str | None]) -> None:
        """Store what the node is prepared for, then write its boot files."""
        cards, infiniband = _network_cards(task), _infiniband_cards(task)
        files, former = BootFiles(self.variant, task.node), PreparedBoot.of(task.node)
        if former is not None and former.cards != cards:
            files.remove(former, task)
        prepared = PreparedBoot(purpose, parameters, cards, infiniband)
        prepared.put(task.node)
        # Stored before anything is written: a conductor that takes over must know what to clean up.
        task.node.save()
        try:
            files.write(prepared, task)
        except OSError as error:
            raise BootImageFailed(
                image=f"of the boot files of node {task.node.uuid}", reason=own_directories.explained(error)
            ) from error

    # Nodes that another conductor prepared, or took over

    @node_periodic(
        purpose="restoring boot files",
        spacing=_SPACING,
        filters={"reserved": False, "provision_state_in": states.WAITING | states.HELD},
    )
    def restore_ramdisk(self, task: Task, manager: object, context: object) -> None:
        """Write missing boot files of a node whose machine may boot its ramdisk at any time."""
        self._restore(task)

    @node_periodic(
        purpose="restoring boot files",
        spacing=_SPACING,
        filters={"reserved": False, "provision_state": states.ACTIVE, "remembers": prepared_boot.KEY.name},
    )
    def restore_instance(self, task: Task, manager: object, context: object) -> None:
        """Write missing boot files of a node whose instance boots from them, or by way of them from its disk."""
        self._restore(task)

    def _restore(self, task: Any) -> None:
        if not self._is_missing(task.node):
            return
        task.upgrade_lock("restoring boot files", retry=False)
        prepared = PreparedBoot.of(task.node)
        if prepared is not None and self._is_missing(task.node):
            LOG.info("Node %s: its boot files are missing on this host and are written again", task.node.uuid)
            BootFiles(self.variant, task.node).write(prepared, task)

    def _is_missing(self, node: Node) -> bool:
        return PreparedBoot.of(node) is not None and not BootFiles(self.variant, node).exist()

    @periodic(spacing=_LEFTOVERS_SPACING)
    def clear_leftovers(self, manager: Any, context: object) -> None:
        """Remove the files of nodes that another conductor took over."""
        prepared_boot.remove_leftovers(self.variant, manager.store)

    # Machines whose ramdisk does not report

    @node_periodic(
        purpose="retrying the network boot",
        spacing=_SPACING,
        filters={"reserved": False, "maintenance": False, "provision_state_in": states.WAITING},
        predicate=firmware_boot.is_retry_due,
    )
    def boot_again(self, task: Any, manager: object, context: object) -> None:
        """Restart a machine whose ramdisk has not reported within [pxe]boot_retry_timeout."""
        task.upgrade_lock("retrying the network boot", retry=False)
        if task.node.provision_state in states.WAITING and firmware_boot.is_retry_due(task.node):
            firmware_boot.retry_boot(task, self.variant)


def _network_cards(task: Task) -> dict[str, str]:
    """Return the MAC addresses a machine may boot from, by port UUID; raise MissingParameterValue without any."""
    cards = {port.uuid: port.address for port in task.ports if port.pxe_enabled}
    if not cards:
        raise MissingParameterValue(
            err=f"Node {task.node.uuid} has no port with pxe_enabled; a machine is identified by the MAC addresses of "
            "these ports."
        )
    return cards


def _infiniband_cards(task: Task) -> tuple[str, ...]:
    """Return the UUIDs of the ports whose cards have the client identifier of InfiniBand."""
    return tuple(port.uuid for port in task.ports if port.pxe_enabled and port.extra.get("client-id"))


class PXEBoot(NetworkBoot):
    """Machines fetch everything over TFTP; the boot program is PXELINUX or GRUB."""

    capabilities: ClassVar[list[str]] = ["ramdisk_boot", "pxe_boot"]
    variant: ClassVar[Variant] = VARIANTS["pxe"]


class HttpBoot(NetworkBoot):
    """Machines fetch everything over HTTP; the boot program is GRUB (UEFI only)."""

    capabilities: ClassVar[list[str]] = ["ramdisk_boot", "pxe_boot"]
    variant: ClassVar[Variant] = VARIANTS["http"]


class IPXEBoot(NetworkBoot):
    """The firmware fetches iPXE over TFTP, iPXE everything else over HTTP."""

    capabilities: ClassVar[list[str]] = ["ramdisk_boot", "ipxe_boot", "pxe_boot"]
    variant: ClassVar[Variant] = VARIANTS["ipxe"]


class IPXEHttpBoot(NetworkBoot):
    """Machines fetch iPXE and everything else over HTTP (UEFI only)."""

    capabilities: ClassVar[list[str]] = ["ramdisk_boot", "ipxe_boot", "pxe_boot"]
    variant: ClassVar[Variant] = VARIANTS["http-ipxe"]
