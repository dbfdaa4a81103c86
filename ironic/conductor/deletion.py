"""Deleting a node with all that is kept of it."""

import logging

from ironic.conductor.answering import answers
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import node_rules
from ironic.core.errors import IronicError
from ironic.inspection import storage

LOG = logging.getLogger(__name__)


@answers
def destroy_node(task: Task) -> None:
    """Delete the node with all that belongs to it, or raise the reason against it."""
    node_rules.check_deletable(task.node, available_too=CONF.conductor.allow_deleting_available_nodes)
    _forget_inventory(task)
    task.store.nodes.delete_held(task.node)
    LOG.info("Node %s is deleted", task.node.uuid)


def _forget_inventory(task: Task) -> None:
    """Delete what is kept of the node elsewhere; maintenance lets the node go even where that fails."""
    try:
        storage.from_conf().forget(task.node.uuid)
    except IronicError as error:
        if not task.node.maintenance:
            raise
        LOG.warning("Node %s is deleted, but its inventory stays behind: %s", task.node.uuid, error)
