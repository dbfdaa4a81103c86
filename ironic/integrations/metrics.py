"""Metrics of a conductor: sent to a statsd server by UDP or kept here, as [metrics]backend says.

A metric that can't be sent is lost with a warning; no operation depends on it.
"""

import logging
import socket

from ironic.conf import CONF

LOG = logging.getLogger(__name__)

# With backend collector, the last value of each gauge by its full name.
_GAUGES: dict[str, int] = {}


def send_gauge(name: str, value: int) -> None:
    """Send the present value of a gauge, under its name behind [metrics]global_prefix."""
    full = f"{CONF.metrics.global_prefix}.{name}" if CONF.metrics.global_prefix else name
    match CONF.metrics.backend:
        case "collector":
            _GAUGES[full] = value
        case "statsd":
            _send_to_statsd(full, value)


def collected() -> dict[str, dict[str, object]]:
    """Return the metrics that are kept here, by name: for each its type and its value."""
    return {name: {"value": value, "type": "gauge"} for name, value in _GAUGES.items()}


def _send_to_statsd(full: str, value: int) -> None:
    host, port = CONF.metrics_statsd.statsd_host, CONF.metrics_statsd.statsd_port
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as sender:
            sender.sendto(f"{full}:{value}|g".encode(), address)
    except OSError as error:
        LOG.warning("Metric %s can't be sent to statsd at %s port %d: %s", full, host, port, error)
