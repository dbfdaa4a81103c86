"""Options of [deploy]: what happens around the ramdisk that does the work on a machine."""

from oslo_config import cfg

OPTIONS = [
    cfg.StrOpt("http_root", default="/httpboot", help="Directory that a web server offers to machines and BMCs."),
    cfg.URIOpt("http_url", help="URL at which machines and BMCs find that directory."),
    cfg.BoolOpt(
        "fast_track",
        default=False,
        mutable=True,
        help="Go on with a ramdisk that is still running instead of booting it again.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="deploy")
