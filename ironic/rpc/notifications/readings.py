"""Sensor readings and the metrics of a conductor as notifications.

They are apart from those about changes: no level applies, and they go to [oslo_messaging_notifications]topics, where
programs such as an exporter for Prometheus read them. Callers check ``on`` before they read a sensor.

Source: doc/contract/drivers.md#notifications
"""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from ironic.core.context import service_context
from ironic.rpc.notifications.notifier import Notification, Sender

if TYPE_CHECKING:
    from ironic.db import NodeRecord

# Listeners know this publisher, without a service in front of the host.
_PUBLISHER: Final = "None.{host}"


class ReadingsNotifier:
    """Emits the readings of this process."""

    def __init__(self) -> None:
        self.on = False
        self._sender: Sender | None = None
        self._host = ""

    def open(self, sender: Sender, *, host: str) -> None:
        """Begin to emit readings."""
        self._sender, self._host, self.on = sender, host, True

    def close(self) -> None:
        """Emit no more readings, and close the sender."""
        sender, self._sender = self._sender, None
        self.on = False
        if sender is not None:
            sender.close()

    def emit_node(self, node: "NodeRecord", readings: Mapping[str, object], read_at: datetime) -> None:
        """Emit the readings of a machine by type and name of the sensor; ``read_at`` is in UTC, without a zone."""
        whose = {"instance_uuid": node.instance_uuid, "node_uuid": node.uuid, "node_name": node.name}
        self._emit(f"hardware.{node.driver}.metrics", whose, readings, read_at)

    def emit_conductor(self, metrics: Mapping[str, object], read_at: datetime) -> None:
        """Emit the metrics of this conductor by name."""
        self._emit("ironic.metrics", {"hostname": self._host}, metrics, read_at)

    def _emit(
        self, event_type: str, whose: Mapping[str, object], readings: Mapping[str, object], read_at: datetime
    ) -> None:
        sender = self._sender
        if sender is None:
            return
        message = {
            "message_id": str(uuid.uuid4()),
            **whose,
            "timestamp": read_at.isoformat(timespec="microseconds"),
            "event_type": f"{event_type}.update",
            "payload": dict(readings),
        }
        publisher = _PUBLISHER.format(host=self._host)
        sender.put(Notification(publisher, "info", service_context().to_dict(), event_type, message))


READINGS: Final = ReadingsNotifier()
