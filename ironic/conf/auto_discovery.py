"""Options of [auto_discovery]: what happens with machines that report themselves and that nobody enrolled."""

from oslo_config import cfg

OPTIONS = [
    cfg.BoolOpt("enabled", default=False, mutable=True, help="Enroll a machine that reports itself and is unknown."),
    cfg.StrOpt("driver", mutable=True, help="Hardware type of such nodes; must be given when discovery is enabled."),
    cfg.StrOpt("inspection_scope", help="Inspection scope of such nodes; selects the rules that run on them."),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="auto_discovery")
