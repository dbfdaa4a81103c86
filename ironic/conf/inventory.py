"""Options of [inventory]: whether and where the findings of an inspection are kept."""

from oslo_config import cfg

OPTIONS = [
    cfg.StrOpt(
        "data_backend",
        default="database",
        choices=["none", "database", "swift"],
        help="Where inventories are stored; none keeps nothing.",
    ),
    cfg.StrOpt(
        "swift_data_container",
        default="introspection_data_container",
        help="Container that inventories go to when they are stored in Swift. It is created when it is missing.",
    ),
    cfg.IntOpt(
        "size_limit",
        default=16384,
        min=1,
        help="Size in KiB of the largest inventory, plug-in data included, that is stored. An inspection that finds "
        "more fails.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="inventory")
