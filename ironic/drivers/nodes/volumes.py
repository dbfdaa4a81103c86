"""The volumes of a node during its life: attach, detach, and whether a deployment writes an image.

A node whose storage interface is unavailable on this conductor can be used as long as it has no volume targets.
Source: doc/contract/drivers.md#volumes.
"""

import logging
from typing import TYPE_CHECKING

from ironic.core.errors import TakenOver
from ironic.core.flows import states
from ironic.drivers.contract.task import Task

if TYPE_CHECKING:
    from ironic.drivers.contract.interfaces.storage import StorageInterface

LOG = logging.getLogger(__name__)


def attach(task: Task) -> None:
    """Attach the volumes; if that fails, detach those of a machine that is off and raise the error."""
    storage = _storage_for_volumes(task)
    if storage is None:
        return
    try:
        storage.attach_volumes(task)
    except TakenOver:
        raise
    except Exception:
        try:
            detach_unused(task)
        except TakenOver:
            raise
        except Exception as error:
            LOG.warning(
                "Node %s: detaching its volumes after a failed attachment failed too: %s. They are detached when the "
                "instance is removed",
                task.node.uuid,
                error,
            )
        raise


def detach(task: Task) -> None:
    """Detach the volumes; raises what the storage interface raises."""
    storage = _storage_for_volumes(task)
    if storage is not None:
        storage.detach_volumes(task)


def detach_unused(task: Task) -> None:
    """Detach the volumes if the machine is known to be off: a running system may use them."""
    if task.node.power_state == states.POWER_OFF:
        detach(task)
    else:
        LOG.info("Node %s may be on and keeps its volumes until its instance is removed", task.node.uuid)


def is_image_written(task: Task) -> bool:
    """Return whether a deployment writes an image; False when the machine boots from a volume."""
    storage = _storage_for_volumes(task)
    return storage is None or storage.should_write_image(task)


def boots_from_volume(task: Task) -> bool:
    """Return whether the instance names no image and the node has a boot volume: a target with boot index 0."""
    if task.node.instance_info.get("image_source"):
        return False
    indexes = task.store.volume_targets.rows(("boot_index",), filters={"node_id": task.node.id})
    return (0,) in [tuple(row) for row in indexes]


def _storage_for_volumes(task: Task) -> "StorageInterface[Task] | None":
    """Return the storage interface, None where it is unavailable and not needed; raise the reason where it is."""
    if task.driver.storage is None and not task.store.volume_targets.count(node_id=task.node.id):
        return None
    return task.storage
