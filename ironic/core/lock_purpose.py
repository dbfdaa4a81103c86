"""Whose work a lock is, as it is written beside the lock: a user's, or something that nobody asked for.

Whoever meets a lock of background work waits for it instead of telling a user: it holds nodes for moments only.
"""

from typing import Final

from ironic.core.errors import NodeLocked

_MARK: Final = "background: "


def in_background(purpose: str) -> str:
    """Return a purpose marked as background work."""
    return _MARK + purpose


def is_in_background(locked: NodeLocked) -> bool:
    """Tell whether a node is locked by background work."""
    return str(locked.facts.get("purpose") or "").startswith(_MARK)
