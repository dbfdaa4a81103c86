"""What a node shows of a wait for its ramdisk: what shall come, since when it has been awaited, and until when.

It stands where drivers write what they wait for (`drivers/awaited_event.py`), and never in place of that.
"""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from ironic.conf import CONF
from ironic.core import states
from ironic.core.flow import in_state
from ironic.core.step_cursor import StepCursor
from ironic.drivers import awaited_event

if TYPE_CHECKING:
    from ironic.db import NodeRecord

_BEGINNING: Final = "the ramdisk: "


def announce(node: "NodeRecord") -> None:
    """Put on a node in a waiting state that its ramdisk is awaited, if nothing else is; the caller saves the node.

    Called again it counts the time anew. Without a time limit it has no end.
    """
    flow = in_state(node.provision_state)
    if flow is None or flow.wait is None or not (awaited_event.text_of(node) or _BEGINNING).startswith(_BEGINNING):
        return
    cursor = StepCursor.of(node, flow)
    if cursor.is_polled or cursor.until is not None or cursor.has_no_ramdisk:
        awaited_event.forget(node)
        return
    step = f" about step {cursor.current.name}" if cursor.current else ""
    since: datetime | None = getattr(node, flow.wait.since) or node.provision_updated_at
    if since is None:
        return
    # A node in maintenance may wait for ever.
    limit: int = 0 if node.maintenance else CONF.conductor[flow.wait.option]
    until = f", until {awaited_event.shown(since + timedelta(seconds=limit))}" if limit else ""
    text = f"{_BEGINNING}{flow.wait.expected}{step}, since {awaited_event.shown(since)}{until}"
    awaited_event.announce(node, text, None)


def note_move(node: "NodeRecord", old: str) -> None:
    """Announce the wait of a node that has just moved into a waiting state, and forget what one waited for before."""
    if old in states.WAITING:
        awaited_event.forget(node)
    if node.provision_state in states.WAITING:
        announce(node)
