"""Options of drivers: enabled and default hardware types and interfaces, [redfish] and [fake].

The enabled_ and default_ options are generated from the kinds of interface in core; tables hold the defaults.
`ironic.drivers.composition.composer` checks at start whether the values fit together.
"""

from oslo_config import cfg

from ironic.conf.option_types import ListOpt
from ironic.core.hardware_interfaces import KINDS, interface_field

# None is the first interface that each enabled hardware type lists.
ENABLED = {
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

_UNSET = " By default the first one that each enabled hardware type lists; the others have to be named."


def _enabled(kind: str) -> cfg.Opt:
    return ListOpt(
        f"enabled_{interface_field(kind)}s",
        default=ENABLED[kind],
        help=f"Implementations of the {kind} interface that nodes may use. An empty list is the default."
        + (_UNSET if ENABLED[kind] is None else ""),
    )


def _default(kind: str) -> cfg.Opt:
    return cfg.StrOpt(
        f"default_{interface_field(kind)}",
        default=_DEFAULT.get(kind),
        help=f"The {kind} interface of a new node, unless the request names one; it must be enabled. By default the "
        "first enabled one in the order of preference of the hardware type.",
    )


INTERFACES_OPTIONS = [
    ListOpt(
        "enabled_hardware_types",
        default=["ipmi", "redfish"],
        help="Hardware types that this conductor serves. Each needs an enabled implementation of every kind of "
        "interface.",
    ),
    ListOpt(
        "enabled_drivers",
        default=[],
        help="Classic drivers that this conductor serves. The interfaces of each are fixed, so the options of "
        "interfaces don't apply to them. No name may be that of an enabled hardware type.",
    ),
    *(_enabled(kind) for kind in KINDS),
    *(_default(kind) for kind in KINDS),
    ListOpt(
        "autodetect_deploy_interfaces",
        default=["ramdisk", "bootc", "direct"],
        help="Deploy interfaces that the interface autodetect tries, in this order, until one supports the "
        "deployment. Those that are not enabled are skipped.",
    ),
]


REDFISH_OPTIONS = [
    cfg.StrOpt(
        "default_inspection_hooks",
        default="validate-interfaces,ports,architecture",
        help="Default of inspection_hooks, to which that option may refer as $default_inspection_hooks.",
    ),
    cfg.StrOpt(
        "inspection_hooks",
        default="$default_inspection_hooks",
        help="Inspection hooks for the data of a BMC, in this order.",
    ),
    cfg.StrOpt(
        "auth_type",
        default="auto",
        choices=["basic", "session", "auto"],
        help="How to authenticate to a BMC: with every request (basic), by a session, or by a session where the BMC "
        "supports them (auto).",
    ),
    cfg.IntOpt("connection_attempts", default=5, min=1, help="Attempts to connect to a BMC."),
    cfg.IntOpt("connection_retry_interval", default=4, min=1, help="Seconds between two attempts to connect."),
    cfg.IntOpt(
        "connection_cache_size", default=1000, min=0, help="Number of connections kept open for reuse; 0 keeps none."
    ),
    cfg.IntOpt("connect_timeout", default=30, min=1, help="Seconds to wait for a connection to a BMC."),
    cfg.IntOpt("read_timeout", default=60, min=1, help="Seconds to wait for an answer of a BMC."),
    cfg.IntOpt(
        "power_on_conflict_retry_attempts",
        default=6,
        min=0,
        help="How often to retry powering on when a BMC reports that it is busy.",
    ),
    cfg.IntOpt("power_on_conflict_retry_interval", default=10, min=1, help="Seconds between two of these retries."),
    cfg.IntOpt(
        "post_boot_retry_attempts",
        default=6,
        min=1,
        help="Attempts to set the boot device of a machine whose BMC refuses that during the power-on self-test.",
    ),
    cfg.IntOpt(
        "post_boot_retry_delay",
        default=5,
        min=1,
        help="Seconds before the second of these attempts; the pauses grow up to six times that.",
    ),
    cfg.IntOpt(
        "boot_mode_config_timeout",
        default=900,
        min=0,
        help="Seconds to wait until a changed boot mode or secure boot state has taken effect, for which the machine "
        "is restarted; 0 does not wait.",
    ),
    cfg.IntOpt(
        "boot_mode_status_interval",
        default=15,
        min=1,
        help="Seconds between two looks whether such a setting has taken effect.",
    ),
    cfg.BoolOpt(
        "enable_verify_bmc_clock",
        default=False,
        help="Set the clock of a BMC that differs by more than a second when the node is verified.",
    ),
    cfg.IntOpt(
        "firmware_update_status_interval",
        default=60,
        min=0,
        help="Seconds between two looks at nodes that wait for a change of BIOS settings or firmware. 0 switches the "
        "looks off: such a step waits until the time-out of the node's state, such as "
        "[conductor]clean_callback_timeout.",
    ),
    cfg.IntOpt(
        "firmware_update_overall_timeout",
        default=7200,
        min=0,
        help="Seconds that all firmware updates of one step may take; 0 sets no limit.",
    ),
    cfg.IntOpt(
        "firmware_update_reboot_delay",
        default=300,
        min=0,
        help="Seconds to wait after a firmware update of a BMC, which restarts then, before it is asked again.",
    ),
    cfg.IntOpt(
        "firmware_update_required_successes",
        default=3,
        min=0,
        help="How often in a row a BMC must answer after a firmware update before the step goes on.",
    ),
    cfg.IntOpt(
        "firmware_update_validation_interval",
        default=30,
        min=0,
        help="Minimum number of seconds between two of these answers. The BMC is asked when its node is looked at.",
    ),
    cfg.IntOpt(
        "firmware_update_resource_validation_timeout",
        default=480,
        min=0,
        help="Seconds within which these answers must begin, or the step fails; 0 does not wait for any.",
    ),
    cfg.IntOpt(
        "firmware_update_nic_starting_wait",
        default=30,
        min=0,
        help="Seconds after which the machine is restarted for the update of a network card that has not begun.",
    ),
    cfg.StrOpt(
        "firmware_source",
        default="http",
        choices=["http", "local", "swift"],
        mutable=True,
        help="How BMCs get firmware images: from the URL that the user names (http; images in files and in Swift are "
        "published on this host), always from this host (local), or from Swift (swift).",
    ),
    ListOpt(
        "firmware_swift_containers",
        default=[],
        mutable=True,
        help="Containers of Swift whose objects users may name as firmware images, by swift://container/object. The "
        "service reads them with its own rights, so list only containers that all users of nodes may read. Those in "
        "which the service keeps its own data can't be among them. Without any, swift:// is refused.",
    ),
    cfg.StrOpt(
        "swift_container",
        default="ironic_redfish_container",
        mutable=True,
        help="Container of Swift in which images for BMCs are stored.",
    ),
    cfg.IntOpt(
        "swift_object_expiry_timeout",
        default=900,
        min=60,
        mutable=True,
        help="Seconds for which images in Swift, and their temporary URLs, are kept.",
    ),
    cfg.IntOpt(
        "file_permission",
        default=0o644,
        min=0,
        max=0o7777,
        help="Mode of files that BMCs download from this host, as a decimal number.",
    ),
    cfg.IntOpt(
        "raid_config_status_interval",
        default=60,
        min=0,
        help="Seconds between two looks at nodes whose logical disks are being changed. 0 switches the looks off: such "
        "a step waits until the time-out of the node's state, such as [conductor]clean_callback_timeout.",
    ),
    cfg.StrOpt(
        "tls_minimum_version",
        choices=["1.1", "1.2", "1.3"],
        help="Oldest TLS version for BMCs. By default the TLS library decides.",
    ),
    cfg.StrOpt("tls_ciphers", help="TLS 1.2 ciphers for BMCs, in OpenSSL notation."),
    cfg.StrOpt(
        "verify_ca",
        help="How to verify the certificate of a BMC, unless the node determines it: True, False or the path of a CA "
        "file.",
    ),
]


FAKE_KINDS = (
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

FAKE_OPTIONS = [
    cfg.BoolOpt(
        "reports_power",
        default=False,
        help="Whether machines with the fake power and deploy interfaces behave as machines with a BMC do: off when "
        "they are managed, on once they are deployed, off when their instance is removed. Otherwise their power state "
        "is unknown until it is changed, as with OpenStack Ironic, and allocations do not choose them.",
    ),
    *(
        cfg.StrOpt(
            f"{kind}_delay",
            default="0",
            help=f"Seconds that every action of the fake {kind} interface takes: one number, or two separated by a "
            "comma for a random time of at least the first, decreasingly likely towards the second.",
        )
        for kind in FAKE_KINDS
    ),
]


OPTIONS = {"DEFAULT": INTERFACES_OPTIONS, "redfish": REDFISH_OPTIONS, "fake": FAKE_OPTIONS}
