"""The single place where a node moves from one provision state to another.

A move writes state, target, time, error and everything else that is pending on the node in one UPDATE, together with
the history row of a failure in one transaction; then it is logged. Which moves exist is core/states.py's business,
who may start one is the flows'. Either all of a move is stored or nothing, in the row and in the record in hand.
"""

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ironic.conductor import telling
from ironic.conf import CONF
from ironic.core import states
from ironic.core.context import RequestContext
from ironic.core.errors import InvalidState

if TYPE_CHECKING:
    from ironic.db import NodeRecord, Store

LOG = logging.getLogger(__name__)

# Inside one operation the target asked for at its start stays (manual cleaning aims at manageable); any other event
# begins something new with a target of its own.
_SAME_OPERATION: Final = frozenset({"wait", "resume", "hold", "unhold", "fail", "abort"})

_FAILURES: Final = frozenset({"fail", "abort"})

_FIELDS: Final = ("provision_state", "target_provision_state", "provision_updated_at", "last_error")

# What a failure is filed under in node history, by the state it happened in.
_EVENT_TYPES: Final = {
    states.VERIFYING: "verify",
    states.DEPLOYING: "deploying",
    states.DEPLOYWAIT: "deploying",
    states.DEPLOYHOLD: "deploying",
    states.CLEANING: "cleaning",
    states.CLEANWAIT: "cleaning",
    states.CLEANHOLD: "cleaning",
    states.DELETING: "unprovision",
    states.INSPECTING: "introspection",
    states.INSPECTWAIT: "introspection",
    states.ADOPTING: "adoption",
    states.RESCUING: "rescue",
    states.RESCUEWAIT: "rescue",
    states.UNRESCUING: "rescue",
    states.SERVICING: "servicing",
    states.SERVICEWAIT: "servicing",
    states.SERVICEHOLD: "servicing",
}


@dataclass(frozen=True, slots=True)
class Move:
    """One move as it was decided; ``last_error`` is what the node shall carry afterwards."""

    event: str
    old: str
    old_target: str | None
    new: str
    target: str | None
    last_error: str | None

    @property
    def is_failure(self) -> bool:
        """Tell whether the move goes into node history."""
        return self.event in _FAILURES and self.last_error is not None


def decide(node: "NodeRecord", event: str, *, target: str | None, last_error: str | None, clear_error: bool) -> Move:
    """Work out where an event takes a node, or raise InvalidState; touches nothing."""
    old = node.provision_state
    if not states.allows(old, event):
        text = f"Event '{event}' is not possible for node {node.uuid} in state '{old}'."
        raise InvalidState(text, node=node.uuid, state=old, event=event)
    new = states.after(old, event)
    kept = node.target_provision_state if event in _SAME_OPERATION else None
    error = shortened(last_error) if last_error else (None if clear_error or event == "done" else node.last_error)
    return Move(event, old, node.target_provision_state, new, states.target_after(new, target or kept), error)


def shortened(text: str) -> str:
    """Cut a text to what an error column holds."""
    return text[: CONF.log_in_db_max_size]


@dataclass(frozen=True, slots=True)
class Recorder:
    """Performs moves for one conductor."""

    store: "Store"
    host: str

    def perform(self, context: RequestContext, node: "NodeRecord", move: Move, *, release: bool = False) -> None:
        """Store a move with all that is pending on the node, and give the reservation back with it if asked to."""
        before = {name: getattr(node, name) for name in _FIELDS}
        node.provision_state, node.target_provision_state = move.new, move.target
        node.provision_updated_at, node.last_error = self.store.clock(), move.last_error
        try:
            self._write(context, node, move, release)
        except Exception:
            for name, value in before.items():
                setattr(node, name, value)
            raise
        _log(node, move)

    def _write(self, context: RequestContext, node: "NodeRecord", move: Move, release: bool) -> None:
        # The node last: a record counts its changes as stored once save() returns, so nothing may fail after it.
        with self.store.writing():
            if move.is_failure and CONF.conductor.node_history:
                self._remember(context, node, move)
            telling.provision_set(self.store, context, node, move)
            if release:
                self.store.nodes.save_and_release(node)
            else:
                node.save()

    def _remember(self, context: RequestContext, node: "NodeRecord", move: Move) -> None:
        self.store.history.add(
            node.id,
            event=move.last_error or "",
            event_type=_EVENT_TYPES.get(move.old, "transition"),
            severity="ERROR",
            conductor=self.host,
            user=context.user_id,
            project=context.project_id,
            state=move.old,
            target=move.old_target,
        )


def _log(node: "NodeRecord", move: Move) -> None:
    if move.is_failure:
        text = "Node %s moved from state '%s' to '%s' on event '%s' (target '%s'): %s"
        LOG.error(text, node.uuid, move.old, move.new, move.event, move.target, move.last_error)
    else:
        text = "Node %s moved from state '%s' to '%s' on event '%s' (target '%s')"
        LOG.info(text, node.uuid, move.old, move.new, move.event, move.target)
