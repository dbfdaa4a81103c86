"""Options of [inventory]: whether and where the findings of an inspection are kept."""

from oslo_config import cfg

OPTIONS = [
    cfg.StrOpt(
        "data_backend",
        default="database",
        choices=["none", "database", "swift"],
        help="Where inventories are stored; none keeps nothing.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="inventory")
