"""Sends metrics to a statsd server, in a thread of its own.

The caller only puts a line into a queue: neither a resolver that hangs nor the network delays the work that is
measured. When the queue is full, new lines are dropped and counted. The address of the server is looked up when the
first line is sent and then once a minute, never per packet.
"""

import logging
import queue
import socket
import threading
import time
from typing import Final

LOG = logging.getLogger(__name__)

# Lines that may wait while the resolver does; an API process measures at most some thousand in a second.
_QUEUE_SIZE: Final = 10_000
# Seconds after which a name is looked up again: a server may move, and one without an address may get it.
_LOOK_UP_SECONDS: Final = 60.0
_TRY_AGAIN_SECONDS: Final = 5.0
# Seconds between two log messages about lost metrics.
_LOG_SECONDS: Final = 60.0
# Seconds between two rounds of sending: to wake the thread for each line would cost the caller ten times as much.
_ROUND_SECONDS: Final = 0.05
# Seconds at the end of the process for lines that were not sent yet.
_CLOSE_SECONDS: Final = 1.0


class StatsdSender:
    """Sends lines of the statsd protocol, one packet each."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._queue: queue.Queue[str | None] = queue.Queue(_QUEUE_SIZE)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._socket: socket.socket | None = None
        self._address: tuple[object, ...] = ()
        self._look_up_at = float("-inf")
        self._lost, self._logged_at = 0, float("-inf")

    def timer(self, name: str, milliseconds: float) -> None:
        """Send a time."""
        self._put(f"{name}:{milliseconds:.3f}|ms")

    def counter(self, name: str, value: int, sample_rate: float | None) -> None:
        """Send an increment; with a rate it stands for so many times as many."""
        self._put(f"{name}:{value}|c" if sample_rate is None else f"{name}:{value}|c|@{sample_rate}")

    def gauge(self, name: str, value: float) -> None:
        """Send a present value."""
        self._put(f"{name}:{value}|g")

    def close(self) -> None:
        """Send what waits, for a moment at most."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        try:
            self._queue.put(None, timeout=_CLOSE_SECONDS)
        except queue.Full:
            return  # the thread is a daemon and ends with the process
        thread.join(_CLOSE_SECONDS)

    def _put(self, line: str) -> None:
        if self._thread is None:
            # The thread starts with the first metric: servers that fork do so before.
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._send_all, name="statsd", daemon=True)
                    self._thread.start()
        try:
            self._queue.put_nowait(line)
        except queue.Full:
            self._count_lost("too many wait to be sent")

    def _send_all(self) -> None:
        while (line := self._queue.get()) is not None:
            self._send(line)
            if self._queue.empty():
                time.sleep(_ROUND_SECONDS)
        if self._socket is not None:
            self._socket.close()

    def _send(self, line: str) -> None:
        try:
            self._look_up()
            if self._socket is None:
                self._count_lost("the name of the host is not resolved")
            else:
                self._socket.sendto(line.encode(), self._address)
        except (OSError, UnicodeError) as error:
            self._count_lost(str(error))

    def _look_up(self) -> None:
        """Find the address of the server, from time to time; the last one stays while it is not found again."""
        if time.monotonic() < self._look_up_at:
            return
        self._look_up_at = time.monotonic() + _TRY_AGAIN_SECONDS
        family, kind, *_, address = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_DGRAM)[0]
        if self._socket is None or self._socket.family != family:
            if self._socket is not None:
                self._socket.close()
            self._socket = socket.socket(family, kind)
        self._address = address
        self._look_up_at = time.monotonic() + _LOOK_UP_SECONDS

    def _count_lost(self, why: str) -> None:
        # Two threads may both log, which does no harm.
        self._lost += 1
        if time.monotonic() < self._logged_at + _LOG_SECONDS:
            return
        self._logged_at = time.monotonic()
        LOG.warning(
            "%d metrics were not sent to statsd at %s port %d since the last such message: %s. Check "
            "[metrics_statsd]statsd_host",
            self._lost,
            self._host,
            self._port,
            why,
        )
        self._lost = 0
