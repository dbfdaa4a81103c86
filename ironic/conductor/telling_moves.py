"""What a conductor tells those who listen to notifications of a state move, once it is committed."""

import functools
from typing import TYPE_CHECKING, Final

from ironic.conductor.moves import Move
from ironic.core import states
from ironic.core.context import RequestContext
from ironic.rpc import notifications
from ironic.rpc.notifications import END, ERROR, NOTICES, START, SUCCESS, subjects
from ironic.rpc.notifications.notices import CONDUCTOR

if TYPE_CHECKING:
    from ironic.db import NodeRecord, Store

_FAILURES: Final = frozenset({"fail", "error"})


def provision_set(store: "Store", context: RequestContext, node: "NodeRecord", move: Move) -> None:
    """Tell of a state move when the open transaction, in which it is written, is committed."""
    if not NOTICES.on:
        return
    values = subjects.node(store, node) | {
        "event": move.event,
        "previous_provision_state": move.old,
        "previous_target_provision_state": move.old_target,
    }
    tell = functools.partial(NOTICES.tell, CONDUCTOR, context, "node.provision_set", status_of(move))
    store.after_commit(lambda: tell(notifications.NODE_SET_PROVISION, values))


def status_of(move: Move) -> str:
    """Return the status of a move: it failed, left a stable state, reached one, or went on in between."""
    if move.event in _FAILURES:
        return ERROR
    was, is_now = move.old in states.STABLE, move.new in states.STABLE
    return SUCCESS if was == is_now else START if was else END
