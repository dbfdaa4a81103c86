"""How many nodes may be busy with the same thing at once, over all conductors.

Asked for while a node moves, inside the transaction that stores the move: who counts goes in before anybody else may
count, so that requests of the same moment can't exceed a limit together, whichever conductors take them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironic.conductor.moves import Move
from ironic.conf import CONF
from ironic.core import states
from ironic.core.errors import ConcurrentActionLimit

if TYPE_CHECKING:
    from ironic.db import NodeRecord, Store


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit: the option that holds it and the states that count."""

    operation: str
    option: str
    states: tuple[str, ...]


DEPLOYMENTS: Final = Limit("deployment", "max_concurrent_deploy", (states.DEPLOYING, states.DEPLOYWAIT))
CLEANINGS: Final = Limit("cleaning", "max_concurrent_clean", (states.DELETING, states.CLEANING, states.CLEANWAIT))

# The events that bring one node more into the states that count; a node that is in them already has its place.
_ENTERING: Final[Mapping[str, Limit]] = {
    "deploy": DEPLOYMENTS,
    "rebuild": DEPLOYMENTS,
    "provide": CLEANINGS,
    "clean": CLEANINGS,
    "delete": CLEANINGS,
}


def admit(store: "Store", node: "NodeRecord", move: Move) -> None:
    """Raise ConcurrentActionLimit when there is no room for the move; the first thing of its transaction."""
    limit = _ENTERING.get(move.event)
    if limit is None or move.old in limit.states:
        return
    filters: dict[str, Any] = {"provision_state_in": limit.states}
    if CONF.conductor.max_concurrent_per_conductor_group:
        filters["conductor_group"] = node.conductor_group
    count = store.nodes.count_others(node, **filters)
    if count >= CONF.conductor[limit.option]:
        raise ConcurrentActionLimit(count=count, operation=limit.operation, option=f"[conductor]{limit.option}")
