"""Options of [metrics_statsd] that the ramdisk is told when it looks up: the statsd server for its metrics."""

from oslo_config import cfg

OPTIONS = [
    cfg.StrOpt("agent_statsd_host", default="localhost", help="Host of the server as the ramdisk reaches it."),
    cfg.PortOpt("agent_statsd_port", default=8125, help="UDP port of the server."),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="metrics_statsd")
