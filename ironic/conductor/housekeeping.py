"""Periodic removal of what grows: rows of absent conductors, old node history and inventories, cached images.

One of the living conductors, chosen by the hash ring, removes rows for all; each removes images from its own host.
Images go by age and by the room they take. An image that is still offered to an agent goes when its node is not being
deployed: the conductor that offered it was killed before it could withdraw it.
"""

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from ironic.conductor.periodic_tasks import PeriodicTask
from ironic.conductor.tasks import TaskFactory
from ironic.conf import CONF
from ironic.core.errors.resource_errors import NoLiveConductor
from ironic.core.flows.flow import DEPLOY
from ironic.rpc.hash_ring import HashRingManager

if TYPE_CHECKING:
    from ironic.db import Store

LOG = logging.getLogger(__name__)

# The key by which the hash ring chooses the conductor; all releases that run side by side must use the same.
_RING_KEY: Final = "tidying up"


def jobs(tasks: TaskFactory, hash_ring: HashRingManager) -> tuple[PeriodicTask, ...]:
    """Return the periodic tasks, by the options as they are now."""
    housekeeping = Housekeeping(tasks, hash_ring)
    options = CONF.conductor
    return (
        PeriodicTask(
            "conductors that left for good", options.conductor_cleanup_interval, housekeeping.conductors, at_once=True
        ),
        PeriodicTask("old node history", options.node_history_cleanup_interval, housekeeping.history),
        PeriodicTask("old inventories", CONF.inventory.cleanup_interval, housekeeping.inventories),
        PeriodicTask("images on this host", options.cache_clean_up_interval, ImageCacheCleanup(tasks.store)),
    )


class Housekeeping:
    """Removes old rows, on the one conductor that the hash ring chooses."""

    def __init__(self, tasks: TaskFactory, hash_ring: HashRingManager) -> None:
        self._store, self._host, self._hash_ring = tasks.store, tasks.host, hash_ring

    def conductors(self) -> None:
        """Remove conductors without a heartbeat for so long that they will not come back."""
        if self._is_elsewhere():
            return
        timeout, batch_size = CONF.conductor.conductor_cleanup_timeout, CONF.conductor.conductor_cleanup_batch_size
        text = (
            "Conductor %s gave no sign of life for %d seconds and is removed from the table; to bring it back, start it"
        )
        for name in self._store.conductors.remove_stale(timeout, batch_size):
            LOG.warning(text, name, timeout)

    def history(self) -> None:
        """Remove the oldest entries of nodes that have too many."""
        options = CONF.conductor
        if not options.node_history_max_entries or self._is_elsewhere():
            return
        before = self._store.clock.now() - timedelta(days=options.node_history_minimum_days)
        limit = options.node_history_cleanup_batch_count or None
        if removed := self._store.history.trim(options.node_history_max_entries, before, limit):
            LOG.info("%d old entries were removed from node history", removed)

    def inventories(self) -> None:
        """Remove inventories from the database that are older than [inventory]retention_days."""
        options = CONF.inventory
        if not options.retention_days or self._is_elsewhere():
            return
        before = self._store.clock.now() - timedelta(days=options.retention_days)
        for kept in (self._store.inventories, self._store.refused_reports):
            if removed := kept.delete_older(before, options.cleanup_batch_size):
                LOG.info("%d inventories older than %d days were removed", removed, options.retention_days)

    def _is_elsewhere(self) -> bool:
        try:
            return self._hash_ring.any_host(_RING_KEY) != self._host
        except NoLiveConductor:
            return True


class ImageCacheCleanup:
    """Removes images from this host when called."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def __call__(self) -> None:
        """Withdraw images offered for nodes that are not being deployed, then trim the caches."""
        # Imported at the first run, so that a conductor starts without loading them.
        from ironic.drivers.modules.agent import published_images
        from ironic.integrations.image_cache import ImageCache

        # Read before the nodes are: an image is offered only after its node's deployment has begun.
        if offered := published_images.published():
            filters = {"provision_state_in": DEPLOY.states}
            deploying = {row[0] for row in self._store.nodes.rows(("uuid",), filters=filters)}
            for path in offered:
                uuid = published_images.node_of(path)
                if uuid not in deploying:
                    path.unlink(missing_ok=True)
                    LOG.info("Node %s: its image is withdrawn, because the node is not being deployed", uuid)
        for directory in (CONF.pxe.tftp_master_path, CONF.pxe.instance_master_path):
            ImageCache.from_conf(directory).trim()
