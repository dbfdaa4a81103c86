"""A listener of notifications, which records them as they were sent."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ironic.rpc.notifications import NOTIFIER
from ironic.rpc.notifications.notifier import Notification


class Listener:
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[Notification] = []

    def put(self, notification: Notification) -> None:
        self.heard.append(notification)

    def close(self) -> None:
        pass

    @property
    def events(self) -> list[str]:
        """What happened, in order, without the prefix that all share."""
        return [each.event_type.removeprefix("baremetal.") for each in self.heard]

    def data(self, event: str) -> dict[str, Any]:
        """Return what the last notification of an event carried."""
        payloads = [each.payload for each in self.heard if each.event_type == f"baremetal.{event}"]
        data: dict[str, Any] = payloads[-1]["ironic_object.data"]
        return data


@contextmanager
def listening(least: str = "info") -> Iterator[Listener]:
    """Listen to this process while the block runs."""
    listener = Listener()
    NOTIFIER.open(listener, host="h1", least=least)
    try:
        yield listener
    finally:
        NOTIFIER.close()
