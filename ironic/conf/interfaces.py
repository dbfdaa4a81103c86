"""Which hardware types and interfaces this deployment offers: the enabled_ and default_ options of every kind.

The options are generated from the kinds in core, so a kind can't be without its two. Defaults that differ from the
rule stand in one table. Whether the values make sense together is judged by `ironic.drivers.composition` at start.
"""

from oslo_config import cfg

from ironic.core.interface_kinds import KINDS, interface_field

_ENABLED = {
    "bios": ["no-bios", "redfish"],
    "boot": ["ipxe", "pxe", "redfish-virtual-media"],
    "console": ["no-console"],
    "deploy": ["autodetect", "direct", "ramdisk", "bootc"],
    "firmware": ["no-firmware"],
    "inspect": ["no-inspect", "redfish"],
    "management": None,
    "network": ["flat", "noop"],
    "power": None,
    "raid": ["agent", "no-raid", "redfish"],
    "rescue": ["no-rescue"],
    "storage": ["cinder", "noop"],
    "vendor": ["ipmitool", "redfish", "no-vendor"],
}
_DEFAULT = {"storage": "noop"}

_UNSET = " Left out, everything that an enabled hardware type supports is enabled."


def _enabled(kind: str) -> cfg.Opt:
    return cfg.ListOpt(
        f"enabled_{interface_field(kind)}s",
        default=_ENABLED[kind],
        help=f"Implementations of the {kind} interface that nodes may use."
        + (_UNSET if _ENABLED[kind] is None else ""),
    )


def _default(kind: str) -> cfg.Opt:
    return cfg.StrOpt(
        f"default_{interface_field(kind)}",
        default=_DEFAULT.get(kind),
        help=f"The {kind} interface of a new node whose creator names none, out of the enabled ones. Left out, the "
        "node's hardware type picks the enabled one it likes best.",
    )


OPTIONS = [
    cfg.ListOpt(
        "enabled_hardware_types",
        default=["ipmi", "redfish"],
        help="Hardware types this conductor serves. Each must have a usable implementation of every kind of interface.",
    ),
    *(_enabled(kind) for kind in KINDS),
    *(_default(kind) for kind in KINDS),
    cfg.ListOpt(
        "autodetect_deploy_interfaces",
        default=["ramdisk", "bootc", "direct"],
        help="Deploy interfaces that interface autodetect asks in this order whether they fit what is to be deployed. "
        "Those that are not enabled are passed over.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options in DEFAULT."""
    conf.register_opts(OPTIONS)
