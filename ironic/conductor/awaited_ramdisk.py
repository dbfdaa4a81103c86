"""What a node shows of a wait for its ramdisk: what shall come, since when it has been awaited, and until when.

It is shown where the words of other waits are (`core/flows/node_waits.py`), and never in place of them. No row is
stored for it: the state of the node says it, and every heartbeat would change the row.
"""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ironic.conf import CONF
from ironic.core.flows import node_waits, states
from ironic.core.flows.flow import in_state
from ironic.core.flows.step_cursor import StepCursor

if TYPE_CHECKING:
    from ironic.db import NodeRecord


def announce(node: "NodeRecord") -> None:
    """Put on a node in a waiting state that its ramdisk is awaited, if nothing else is; the caller saves the node.

    Called again it counts the time anew. Without a time limit it has no end.
    """
    flow = in_state(node.provision_state)
    if flow is None or flow.wait is None or node_waits.open_kinds(node):
        return
    cursor = StepCursor.of(node, flow)
    if cursor.is_polled or cursor.has_no_ramdisk:
        node_waits.say(node, None)
        return
    step = f" about step {cursor.current.name}" if cursor.current else ""
    since: datetime | None = getattr(node, flow.wait.since) or node.provision_updated_at
    if since is None:
        return
    # A node in maintenance may wait for ever.
    limit: int = 0 if node.maintenance else CONF.conductor[flow.wait.option]
    until = f", until {node_waits.shown(since + timedelta(seconds=limit))}" if limit else ""
    node_waits.say(node, f"the ramdisk: {flow.wait.expected}{step}, since {node_waits.shown(since)}{until}")


def note_move(node: "NodeRecord", old: str) -> None:
    """Announce the wait of a node that has just moved into a waiting state; any other move ends what it waited for."""
    if node.provision_state in states.WAITING:
        announce(node)
        return
    node_waits.end_all(node)
    if old in states.WAITING:
        node_waits.say(node, None)
