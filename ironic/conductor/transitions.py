"""The single place where a node moves from one provision state to another.

A move writes state, target, time, error and everything else that is pending on the node in one UPDATE, together with
the history row of a failure in one transaction; then it is logged. Which moves exist is core/states.py's business,
who may start one is the flows'. Either all of a move is stored or nothing, in the row and in the record in hand.
"""

import functools
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ironic.conductor import limits
from ironic.conductor.moves import Move
from ironic.conductor.telling_moves import provision_set
from ironic.conf import CONF
from ironic.core.context import RequestContext
from ironic.core.flow import in_state

if TYPE_CHECKING:
    from ironic.db import NodeRecord, Store

LOG = logging.getLogger(__name__)

_FIELDS: Final = ("provision_state", "target_provision_state", "provision_updated_at", "last_error")


@dataclass(frozen=True, slots=True)
class Recorder:
    """Performs moves for one conductor."""

    store: "Store"
    host: str

    def perform(self, context: RequestContext, node: "NodeRecord", move: Move, *, release: bool = False) -> None:
        """Store a move with all that is pending on the node, and give the reservation back with it if asked to.

        ConcurrentActionLimit when the operator's limits leave no room for it.
        """
        self.store.run(lambda _: self._write(context, node, move, release), repeatable=True)

    def _write(self, context: RequestContext, node: "NodeRecord", move: Move, release: bool) -> None:
        limits.admit(self.store, node, move)
        before = {name: getattr(node, name) for name in _FIELDS}
        self.store.after_rollback(functools.partial(_put_back, node, before))
        node.provision_state, node.target_provision_state = move.new, move.target
        node.provision_updated_at, node.last_error = self.store.clock(), move.last_error
        # The node last: a record counts its changes as stored once save() returns, so nothing may fail after it.
        if move.is_failure and CONF.conductor.node_history:
            self._remember(context, node, move)
        provision_set(self.store, context, node, move)
        if release:
            self.store.nodes.save_and_release(node)
        else:
            node.save()
        self.store.after_commit(functools.partial(_log, node.uuid, move))

    def _remember(self, context: RequestContext, node: "NodeRecord", move: Move) -> None:
        flow = in_state(move.old)
        self.store.history.add(
            node.id,
            event=move.last_error or "",
            event_type=flow.topic if flow else "transition",
            severity="ERROR",
            conductor=self.host,
            user=context.user_id,
            project=context.project_id,
            state=move.old,
            target=move.old_target,
        )


def _put_back(node: "NodeRecord", before: Mapping[str, object]) -> None:
    for name, value in before.items():
        setattr(node, name, value)


def _log(uuid: str, move: Move) -> None:
    if move.is_failure:
        text = "Node %s moved from state '%s' to '%s' on event '%s' (target '%s'): %s"
        LOG.error(text, uuid, move.old, move.new, move.event, move.target, move.last_error)
    else:
        text = "Node %s moved from state '%s' to '%s' on event '%s' (target '%s')"
        LOG.info(text, uuid, move.old, move.new, move.event, move.target)
