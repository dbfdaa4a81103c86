"""Boot interfaces `pxe`, `ipxe`, `http` and `http-ipxe`: one mechanism, four rows of data.

A machine that is to boot a ramdisk gets its files on this host, its DHCP server is told, and its firmware is set to
start from the network. What was prepared is remembered on the node; a conductor that finds the files of one of its
nodes missing, because another one had prepared them, makes them anew.
"""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ironic.conf import CONF
from ironic.core import states
from ironic.core.errors import InvalidParameterValue, MissingParameterValue, UnsupportedDriverExtension
from ironic.drivers import boot_modes, lasting_boot_device
from ironic.drivers.interfaces import BootInterface
from ironic.drivers.modules.agent import wishes
from ironic.drivers.modules.netboot import command_line, common, firmware, leftovers, prepared, ramdisks, retrying
from ironic.drivers.modules.netboot.offer import Offer
from ironic.drivers.modules.netboot.prepared import Prepared
from ironic.drivers.modules.netboot.variants import VARIANTS, Variant
from ironic.drivers.periodic import node_periodic, periodic
from ironic.drivers.task import Node, Task
from ironic.integrations import dhcp

LOG = logging.getLogger(__name__)

_RAMDISK_INSTANCE: Final = "ramdisk"
_SPACING: Final = 60.0
_LEFTOVERS_SPACING: Final = 300.0


class NetworkBoot(BootInterface):
    """Boots machines from the network; deployed ones start from their own disks."""

    variant: ClassVar[Variant]

    def __init__(self) -> None:
        common.offer_where_possible(self.variant)

    def get_properties(self) -> dict[str, str]:
        return {**ramdisks.PROPERTIES, **command_line.PROPERTIES, **lasting_boot_device.PROPERTIES}

    # What is certainly wrong

    def validate(self, task: Task) -> None:
        self._validate_place(task.node)
        if not _cards(task):
            raise MissingParameterValue(err=_no_cards(task.node))
        if _runs_ramdisk(task.node):
            self._validate_instance(task.node)
        else:
            ramdisks.find(task.node, ramdisks.DEPLOY)

    def validate_rescue(self, task: Task) -> None:
        self._validate_place(task.node)
        ramdisks.find(task.node, ramdisks.RESCUE)

    def validate_inspection(self, task: Task) -> None:
        """Raise when something is wrong; that no ramdisk is named only means that somebody else boots one."""
        try:
            ramdisks.find(task.node, ramdisks.DEPLOY)
        except MissingParameterValue as error:
            raise UnsupportedDriverExtension(str(error)) from error
        self._validate_place(task.node)

    def _validate_place(self, node: Node) -> None:
        """Check all but the images."""
        dhcp.provider()
        if self.variant.needs_web and not CONF.deploy.http_url:
            raise InvalidParameterValue(
                err=f"Boot interface {self.variant.name} of node {node.uuid} needs a web server: set [deploy]http_url "
                "to the URL of [deploy]http_root."
            )
        if self.variant.http and wishes.boot_mode(node) != boot_modes.UEFI:
            raise InvalidParameterValue(
                err=f"Node {node.uuid} starts through a BIOS, which can't boot over HTTP. Choose boot interface ipxe "
                "or pxe, or boot mode uefi."
            )
        command_line.check(node, self._program(node), ramdisks.DEPLOY)
        lasting_boot_device.is_persistent(node, default=False)

    def _validate_instance(self, node: Node) -> None:
        """Check what a user wants to run; a node without an instance wants nothing yet."""
        command_line.check(node, self._program(node), ramdisks.INSTANCE)
        if node.instance_info.get("boot_iso"):
            ramdisks.check_iso(node, self._program(node))
        elif node.instance_info.get("kernel"):
            ramdisks.of_instance(node)

    def _program(self, node: Node) -> str:
        return self.variant.program(wishes.boot_mode(node))

    # The agent's ramdisk

    def prepare_ramdisk(self, task: Task, ramdisk_params: Mapping[str, object]) -> None:
        parameters = {name: None if value is None else str(value) for name, value in ramdisk_params.items()}
        parameters.setdefault("ipa-global-request-id", task.context.request_id)
        self._prepare(task, ramdisks.purpose_of(task.node), parameters)
        firmware.boot_from_network(task, self.variant.boot_device, for_good=False)

    def clean_up_ramdisk(self, task: Task) -> None:
        kept = Prepared.of(task.node)
        Offer(self.variant, task.node).withdraw(kept)
        if kept is not None:
            prepared.forget(task.node)
            task.node.save()

    # The instance

    def prepare_instance(self, task: Task) -> None:
        if wishes.of(task.node).get("boot_option") == _RAMDISK_INSTANCE:
            self._prepare(task, ramdisks.INSTANCE, {})
            firmware.boot_from_network(task, self.variant.boot_device, for_good=True)
        else:
            self.clean_up_ramdisk(task)
            firmware.boot_from_disk(task)

    def clean_up_instance(self, task: Task) -> None:
        self.clean_up_ramdisk(task)

    # Another conductor's nodes

    @node_periodic(
        purpose="making boot files anew",
        spacing=_SPACING,
        filters={"reserved": False, "provision_state_in": states.WAITING | states.HELD},
    )
    def restore_ramdisk(self, task: Task, manager: object, context: object) -> None:
        """Make the files of a node anew whose machine may boot its ramdisk any time."""
        self._restore(task)

    @node_periodic(
        purpose="making boot files anew",
        spacing=_SPACING,
        filters={"reserved": False, "provision_state": states.ACTIVE, "deploy_interface": _RAMDISK_INSTANCE},
    )
    def restore_instance(self, task: Task, manager: object, context: object) -> None:
        """Make the files of a node anew whose instance boots from them."""
        self._restore(task)

    @periodic(spacing=_LEFTOVERS_SPACING)
    def clear_leftovers(self, manager: Any, context: object) -> None:
        """Remove the files of nodes that another conductor has gone on with."""
        leftovers.clear(self.variant, manager.store)

    @node_periodic(
        purpose="booting a silent machine again",
        spacing=_SPACING,
        filters={"reserved": False, "maintenance": False, "provision_state_in": states.WAITING},
        predicate=retrying.is_due,
    )
    def boot_again(self, task: Any, manager: object, context: object) -> None:
        """Boot a machine again whose ramdisk was not heard of for as long as the operator has patience."""
        task.upgrade_lock("booting a silent machine again", retry=False)
        if task.node.provision_state in states.WAITING and retrying.is_due(task.node):
            retrying.boot_again(task, self.variant)

    def _restore(self, task: Any) -> None:
        if not self._is_missing(task.node):
            return
        task.upgrade_lock("making boot files anew", retry=False)
        kept = Prepared.of(task.node)
        if kept is not None and self._is_missing(task.node):
            LOG.info("Node %s: its boot files are not on this host and are made anew", task.node.uuid)
            Offer(self.variant, task.node).make(kept)

    def _is_missing(self, node: Node) -> bool:
        return Prepared.of(node) is not None and not Offer(self.variant, node).is_there

    def _prepare(self, task: Task, purpose: str, parameters: dict[str, str | None]) -> None:
        cards = _cards(task)
        if not cards:
            raise MissingParameterValue(err=_no_cards(task.node))
        offer, before = Offer(self.variant, task.node), Prepared.of(task.node)
        if before is not None and before.cards != cards:
            offer.withdraw(before)
        now = Prepared(purpose, parameters, cards)
        now.keep(task.node)
        # Stored before anything is written: whoever takes over must know what there is to clear up.
        task.node.save()
        offer.make(now)


