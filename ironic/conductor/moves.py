"""One move of a node from a provision state to another: where an event takes it and what the node then says.

Decided here, stored by `transitions`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ironic.conf import CONF
from ironic.core import states
from ironic.core.errors import InvalidState
from ironic.core.plain_text import one_line
from ironic.core.secrets import masked_text

if TYPE_CHECKING:
    from ironic.db import NodeRecord

# Inside one operation the target asked for at its start stays (manual cleaning aims at manageable); any other event
# begins something new with a target of its own.
_SAME_OPERATION: Final = frozenset({"wait", "resume", "hold", "unhold", "fail", "abort"})

_FAILURES: Final = frozenset({"fail", "abort"})


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
    """Return a text as an error column holds it: without secrets, in one line, cut last: half a URL looks like none."""
    return one_line(masked_text(text)[: CONF.log_in_db_max_size])
