"""Sends notifications through oslo.messaging, in a thread of its own.

Without a broker they wait in a queue; when it is full, new ones are dropped and counted. So notifications never delay
or fail the work that they are about.
"""

import logging
import queue
import threading
from collections.abc import Sequence
from typing import Any, Final

from oslo_config import cfg

from ironic.core.clock import CLOCK, Clock
from ironic.core.threads import THREADS, Threads
from ironic.rpc.library import oslo_messaging
from ironic.rpc.notifications.notifier import NOTIFIER, Notification
from ironic.rpc.notifications.readings import READINGS

LOG = logging.getLogger(__name__)


# Notifications that may wait: those of some minutes of a busy site, about 10 MiB.
_QUEUE_SIZE: Final = 2000
# Sensor readings that may wait; those of a large machine take 50 KiB.
_READINGS_QUEUE_SIZE: Final = 200
# Seconds at the end of the process for notifications that were not sent yet.
_CLOSE_SECONDS: Final = 5.0
# Seconds between two log messages about dropped notifications.
_LOG_SECONDS: Final = 60.0


def open_from(conf: cfg.ConfigOpts, clock: Clock = CLOCK, threads: Threads = THREADS) -> None:
    """Enable the notifier if the options name a level and a driver."""
    if conf.notification_level is None:
        return
    sender = BusSender(conf, conf.versioned_notifications_topics, _QUEUE_SIZE, clock=clock, threads=threads)
    if not conf.oslo_messaging_notifications.driver:
        LOG.warning(
            "notification_level is set but [oslo_messaging_notifications]driver is not, so no notification is sent. "
            "Name one (messagingv2), or unset the level"
        )
        return
    NOTIFIER.open(sender, host=conf.host, least=conf.notification_level)


def open_readings_from(conf: cfg.ConfigOpts, clock: Clock = CLOCK, threads: Threads = THREADS) -> None:
    """Enable the notifier of sensor readings if the options name a driver."""
    sender = BusSender(conf, None, _READINGS_QUEUE_SIZE, clock=clock, threads=threads)
    if not conf.oslo_messaging_notifications.driver:
        LOG.warning(
            "[sensor_data]send_sensor_data is set but [oslo_messaging_notifications]driver is not, so no sensor is "
            "read. Name one (messagingv2), or unset the option"
        )
        return
    READINGS.open(sender, host=conf.host)


class BusSender:
    """Sends notifications to some topics."""

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        topics: Sequence[str] | None,
        most: int,
        *,
        clock: Clock = CLOCK,
        threads: Threads = THREADS,
    ) -> None:
        """Read the options; the driver and its URL are those of [oslo_messaging_notifications].

        Without ``topics`` they are those of this group too. At most ``most`` notifications wait to be sent.
        """
        self._clock, self._threads = clock, threads
        transport = oslo_messaging.get_notification_transport(conf)
        self._notifier = oslo_messaging.Notifier(transport, topics=topics)
        self._queue: queue.Queue[Notification | None] = queue.Queue(most)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._dropped, self._logged_at = 0, float("-inf")

    def put(self, notification: Notification) -> None:
        """Queue a notification, or drop it if the queue is full; never waits."""
        if self._thread is None:
            # The thread starts with the first notification: servers that fork do so before.
            with self._starting:
                if self._thread is None:
                    self._thread = self._threads.make("notifications", self._send_all)
                    self._thread.start()
        try:
            self._queue.put_nowait(notification)
        except queue.Full:
            self._dropped += 1
            now = self._clock.monotonic()
            if now - self._logged_at >= _LOG_SECONDS:
                self._logged_at = now
                LOG.error("Notifications can't be sent as fast as they come; %d were dropped so far", self._dropped)

    def close(self) -> None:
        """Send the queued notifications, for a few seconds at most."""
        if self._thread is not None:
            try:
                self._queue.put(None, timeout=_CLOSE_SECONDS)
            except queue.Full:
                LOG.warning("%d notifications were not sent before the end", self._queue.qsize())
                return
            self._thread.join(_CLOSE_SECONDS)

    def _send_all(self) -> None:
        while (notification := self._queue.get()) is not None:
            try:
                notifier: Any = self._notifier.prepare(publisher_id=notification.publisher)
                send = getattr(notifier, notification.level)
                send(dict(notification.context), notification.event_type, dict(notification.payload))
            except Exception:
                LOG.exception("Notification %s could not be sent", notification.event_type)
