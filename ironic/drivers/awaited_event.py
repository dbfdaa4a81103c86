"""What a node that waits is waiting for, in words for people: on the node, in its history and in the log.

A driver announces it as it lets a node wait. It stands in driver_internal_info, and the conductor writes it into node
history once. It is forgotten when the work goes on.
"""

from datetime import datetime, timedelta
from typing import Final

from ironic.core import secrets
from ironic.core.values import utc_now
from ironic.drivers.task import Node

KEY: Final = "waiting_for"
_LONGEST: Final = 300


def announce(node: Node, what: str, seconds: float | None) -> None:
    """Put on a node what it waits for and for how long at most, None without an end; the caller saves the node."""
    text = what if len(what) <= _LONGEST else f"{what[:_LONGEST]}..."
    if seconds:
        text += f", until {shown(utc_now() + timedelta(seconds=seconds))}"
    node.set_driver_internal_info(KEY, secrets.masked_text(text))


def text_of(node: Node) -> str | None:
    """Return what a node waits for."""
    found = node.driver_internal_info.get(KEY)
    return found if isinstance(found, str) and found else None


def forget(node: Node) -> None:
    """Remove what the node does not wait for any more; the caller saves the node."""
    if KEY in node.driver_internal_info:
        node.del_driver_internal_info(KEY)


def shown(moment: datetime) -> str:
    """Return a moment, UTC without time zone, as people read it."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
