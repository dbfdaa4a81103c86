"""Options of [metrics] that the ramdisk is told when it looks up: where it sends its metrics and how it names them."""

from oslo_config import cfg

OPTIONS = [
    cfg.StrOpt("agent_backend", default="noop", help="Where the ramdisk sends its metrics: noop or statsd."),
    cfg.BoolOpt("agent_prepend_host", default=False, help="Begin the name of each metric with the host name."),
    cfg.BoolOpt("agent_prepend_uuid", default=False, help="Begin the name of each metric with the node's UUID."),
    cfg.BoolOpt(
        "agent_prepend_host_reverse",
        default=True,
        help="Turn the host name round at its dots, so that metrics of one domain stand together.",
    ),
    cfg.StrOpt("agent_global_prefix", help="What the name of every metric begins with."),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="metrics")
