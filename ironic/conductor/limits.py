"""How many nodes may be busy with the same thing at once, over all conductors.

Asked for while a node moves, inside the transaction that stores the move: who counts goes in before anybody else may
count, so that requests of the same moment can't exceed a limit together, whichever conductors take them.
"""

from typing import TYPE_CHECKING, Any, Final

from ironic.conductor.moves import Move
from ironic.conf import CONF
from ironic.core.errors import ConcurrentActionLimit
from ironic.core.flow import FLOWS

if TYPE_CHECKING:
    from ironic.db import NodeRecord, Store


# The states that count against a limit, and the events that bring one node more into them.
_COUNTED: Final = {
    limit: tuple(state for flow in FLOWS if flow.limit == limit for state in flow.busy)
    for limit in {flow.limit for flow in FLOWS}
    if limit is not None
}
_ENTERING: Final = {verb.event: flow.limit for flow in FLOWS if flow.limit for verb in flow.verbs}


def admit(store: "Store", node: "NodeRecord", move: Move) -> None:
    """Raise ConcurrentActionLimit when there is no room for the move; the first thing of its transaction."""
    limit = _ENTERING.get(move.event)
    if limit is None or move.old in _COUNTED[limit]:
        # A node that is in one of the states has its place.
        return
    filters: dict[str, Any] = {"provision_state_in": _COUNTED[limit]}
    if CONF.conductor.max_concurrent_per_conductor_group:
        filters["conductor_group"] = node.conductor_group
    count = store.nodes.count_others(node, **filters)
    if count >= CONF.conductor[limit.option]:
        raise ConcurrentActionLimit(count=count, operation=limit.operation, option=f"[conductor]{limit.option}")
