"""Boot interface `redfish-virtual-media`: the BMC offers an ISO image of this host to its machine as a CD.

Neither DHCP nor TFTP is needed: the image has the network configuration of the ramdisk too. A deployed machine boots
its disk; for deploy interface `ramdisk` the image stays inserted, with the config drive in a second drive.
"""

import logging
from collections.abc import Mapping
from typing import ClassVar

from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.hardware_errors import UnsupportedHardwareFeature
from ironic.core.texts import syntax
from ironic.drivers import info_keys
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.info_keys import ON_REMOVABLE
from ironic.drivers.modules.agent.config_drive import config_drive_image
from ironic.drivers.modules.redfish.bmc_survey import SURVEY
from ironic.drivers.modules.redfish.iso_boot import RamdiskFromIso, boots_own_ramdisk
from ironic.drivers.modules.redfish.orders import ramdisk_images, virtual_media
from ironic.drivers.modules.redfish.tree.flashed_versions import bmc_version
from ironic.drivers.modules.redfish.tree.virtual_drives import CD, FLOPPY, USB_STICK
from ironic.drivers.modules.redfish.wire.bmc_access import access_of
from ironic.drivers.modules.redfish.wire.bmc_connection import read
from ironic.drivers.modules.redfish.wire.bmc_system import System, optional
from ironic.drivers.modules.redfish.wire.differences import Behaviour
from ironic.drivers.modules.redfish.wire.quirks import behaves, depends_on_firmware
from ironic.drivers.nodes import fast_track, node_attributes
from ironic.integrations import image_places
from ironic.integrations.image_places import Place

LOG = logging.getLogger(__name__)


class RedfishVirtualMediaBoot(RamdiskFromIso):
    """Boots an ISO image from the virtual CD drive."""

    capabilities: ClassVar[list[str]] = ["ramdisk_boot", "ramdisk_boot_configdrive"]
    survey = SURVEY
    takes_shares: ClassVar[bool] = True
    holds_ramdisk: ClassVar[bool] = True
    is_needed = True

    def get_properties(self) -> dict[str, str]:
        return {
            **super().get_properties(),
            **info_keys.VIRTUAL_MEDIA,
        }

    def validate(self, task: Task) -> None:
        super().validate(task)
        _wants_removable(task.node)

    def lacks(self, system: System) -> str | None:
        return virtual_media.lacks_drive(system, CD)

    def validate_rescue(self, task: Task) -> None:
        access_of(task.node)
        self.place(task.node).check(task.node)
        self._check_image(task.node, info_keys.RESCUE)

    def prepare_ramdisk(self, task: Task, ramdisk_params: Mapping[str, object]) -> None:
        _check_firmware(task)
        super().prepare_ramdisk(task, ramdisk_params)

    def place(self, node: Node) -> Place:
        return image_places.place_of(node)

    def clean_up_ramdisk(self, task: Task) -> None:
        if fast_track.can_continue(task.node):
            return
        self.withdraw(task)

    def boot(self, task: Task, url: str, *, persistent: bool) -> None:
        node = task.node
        virtual_media.insert(task, [CD], url)
        lasting = node_attributes.is_boot_device_persistent(node, default=persistent)
        task.management.set_boot_device(task, boot_devices.CDROM, persistent=lasting)

    def withdraw(self, task: Task) -> None:
        node = task.node
        media = {CD}
        if _wants_removable(node):
            media |= {USB_STICK, FLOPPY}
        if boots_own_ramdisk(node) and node.instance_info.get("configdrive"):
            media.add(USB_STICK)
        virtual_media.eject(task, media)
        ramdisk_images.withdraw(node)

    def _passes_settings(self, node: Node) -> bool:
        return _wants_removable(node)

    def offer_settings(self, task: Task, parameters: Mapping[str, object]) -> None:
        node = task.node
        if not _wants_removable(node):
            return
        media = [one for one in (USB_STICK, FLOPPY) if virtual_media.has_drive(task, one)]
        if not media:
            LOG.warning("Node %s: its BMC has no drive for the parameters of the ramdisk", node.uuid)
            return
        virtual_media.insert(task, media, ramdisk_images.publish_settings(node, parameters, self.place(node)))

    def offer_config_drive(self, task: Task) -> None:
        node = task.node
        content = config_drive_image(node)
        if content is not None:
            url = ramdisk_images.publish_config_drive(node, content, self.place(node))
            virtual_media.insert(task, [USB_STICK], url)


def _check_firmware(task: Task) -> None:
    """Raise UnsupportedHardwareFeature where the BMC's firmware is known to boot nothing from virtual media."""
    node = task.node
    if not depends_on_firmware(node, Behaviour.BOOTS_NO_VIRTUAL_MEDIA):
        return

    what = "reading the firmware version of the BMC"
    version = read(task, what, lambda system: optional(lambda: bmc_version(system), ""))
    if behaves(node, Behaviour.BOOTS_NO_VIRTUAL_MEDIA, version):
        raise UnsupportedHardwareFeature(
            node=node.uuid,
            feature=f"boot from virtual media with firmware {version} of its BMC (update it, or choose another boot "
            "interface)",
        )


def _wants_removable(node: Node) -> bool:
    given = node.driver_info.get(ON_REMOVABLE, node.driver_info.get("config_via_floppy", False))
    wanted = syntax.truth_of(str(given))
    if wanted is None:
        raise InvalidParameterValue(err=f"{ON_REMOVABLE} in driver_info of node {node.uuid} must be true or false.")
    return wanted
