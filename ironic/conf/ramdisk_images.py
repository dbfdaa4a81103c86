"""Options of [conductor] that name the ramdisks machines boot, for nodes that do not name their own.

A ramdisk is a kernel and a ramdisk image that belong together. Values are URLs (http, https, file).
"""

from oslo_config import cfg

# What a ramdisk is booted for.
PURPOSES = ("deploy", "rescue")

_WORK = {"deploy": "inspecting, cleaning, deploying and servicing", "rescue": "rescuing"}


def _image(purpose: str, part: str) -> list[cfg.Opt]:
    what = f"URL of the {part} that machines boot for {_WORK[purpose]}, where the node's driver_info names none"
    return [
        cfg.StrOpt(f"{purpose}_{part}", mutable=True, help=f"{what}."),
        cfg.DictOpt(
            f"{purpose}_{part}_by_arch",
            default={},
            mutable=True,
            help=f"{what}, by the node's cpu_arch. It goes before the one for all.",
        ),
    ]


OPTIONS = [option for purpose in PURPOSES for part in ("kernel", "ramdisk") for option in _image(purpose, part)] + [
    cfg.BoolOpt(
        "error_on_ramdisk_config_inconsistency",
        default=False,
        mutable=True,
        help="Refuse a node that names a kernel without a ramdisk or the other way round, instead of passing over it.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="conductor")
