"""Options about metrics: [metrics] and [metrics_statsd].

Those that begin with agent_ are sent to the ramdisk when it looks up its node; the others are about the metrics of this
service. They are read when a process starts.
"""

from oslo_config import cfg

METRICS_OPTIONS = [
    cfg.StrOpt(
        "backend",
        default="noop",
        choices=[
            ("noop", "nothing is measured"),
            ("statsd", "metrics are sent to a statsd server by UDP"),
            ("collector", "metrics are kept in the process; a conductor sends them with the readings of sensors"),
        ],
        help="Where a process of the service sends its metrics.",
    ),
    cfg.StrOpt("global_prefix", help="Prefix of the name of every metric of the service."),
    cfg.BoolOpt(
        "prepend_host",
        default=False,
        help="Put the host name of the process ([DEFAULT]host) in front of the name of each metric, behind "
        "global_prefix.",
    ),
    cfg.BoolOpt(
        "prepend_host_reverse",
        default=True,
        help="Reverse the parts of this host name, so that metrics are grouped by domain.",
    ),
    cfg.StrOpt("agent_backend", default="noop", help="Where the ramdisk sends its metrics: noop or statsd."),
    cfg.BoolOpt("agent_prepend_host", default=False, help="Prefix the name of each metric with the host name."),
    cfg.BoolOpt("agent_prepend_uuid", default=False, help="Prefix the name of each metric with the UUID of the node."),
    cfg.BoolOpt(
        "agent_prepend_host_reverse",
        default=True,
        help="Reverse the parts of the host name, so that metrics are grouped by domain.",
    ),
    cfg.StrOpt("agent_global_prefix", help="Prefix of the name of every metric."),
]


METRICS_STATSD_OPTIONS = [
    cfg.StrOpt("statsd_host", default="localhost", help="Host of the statsd server for metrics of the service."),
    cfg.PortOpt("statsd_port", default=8125, help="UDP port of the statsd server for metrics of the service."),
    cfg.StrOpt(
        "agent_statsd_host", default="localhost", help="Host of the statsd server, as reached from the ramdisk."
    ),
    cfg.PortOpt("agent_statsd_port", default=8125, help="UDP port of the statsd server."),
]


OPTIONS = {
    "metrics": METRICS_OPTIONS,
    "metrics_statsd": METRICS_STATSD_OPTIONS,
}
