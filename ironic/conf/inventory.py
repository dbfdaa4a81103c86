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
    cfg.IntOpt(
        "retention_days",
        default=0,
        min=0,
        mutable=True,
        help="Days after which a stored inventory is deleted; a new inspection begins them anew. 0 keeps all as long "
        "as their nodes. In Swift it is each object's own expiry, set when it is stored.",
    ),
    cfg.IntOpt(
        "cleanup_interval",
        default=3600,
        min=0,
        help="Seconds between two looks for inventories in the database that are older than retention_days. 0 never "
        "looks.",
    ),
    cfg.IntOpt(
        "cleanup_batch_size",
        default=1000,
        min=1,
        mutable=True,
        help="How many of them are deleted at a time.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="inventory")
