"""Boot of ramdisks from an ISO image of this host: what is the same however the image reaches the machine."""

import logging
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ironic.core.flows import states
from ironic.core.flows.flow import DEPLOY
from ironic.core.memory.agent_memory import AgentMemory
from ironic.drivers import info_keys
from ironic.drivers.contract.driver_periodics import node_periodic, periodic
from ironic.drivers.contract.interfaces import BootInterface
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.agent import ramdisk_boot
from ironic.drivers.modules.netboot import firmware_boot, kernel_and_ramdisk
from ironic.drivers.modules.redfish.orders import booted_images, passed_settings, ramdisk_images
from ironic.drivers.modules.redfish.orders.ramdisk_images import Booted
from ironic.drivers.modules.redfish.wire.bmc_access import access_of
from ironic.drivers.nodes import instance_capabilities, node_attributes, secure_boot
from ironic.integrations import image_places, own_directories
from ironic.integrations.image_places import Place
from ironic.integrations.own_directories import OwnDirectory

LOG = logging.getLogger(__name__)

_RAMDISK_INSTANCE: Final = "ramdisk"
_LEFTOVERS_SPACING: Final = 300.0
_RESTORING_SPACING: Final = 15.0
_HAS_IMAGES: Final = {"reserved": False, "maintenance": False, "remembers": ramdisk_images.BOOTED.name}


