"""When a node may be deleted, and deleting it. Source: facts/state_machine.yaml, permissions.node_delete."""

import logging

from ironic.conductor.answering import answers
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import states
from ironic.core.errors import InvalidState, IronicError, NodeAssociated, NodeProtected
from ironic.inspection import storage

LOG = logging.getLogger(__name__)


@answers
def destroy_node(task: Task) -> None:
    """Delete the node with all that belongs to it, or raise the reason against it."""
    _check(task)
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


def _check(task: Task) -> None:
    """A protected node stays whatever happens; maintenance lifts every other rule."""
    node = task.node
    if node.protected:
        raise NodeProtected(node=node.uuid)
    if node.maintenance:
        return
    if node.instance_uuid is not None:
        raise NodeAssociated(node=node.uuid, instance=node.instance_uuid)
    if node.provision_state not in _deletable():
        text = (
            f"Node {node.uuid} can't be deleted in state '{node.provision_state}'. Bring it into one of "
            f"{', '.join(sorted(_deletable()))}, or into maintenance, first."
        )
        raise InvalidState(text, node=node.uuid, state=node.provision_state, event="delete")


def _deletable() -> frozenset[str]:
    if CONF.conductor.allow_deleting_available_nodes:
        return states.DELETABLE | {states.AVAILABLE}
    return states.DELETABLE
