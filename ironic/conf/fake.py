"""Options of [fake]: how long each fake interface takes, so that slow machines can be played."""

from oslo_config import cfg

KINDS = (
    "bios",
    "boot",
    "deploy",
    "firmware",
    "inspect",
    "management",
    "power",
    "raid",
    "rescue",
    "storage",
    "vendor",
)

OPTIONS = [
    cfg.StrOpt(
        f"{kind}_delay",
        default="0",
        help=f"Seconds that every action of the fake {kind} interface takes: one number, or two with a comma between "
        "them for a random time from the first upwards, growing more unlikely towards the second.",
    )
    for kind in KINDS
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="fake")
