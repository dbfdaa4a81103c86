"""Options of [healthcheck]: a path where load balancers may ask whether the API is alive."""

from oslo_config import cfg

OPTIONS = [cfg.BoolOpt("enabled", default=False, help="Answer at /healthcheck, without asking who calls.")]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="healthcheck")
