"""Options of [inspector]: how machines are inspected and what the hooks make of what they report."""

from oslo_config import cfg

from ironic.conf.types import GibibytesOrSwitch

RUN = [
    cfg.BoolOpt(
        "require_managed_boot",
        default=True,
        help="Start an inspection only when the service itself can boot the ramdisk. Switch off where the machines "
        "boot one by other means.",
    ),
    cfg.BoolOpt("power_off", default=True, help="Power a machine off when its inspection is over."),
    cfg.IntOpt("status_check_period", default=60, help="Seconds between two looks at inspections that run elsewhere."),
    cfg.StrOpt(
        "default_hooks",
        default="ramdisk-error,architecture,validate-interfaces,ports",
        help="Hooks that run unless hooks says otherwise; meant to be referred to there.",
    ),
    cfg.StrOpt(
        "hooks",
        default="$default_hooks",
        help="Hooks that run on what a ramdisk reports, in this order. $default_hooks,memory adds one at the end.",
    ),
]

PORTS = [
    cfg.BoolOpt(
        "pre_create_ports",
        default=True,
        help="Create ports from what the BMC knows before the ramdisk boots, where the BMC can tell.",
    ),
    cfg.StrOpt(
        "add_ports",
        default="all",
        choices=["all", "active", "pxe", "disabled"],
        help="Network interfaces that become ports: all with a MAC address, those with an IP address, the one the "
        "ramdisk was booted from, or none.",
    ),
    cfg.StrOpt(
        "keep_ports",
        default="all",
        choices=["all", "present", "added"],
        help="Ports that stay: all, those whose MAC address was seen, or those that add_ports would create.",
    ),
    cfg.BoolOpt(
        "update_pxe_enabled",
        default=True,
        help="Correct pxe_enabled of existing ports after what the ramdisk was booted from.",
    ),
]

HOOKS = [
    cfg.Opt(
        "disk_partitioning_spacing",
        type=GibibytesOrSwitch(),
        default=1,
        help="GiB left out of local_gb for partitioning; 0 leaves out nothing.",
    ),
]

OPTIONS = RUN + PORTS + HOOKS


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="inspector")