class RamdiskFromIso(BootInterface):
    """Boots ramdisks from an ISO image that the BMC downloads; how it reaches the machine is the subclass's."""

    sets_boot_device: ClassVar[bool] = True
    # Whether images may be on shares of NFS and CIFS.
    takes_shares: ClassVar[bool] = False

    def get_properties(self) -> dict[str, str]:
        return {
            **info_keys.RAMDISKS,
            **{name: value.replace("[pxe]", "[redfish]") for name, value in info_keys.COMMAND_LINE.items()},
            **info_keys.BOOT_DEVICES,
            **info_keys.READY_IMAGES,
        }

    # Validation

    def written_directories(self) -> tuple[OwnDirectory, ...]:
        return own_directories.RAMDISKS, own_directories.WEB

    def validate(self, task: Task) -> None:
        node = task.node
        access_of(node)
        self.place(node).check(node)
        node_attributes.is_boot_device_persistent(node, default=False)
        self._check_image(node, kernel_and_ramdisk.INSTANCE if boots_own_ramdisk(node) else info_keys.DEPLOY)

    def validate_inspection(self, task: Task) -> None:
        """Raise MissingParameterValue without a ramdisk: nothing else hands this machine an image."""
        access_of(task.node)
        self._check_image(task.node, info_keys.DEPLOY)
        self.place(task.node).check(task.node)

    def _check_image(self, node: Node, purpose: str) -> None:
        booted_images.check(node, purpose, takes_shares=self.takes_shares)

    # Preparation

    def prepare_ramdisk(self, task: Task, ramdisk_params: Mapping[str, object]) -> None:
        node = task.node
        purpose = kernel_and_ramdisk.purpose_of(node)
        # The service's ramdisk may be unsigned.
        secure_boot.turn_off(task)
        ramdisk_boot.switch_off(task)
        # Before the image is made: it is made again after the restart that this may need.
        firmware_boot.set_wanted_boot_mode(task)
        parameters = None
        # Nothing reaches the ramdisk of other ready images, which gets its token by its look-up.
        if not self._ready_iso(node, purpose) or self._passes_settings(node):
            parameters = passed_settings.for_agent(task, ramdisk_params).parameters
        self._boot_ramdisk(task, Booted(purpose, parameters))

    def _boot_ramdisk(self, task: Task, booted: Booted) -> None:
        node = task.node
        ready, place = self._ready_iso(node, booted.purpose), self.place(node)
        booted.put(node)
        if booted.parameters is not None:
            self.offer_settings(task, booted.parameters)
        self.boot(task, booted_images.publish(task, booted, ready, place), persistent=False)

    def prepare_instance(self, task: Task) -> None:
        node = task.node
        secure_boot.turn_on(task)
        # What an agent runs from is taken away when it has ended.
        if not (self.holds_ramdisk and node.provision_state in DEPLOY.busy and AgentMemory(node).is_known):
            self.withdraw(task)
        if not boots_own_ramdisk(node):
            firmware_boot.boot_from_disk(task)
            return
        firmware_boot.set_wanted_boot_mode(task)
        self._boot_instance(task)

    def _boot_instance(self, task: Task) -> None:
        node, booted = task.node, Booted(kernel_and_ramdisk.INSTANCE)
        booted.put(node)
        url = booted_images.publish(task, booted, self._ready_iso(node, booted.purpose), self.place(node))
        self.boot(task, url, persistent=True)
        self.offer_config_drive(task)

    def clean_up_instance(self, task: Task) -> None:
        secure_boot.turn_off(task)
        self.withdraw(task)

    @periodic(spacing=_LEFTOVERS_SPACING)
    def clear_leftovers(self, manager: Any, context: object) -> None:
        """Remove published images that no node uses."""
        ramdisk_images.remove_leftovers(manager.store)

    def _ready_iso(self, node: Node, purpose: str) -> str | None:
        return booted_images.ready_iso(node, purpose, takes_shares=self.takes_shares)

    # Nodes whose images another conductor has published

    @node_periodic(
        purpose="publishing boot images again",
        spacing=_RESTORING_SPACING,
        filters={**_HAS_IMAGES, "provision_state_in": states.WAITING | states.HELD},
        predicate=ramdisk_images.are_missing,
    )
    def restore_ramdisk(self, task: Task, manager: object, context: object) -> None:
        """Publish the image again of a machine that boots a ramdisk; restart one whose ramdisk has not reported."""
        booted_images.restore(task, self._restart_ramdisk)

    @node_periodic(
        purpose="publishing boot images again",
        spacing=_RESTORING_SPACING,
        filters={**_HAS_IMAGES, "provision_state": states.ACTIVE},
        predicate=ramdisk_images.are_missing,
    )
    def restore_instance(self, task: Task, manager: object, context: object) -> None:
        """Publish the image again that an instance boots whenever it starts; it runs on meanwhile."""
        booted_images.restore(task, self._boot_instance)

    def _restart_ramdisk(self, task: Task) -> None:
        booted = Booted.of(task.node)
        assert booted is not None, "an image is missing only where one is booted"
        self._boot_ramdisk(task, booted)
        # An agent that has reported runs from memory, and needs the image only when it is restarted.
        if not AgentMemory(task.node).is_known:
            task.change_power(states.REBOOT)

    # What the subclasses do

    def place(self, node: Node) -> Place:
        """Return where the images of a node are published."""
        return image_places.web_place()

    @abstractmethod
    def boot(self, task: Task, url: str, *, persistent: bool) -> None:
        """Have the machine boot the image, once or whenever it starts."""

    @abstractmethod
    def withdraw(self, task: Task) -> None:
        """Take the images from the machine and from this host."""

    def _passes_settings(self, node: Node) -> bool:
        """Return whether settings reach a ramdisk of a ready image."""
        return False

    def offer_settings(self, task: Task, parameters: Mapping[str, object]) -> None:
        """Offer the parameters of the ramdisk beside its image, if the node asks for it."""

    def offer_config_drive(self, task: Task) -> None:
        """Offer the config drive of an instance that is a ramdisk."""
        if task.node.instance_info.get("configdrive"):
            LOG.warning("Node %s: its boot interface can't pass the config drive to the ramdisk", task.node.uuid)


def boots_own_ramdisk(node: Node) -> bool:
    """Return whether the instance is a user's ramdisk."""
    boot_option = instance_capabilities.requested_capabilities(node).get("boot_option")
    return _RAMDISK_INSTANCE in (node.deploy_interface, boot_option)
