"""Notifications are emitted here; nothing is sent unless the operator enables them.

Callers check ``on`` before they build a payload. When `emit` returns, the sender has the notification, not yet the
listener.
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
    """One notification as it is sent."""

    publisher: str
    level: str
    context: Mapping[str, Any]
    event_type: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Subject:
    """A kind of resource: its name in event types, its payload, what reads the payload's values, and its table."""

    kind: str
    payload: Payload
    read: "Callable[[Store, str | int], dict[str, Any]]"
    table: str


class Sender(Protocol):
    """Sends notifications."""

    def put(self, notification: Notification) -> None:
        """Queue a notification; never waits."""

    def close(self) -> None:
        """Send the queued notifications, for a short time, and end."""


class Notifier:
    """Emits the notifications of this process."""

    def __init__(self) -> None:
        self.on = False
        self._sender: Sender | None = None
        self._host = ""
        self._least = 0

    def open(self, sender: Sender, *, host: str, least: str) -> None:
        """Begin to emit notifications of this level and higher ones."""
        self._sender, self._host, self._least = sender, host, _LEVELS.index(least)
        self.on = True

    def close(self) -> None:
        """Emit no more notifications, and close the sender."""
        sender, self._sender = self._sender, None
        self.on = False
        if sender is not None:
            sender.close()

    def emit(
        self,
        service: str,
        context: RequestContext,
        event: str,
        status: str,
        payload: Payload,
        values: Mapping[str, object],
    ) -> None:
        """Emit one notification; ``event`` is a kind of resource and what happens to it, as in ``node.update``."""
        level = "error" if status == ERROR else "info"
        sender = self._sender
        if sender is None or _LEVELS.index(level) < self._least:
            return
        event_type = f"baremetal.{event}.{status}"
        publisher = f"{service}.{self._host}"
        sender.put(Notification(publisher, level, context.to_dict(), event_type, payload.of(values)))


NOTIFIER: Final = Notifier()
