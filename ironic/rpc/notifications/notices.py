"""The one place of a process where notifications are handed in.

Off unless somebody opens it, and then nothing may be built: callers ask ``on`` first. What is handed in has reached the
sender when `tell` returns, not the listener.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from ironic.core.context import RequestContext
from ironic.rpc.notifications.payloads import Payload

if TYPE_CHECKING:
    from ironic.db import Store

START, END, SUCCESS, ERROR = "start", "end", "success", "error"

_LEVELS: Final = ("debug", "info", "warning", "error", "critical")

API: Final = "ironic-api"
CONDUCTOR: Final = "ironic-conductor"


@dataclass(frozen=True, slots=True)
class Notification:
    """One notification on its way."""

    publisher: str
    level: str
    context: Mapping[str, Any]
    event_type: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Subject:
    """A kind of thing: its name in event types, its payload, how to read what goes into that, and its table."""

    kind: str
    payload: Payload
    read: "Callable[[Store, str | int], dict[str, Any]]"
    table: str


class Sender(Protocol):
    """Takes notifications away."""

    def put(self, notification: Notification) -> None:
        """Take one; never waits."""

    def close(self) -> None:
        """Get rid of what was taken, for a moment, and end."""


class Notices:
    """Where this process hands in what it has to tell."""

    def __init__(self) -> None:
        self.on = False
        self._sender: Sender | None = None
        self._host = ""
        self._least = 0

    def open(self, sender: Sender, *, host: str, least: str) -> None:
        """Begin to hand on what is at least of this level."""
        self._sender, self._host, self._least = sender, host, _LEVELS.index(least)
        self.on = True

    def close(self) -> None:
        """Hand on nothing any more."""
        sender, self._sender = self._sender, None
        self.on = False
        if sender is not None:
            sender.close()

    def tell(
        self,
        service: str,
        context: RequestContext,
        event: str,
        status: str,
        payload: Payload,
        values: Mapping[str, object],
    ) -> None:
        """Hand in one notification; ``event`` is a kind of thing and what happens to it, as in ``node.update``."""
        level = "error" if status == ERROR else "info"
        sender = self._sender
        if sender is None or _LEVELS.index(level) < self._least:
            return
        event_type = f"baremetal.{event}.{status}"
        publisher = f"{service}.{self._host}"
        sender.put(Notification(publisher, level, context.to_dict(), event_type, payload.of(values)))


NOTICES: Final = Notices()