class PXEBoot(NetworkBoot):
    """TFTP for all; PXELINUX or GRUB."""

    capabilities: ClassVar[list[str]] = ["ramdisk_boot", "pxe_boot"]
    variant: ClassVar[Variant] = VARIANTS["pxe"]


class HttpBoot(NetworkBoot):
    """HTTP for all; the firmware fetches GRUB by itself (UEFI only)."""

    capabilities: ClassVar[list[str]] = ["ramdisk_boot", "pxe_boot"]
    variant: ClassVar[Variant] = VARIANTS["http"]


class IPXEBoot(NetworkBoot):
    """TFTP for iPXE, HTTP for what iPXE fetches."""

    capabilities: ClassVar[list[str]] = ["ramdisk_boot", "ipxe_boot", "pxe_boot"]
    variant: ClassVar[Variant] = VARIANTS["ipxe"]


class IPXEHttpBoot(NetworkBoot):
    """HTTP for iPXE and what it fetches (UEFI only)."""

    capabilities: ClassVar[list[str]] = ["ramdisk_boot", "ipxe_boot", "pxe_boot"]
    variant: ClassVar[Variant] = VARIANTS["http-ipxe"]


def _cards(task: Task) -> dict[str, str]:
    """Return the MAC addresses a machine may boot from, by port."""
    return {port.uuid: port.address for port in task.ports if port.pxe_enabled}


def _no_cards(node: Node) -> str:
    return f"Node {node.uuid} has no port with pxe_enabled; a machine is known by the MAC addresses of these ports."


def _runs_ramdisk(node: Node) -> bool:
    """Tell whether the instance is a ramdisk of the user's."""
    return _RAMDISK_INSTANCE in (node.deploy_interface, wishes.of(node).get("boot_option"))
