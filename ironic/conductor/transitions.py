"""State transitions: decide where an event takes a node, check the concurrency limit, store it, notify.

This is the only module that moves a node from one provision state to another; which moves exist is said in
core/flows/states.py, and who may start one is said in the flows. A move writes state, target, time, error and
everything else that is pending on the node in one UPDATE, together with the history row of a failure in one
transaction. After the commit it is logged and listeners are notified. Either all of a move is stored or nothing, in the
row and in the record.

The limits of how many nodes may be busy with the same operation at once, over all conductors, are checked inside the
transaction that stores the move. Transactions that count exclude each other, so that concurrent requests can't exceed
a limit together, whichever conductors take them.

Cleaning and servicing that fail take the node into maintenance with a fault and a reason (S55), so that no user gets a
half-cleaned machine; other failures are in state and ``last_error`` alone. An operator ends the maintenance, which
clears the fault; only power failures, which power synchronisation records, end when the BMC answers again.
"""

import functools
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironic.conductor import awaited_ramdisk
from ironic.conf import CONF
from ironic.core.context import RequestContext
from ironic.core.errors import ConcurrentActionLimit, InvalidState
from ironic.core.flows import states
from ironic.core.flows.flow import FLOWS, in_state
from ironic.core.secrets.masking import masked_text
from ironic.core.texts.syntax import one_line
from ironic.rpc import notifications
from ironic.rpc.notifications import END, ERROR, NOTIFIER, START, SUCCESS, subjects
from ironic.rpc.notifications.notifier import CONDUCTOR

if TYPE_CHECKING:
    from ironic.db import NodeRecord, Store

LOG = logging.getLogger(__name__)

# These events continue an operation, whose target stays (manual cleaning aims at manageable); any other event starts an
# operation with a target of its own.
_SAME_OPERATION: Final = frozenset({"wait", "resume", "hold", "unhold", "fail", "abort"})

_FAILURES: Final = frozenset({"fail", "abort"})
_ERROR_EVENTS: Final = frozenset({"fail", "error"})

# The states that count against a limit, and the events that bring one node more into them.
_COUNTED: Final = {
    limit: tuple(state for flow in FLOWS if flow.limit == limit for state in flow.busy)
    for limit in {flow.limit for flow in FLOWS}
    if limit is not None
}
_ENTERING: Final = {verb.event: flow.limit for flow in FLOWS if flow.limit for verb in flow.verbs}

_FIELDS: Final = (
    "provision_state",
    "target_provision_state",
    "target_power_state",
    "provision_updated_at",
    "last_error",
)


@dataclass(frozen=True, slots=True)
class Move:
    """One move as it was decided; ``last_error`` is the node's error afterwards."""

    event: str
    old: str
    old_target: str | None
    new: str
    target: str | None
    last_error: str | None

    @property
    def is_failure(self) -> bool:
        """Return whether the move goes into node history."""
        return self.event in _FAILURES and self.last_error is not None


def decide(node: "NodeRecord", event: str, *, target: str | None, last_error: str | None, clear_error: bool) -> Move:
    """Return the move that an event makes, or raise InvalidState; changes nothing."""
    old = node.provision_state
    if not states.allows(old, event):
        text = f"Event '{event}' is not possible for node {node.uuid} in state '{old}'."
        raise InvalidState(text, node=node.uuid, state=old, event=event)
    new = states.after(old, event)
    kept = node.target_provision_state if event in _SAME_OPERATION else None
    error = shortened(last_error) if last_error else (None if clear_error or event == "done" else node.last_error)
    return Move(event, old, node.target_provision_state, new, states.target_after(new, target or kept), error)


def shortened(text: str) -> str:
    """Return a text as an error column holds it: in one line, masked before it is cut (half a URL looks like none).

    Whatever the text of a driver has in it, it can be stored then: a failure must not fail for its reason.
    """
    return one_line(masked_text(text)[: CONF.log_in_db_max_size])


def set_fault(node: "NodeRecord", reason: str) -> None:
    """Take a node whose cleaning or servicing fails into maintenance; the caller saves (a state move does)."""
    if fault := _fault_of(node):
        node.maintenance, node.maintenance_reason, node.fault = True, shortened(reason), fault


def begin_failure(node: "NodeRecord") -> None:
    """Set the fault alone, before the clean-up after a failure, which may save the node and be cut short.

    Maintenance comes with the move: in maintenance a wait has no end.
    """
    node.fault = _fault_of(node) or node.fault


