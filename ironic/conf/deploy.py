"""Options of [deploy]: what happens around writing an instance, and priorities of the agent's own cleaning steps."""

from oslo_config import cfg

PRIORITIES = [
    cfg.IntOpt(
        f"{step}_priority",
        mutable=True,
        help=f"Priority of the agent's step {step} in automated cleaning; 0 leaves it out. Unset, the agent decides.",
    )
    for step in ("erase_devices", "erase_devices_metadata", "create_configuration", "delete_configuration")
]

OPTIONS = [
    cfg.StrOpt("http_root", default="/httpboot", help="Directory that a web server offers to the machines."),
    cfg.URIOpt("http_url", help="URL at which the machines find that directory."),
    cfg.URIOpt(
        "external_http_url",
        help="The same for BMCs and machines that reach this host by another address.",
    ),
    cfg.URIOpt(
        "external_callback_url",
        help="URL of this API as ramdisks outside the provisioning network reach it.",
    ),
    cfg.StrOpt(
        "default_boot_mode",
        default="uefi",
        choices=["uefi", "bios"],
        mutable=True,
        help="Boot mode of a node that says nothing about it.",
    ),
    cfg.BoolOpt(
        "fast_track",
        default=False,
        mutable=True,
        help="Go on with a ramdisk that is still running instead of booting it again.",
    ),
    cfg.IntOpt(
        "fast_track_timeout",
        default=300,
        min=0,
        max=300,
        mutable=True,
        help="Seconds after its last heartbeat for which a ramdisk counts as still running.",
    ),
    cfg.BoolOpt(
        "power_off_after_deploy_failure",
        default=True,
        mutable=True,
        help="Power a machine off when its deployment fails.",
    ),
    *PRIORITIES,
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="deploy")
