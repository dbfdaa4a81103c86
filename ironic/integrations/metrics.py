"""Metrics of a conductor, sent to a statsd server by UDP when [metrics]backend is statsd.

A metric that can't be sent is lost with a warning; no operation depends on it.
"""

import logging
import socket

from ironic.conf import CONF

LOG = logging.getLogger(__name__)


def send_gauge(name: str, value: int) -> None:
    """Send the present value of a gauge, under its name behind [metrics]global_prefix."""
    if CONF.metrics.backend != "statsd":
        return
    full = f"{CONF.metrics.global_prefix}.{name}" if CONF.metrics.global_prefix else name
    host, port = CONF.metrics_statsd.statsd_host, CONF.metrics_statsd.statsd_port
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as sender:
            sender.sendto(f"{full}:{value}|g".encode(), address)
    except OSError as error:
        LOG.warning("Metric %s can't be sent to statsd at %s port %d: %s", full, host, port, error)
