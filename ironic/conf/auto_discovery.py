"""Options of [auto_discovery]: what happens with machines that report themselves and that nobody enrolled."""

from oslo_config import cfg

OPTIONS = [
    cfg.BoolOpt("enabled", default=False, mutable=True, help="Enroll a machine that reports itself and is unknown."),
    cfg.StrOpt("driver", mutable=True, help="Hardware type of such nodes; must be given when discovery is enabled."),
    cfg.StrOpt("inspection_scope", help="Inspection scope of such nodes; selects the rules that run on them."),
    cfg.ListOpt(
        "allowed_mac_prefixes",
        default=[],
        mutable=True,
        help="How MAC addresses of machines begin that are enrolled, such as 52:54:00. One address of a machine is "
        "enough; without any prefix every machine is.",
    ),
    cfg.ListOpt(
        "allowed_subnets",
        default=[],
        mutable=True,
        help="Subnets that machines report from when they are enrolled, such as 192.0.2.0/24. Without any subnet, "
        "machines anywhere are.",
    ),
    cfg.IntOpt(
        "max_per_hour",
        default=100,
        min=0,
        mutable=True,
        help="How many machines are enrolled within an hour at most; 0 is no limit.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="auto_discovery")