def is_failing(node: "NodeRecord") -> bool:
    """Return whether a failure has begun and its move has not been made."""
    return node.fault is not None and node.fault == _fault_of(node) and not node.maintenance


def _fault_of(node: "NodeRecord") -> str | None:
    """Return the fault that a failure of the present operation is; None if it is none of the machine."""
    flow = in_state(node.provision_state)
    return flow.fault if flow is not None and node.provision_state in flow.busy else None


@dataclass(frozen=True, slots=True)
class Recorder:
    """Stores the moves of one conductor."""

    store: "Store"
    host: str

    def perform(self, context: RequestContext, node: "NodeRecord", move: Move, *, release: bool = False) -> None:
        """Store a move with all that is pending on the node; with ``release`` the same UPDATE releases the lock.

        Raises ConcurrentActionLimit when the operator's limits leave no room for it.
        """
        self.store.run(lambda _: self._write(context, node, move, release), repeatable=True)

    def _write(self, context: RequestContext, node: "NodeRecord", move: Move, release: bool) -> None:
        check_limit(self.store, node, move)
        before = {name: getattr(node, name) for name in _FIELDS}
        before |= {"driver_internal_info": dict(node.driver_internal_info), "pending_waits": node.pending_waits}

        def put_back() -> None:
            for name, value in before.items():
                setattr(node, name, value)

        self.store.after_rollback(put_back)
        node.provision_state, node.target_provision_state = move.new, move.target
        node.provision_updated_at, node.last_error = self.store.clock.now(), move.last_error
        # Power changes end before a move; the target of one that was only announced must not keep synchronisation away.
        node.target_power_state = None
        awaited_ramdisk.note_move(node, move.old)
        # The node is saved last: a record counts its changes as stored once save() returns, so nothing may fail after.
        if move.is_failure and CONF.conductor.node_history:
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
        notify_provision_set(self.store, context, node, move)
        if release:
            self.store.nodes.save_and_release(node)
        else:
            node.save()
        self.store.after_commit(functools.partial(_log, node.uuid, move))


def check_limit(store: "Store", node: "NodeRecord", move: Move) -> None:
    """Raise ConcurrentActionLimit when there is no room for the move; the first statement of its transaction."""
    limit = _ENTERING.get(move.event)
    if limit is None or move.old in _COUNTED[limit]:
        # A node that is in one of the states is counted already.
        return
    filters: dict[str, Any] = {"provision_state_in": _COUNTED[limit]}
    if CONF.conductor.max_concurrent_per_conductor_group:
        filters["conductor_group"] = node.conductor_group
    count = store.nodes.count_others(node, **filters)
    if count >= CONF.conductor[limit.option]:
        raise ConcurrentActionLimit(count=count, operation=limit.operation, option=f"[conductor]{limit.option}")


def notify_provision_set(store: "Store", context: RequestContext, node: "NodeRecord", move: Move) -> None:
    """Notify of a state move once the open transaction, in which it is written, is committed."""
    if not NOTIFIER.on:
        return
    values = subjects.node(store, node) | {
        "event": move.event,
        "previous_provision_state": move.old,
        "previous_target_provision_state": move.old_target,
    }
    notify = functools.partial(NOTIFIER.emit, CONDUCTOR, context, "node.provision_set", status_of(move))
    store.after_commit(lambda: notify(notifications.NODE_SET_PROVISION, values))


def status_of(move: Move) -> str:
    """Return the notification's status: the move failed, left a stable state, reached one, or continued in between."""
    if move.event in _ERROR_EVENTS:
        return ERROR
    was, is_now = move.old in states.STABLE, move.new in states.STABLE
    return SUCCESS if was == is_now else START if was else END


def _log(uuid: str, move: Move) -> None:
    if move.is_failure:
        text = "Node %s moved from state '%s' to '%s' on event '%s' (target '%s'): %s"
        # A user has asked for the end: nothing is at fault.
        level = logging.INFO if move.event == "abort" else logging.ERROR
        LOG.log(level, text, uuid, move.old, move.new, move.event, move.target, move.last_error)
    else:
        text = "Node %s moved from state '%s' to '%s' on event '%s' (target '%s')"
        LOG.info(text, uuid, move.old, move.new, move.event, move.target)
