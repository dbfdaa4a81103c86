"""What grows by itself and is cut back: rows of conductors that left, old entries of node history, old inventories.

One of the living conductors does it for all, whichever the work falls to; each looks after the images on its own host.
"""

import logging
from datetime import timedelta
from typing import Final

from ironic.conductor.images_here import ImagesHere
from ironic.conductor.jobs import Job
from ironic.conductor.tasks import Tasks
from ironic.conf import CONF
from ironic.core.resource_errors import NoLiveConductor
from ironic.rpc.placement import Placement

LOG = logging.getLogger(__name__)

_NAME: Final = "tidying up"


def jobs(tasks: Tasks, placement: Placement) -> tuple[Job, ...]:
    """Return the jobs, by the options as they are now."""
    tidying = Tidying(tasks, placement)
    return (
        Job(
            "conductors that left for good", CONF.conductor.conductor_cleanup_interval, tidying.conductors, at_once=True
        ),
        Job("old node history", CONF.conductor.node_history_cleanup_interval, tidying.history),
        Job("old inventories", CONF.inventory.cleanup_interval, tidying.inventories),
        Job("images on this host", CONF.conductor.cache_clean_up_interval, ImagesHere(tasks.store)),
    )


class Tidying:
    """Cuts back what is old, on the one conductor that this falls to."""

    def __init__(self, tasks: Tasks, placement: Placement) -> None:
        self._store, self._host, self._placement = tasks.store, tasks.host, placement

    def conductors(self) -> None:
        """Remove conductors that were not heard of for so long that they will not come back."""
        if self._is_elsewhere():
            return
        options = CONF.conductor
        for name in self._store.conductors.remove_silent(
            options.conductor_cleanup_timeout, options.conductor_cleanup_batch_size
        ):
            LOG.warning(
                "Conductor %s gave no sign of life for %d seconds and is removed from the table; it may come back any "
                "time by being started",
                name,
                options.conductor_cleanup_timeout,
            )

    def history(self) -> None:
        """Remove the oldest entries of nodes that have too many."""
        options = CONF.conductor
        if not options.node_history_max_entries or self._is_elsewhere():
            return
        before = self._store.clock() - timedelta(days=options.node_history_minimum_days)
        limit = options.node_history_cleanup_batch_count or None
        if removed := self._store.history.trim(options.node_history_max_entries, before, limit):
            LOG.info("%d old entries were removed from node history", removed)

    def inventories(self) -> None:
        """Remove inventories from the database that are older than the operator wants to keep them."""
        options = CONF.inventory
        if not options.retention_days or self._is_elsewhere():
            return
        before = self._store.clock() - timedelta(days=options.retention_days)
        if removed := self._store.inventories.delete_older(before, options.cleanup_batch_size):
            LOG.info("%d inventories older than %d days were removed", removed, options.retention_days)

    def _is_elsewhere(self) -> bool:
        try:
            return self._placement.any_host(_NAME) != self._host
        except NoLiveConductor:
            return True
