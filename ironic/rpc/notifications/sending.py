"""Sending notifications by oslo.messaging, beside the work they tell about.

A thread of its own sends them one after the other; while the broker is away they wait in a queue, and when that is full
the newest are dropped and counted. Nothing that happens here delays or fails what is told about.
"""

import logging
import queue
import threading
import time
from typing import Any, Final

from oslo_config import cfg

from ironic.rpc.library import oslo_messaging
from ironic.rpc.notifications.notices import NOTICES, Notification

LOG = logging.getLogger(__name__)

# Some minutes of a busy site; about 10 MiB.
_MOST: Final = 2000
# Seconds that a process which ends gives to what was not sent yet.
_CLOSING: Final = 5.0
_SAY_SECONDS: Final = 60.0


def open_from(conf: cfg.ConfigOpts) -> None:
    """Begin to hand on notifications if the options ask for any; without a driver nothing is built either."""
    if conf.notification_level is None:
        return
    sender = BusSender(conf)
    if not conf.oslo_messaging_notifications.driver:
        LOG.warning(
            "notification_level is set but [oslo_messaging_notifications]driver is not, so no notification is sent. "
            "Name one (messagingv2), or unset the level"
        )
        return
    NOTICES.open(sender, host=conf.host, least=conf.notification_level)


class BusSender:
    """Sends to the topics of [DEFAULT]versioned_notifications_topics."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        """Read the options; the driver and its address are those of [oslo_messaging_notifications]."""
        transport = oslo_messaging.get_notification_transport(conf)
        self._notifier = oslo_messaging.Notifier(transport, topics=conf.versioned_notifications_topics)
        self._waiting: queue.Queue[Notification | None] = queue.Queue(_MOST)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._dropped, self._said = 0, float("-inf")

    def put(self, notification: Notification) -> None:
        """Take one; never waits."""
        if self._thread is None:
            self._start()
        try:
            self._waiting.put_nowait(notification)
        except queue.Full:
            self._drop()

    def close(self) -> None:
        """Send what was taken, for a few seconds at most."""
        if self._thread is not None:
            try:
                self._waiting.put(None, timeout=_CLOSING)
            except queue.Full:
                LOG.warning("%d notifications were not sent before the end", self._waiting.qsize())
                return
            self._thread.join(_CLOSING)

    def _start(self) -> None:
        # Not before there is something to send: servers that fork do so before that.
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._send_all, name="notifications", daemon=True)
                self._thread.start()

    def _drop(self) -> None:
        self._dropped += 1
        now = time.monotonic()
        if now - self._said >= _SAY_SECONDS:
            self._said = now
            LOG.error("Notifications can't be sent as fast as they come; %d were dropped so far", self._dropped)

    def _send_all(self) -> None:
        while (notification := self._waiting.get()) is not None:
            try:
                self._send(notification)
            except Exception:
                LOG.exception("Notification %s could not be sent", notification.event_type)

    def _send(self, notification: Notification) -> None:
        notifier: Any = self._notifier.prepare(publisher_id=notification.publisher)
        send = getattr(notifier, notification.level)
        send(dict(notification.context), notification.event_type, dict(notification.payload))
