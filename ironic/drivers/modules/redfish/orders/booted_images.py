"""Which image a machine boots: a ready ISO image that is named for it, or one made of kernel and ramdisk.

Operators name ready images of ramdisks in driver_info, users those of their instances in instance_info.
"""

import logging
from collections.abc import Callable
from typing import Any, Final

from ironic.drivers import info_keys
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.netboot import kernel_and_ramdisk
from ironic.drivers.modules.redfish.orders import passed_settings, ramdisk_images
from ironic.drivers.modules.redfish.orders.ramdisk_images import Booted, Passed
from ironic.integrations.image_places import Place

LOG = logging.getLogger(__name__)

# The older names of driver_info for ready images begin with it.
_FORMER: Final = "redfish_"


def check(node: Node, purpose: str, *, takes_shares: bool) -> None:
    """Raise InvalidParameterValue or MissingParameterValue when no image for a purpose can be made or found."""
    if purpose == kernel_and_ramdisk.INSTANCE:
        ramdisk_images.check_command_line(node, purpose)
        if ready_iso(node, purpose, takes_shares=takes_shares) is None and node.instance_info.get("kernel"):
            kernel_and_ramdisk.of_instance(node)
            ramdisk_images.check_programs(node)
    elif not ready_iso(node, purpose, takes_shares=takes_shares):
        kernel_and_ramdisk.find_ramdisk(node, purpose)
        ramdisk_images.check_command_line(node, info_keys.DEPLOY)
        ramdisk_images.check_programs(node)


def ready_iso(node: Node, purpose: str, *, takes_shares: bool) -> str | None:
    """Return the URL of the ready image for a purpose, None when it is made of kernel and ramdisk.

    ``takes_shares`` allows images on shares. Raise InvalidParameterValue for a URL that can't be one.
    """
    name, info = _key_of(purpose), node.driver_info
    if purpose == kernel_and_ramdisk.INSTANCE:
        url = node.instance_info.get(name)
    else:
        url = info.get(name) or info.get(f"{_FORMER}{name}")
    return ramdisk_images.check_ready_iso(node, name, url, takes_shares=takes_shares) if url else None


def publish(task: Task, booted: Booted, ready: str | None, place: Place) -> str:
    """Publish what a machine is to boot, a ready image or one that is made; return its URL. Saves the node."""
    node, purpose = task.node, booted.purpose
    if ready:
        return ramdisk_images.publish_ready_iso(node, _key_of(purpose), ready, place)
    if purpose == kernel_and_ramdisk.INSTANCE:
        passed = Passed({}, {}, {})
    else:
        passed = passed_settings.with_parameters(task, booted.parameters or {})
    return ramdisk_images.publish_ramdisk(node, purpose, passed, place)


def restore(task: Any, boot: Callable[[Task], None]) -> None:
    """Publish an image again that is missing on this host, by ``boot``, with the node locked; saves the node."""
    before = task.node.provision_state
    task.upgrade_lock("publishing boot images again", retry=False)
    node = task.node
    if node.provision_state != before or not ramdisk_images.are_missing(node):
        return
    LOG.info("Node %s: its boot image is missing on this host and is published again", node.uuid)
    try:
        boot(task)
    except Exception:
        # So that the next run finds it missing.
        ramdisk_images.take_back(node)
        raise
    finally:
        node.save()


def _key_of(purpose: str) -> str:
    """Return the name by which a ready image is given."""
    return ramdisk_images.INSTANCE_ISO if purpose == kernel_and_ramdisk.INSTANCE else f"{purpose}_iso"
