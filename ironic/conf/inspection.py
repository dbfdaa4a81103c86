"""Options of inspection: [inspector], [auto_discovery], [inspection_rules] and [inventory]."""

from collections.abc import Mapping
from typing import Final

from oslo_config import cfg

from ironic.conf.option_types import AbsoluteUrl, Gibibytes, KernelParameters, ListOpt, RegularExpression

# The group and option with the hooks, by the inspect interface whose reports they process. The first one's reports come
# from a ramdisk.
HOOK_OPTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "agent": ("inspector", "hooks"),
    "redfish": ("redfish", "inspection_hooks"),
}

RUN = [
    cfg.BoolOpt(
        "require_managed_boot",
        default=True,
        help="Start an inspection only when the service can boot the ramdisk. Switch this off if machines boot the "
        "ramdisk by other means.",
    ),
    cfg.BoolOpt("power_off", default=True, help="Power a machine off after its inspection."),
    cfg.StrOpt(
        "default_hooks",
        default="ramdisk-error,architecture,validate-interfaces,ports",
        help="Default of hooks, to which that option may refer as $default_hooks.",
    ),
    cfg.StrOpt(
        "hooks",
        default="$default_hooks",
        help="Inspection hooks for the data of a ramdisk, in this order. $default_hooks,memory adds one at the end.",
    ),
]

RAMDISK = [
    cfg.Opt(
        "extra_kernel_params",
        type=KernelParameters(),
        default="",
        help="Additional kernel parameters of the inspection ramdisk, as on a kernel command line.",
    ),
    cfg.BoolOpt(
        "force_dhcp",
        default=False,
        help="Let the ramdisk bring up every network card and collect LLDP data on it.",
    ),
    cfg.Opt(
        "callback_endpoint_override",
        type=AbsoluteUrl(),
        deprecated_for_removal=True,
        deprecated_reason="Set [service_catalog]endpoint_override, which applies to all ramdisks.",
        help="URL of this service for inspection ramdisks, where it is not that of [service_catalog]endpoint_override.",
    ),
    cfg.BoolOpt(
        "boot_token",
        default=True,
        help="Give every ramdisk that the service boots for an inspection its own token, in the URL that it posts "
        "to, and accept data for its node with this token only.",
    ),
    cfg.IntOpt(
        "rejected_callbacks_kept",
        default=200,
        min=0,
        help="How many rejected posts of inspection data are stored for /v1/inspection/rejected_callbacks; 0 stores "
        "none.",
    ),
]

PORTS = [
    cfg.BoolOpt(
        "pre_create_ports",
        default=True,
        help="Create ports from the data of the BMC before the ramdisk boots, if the BMC reports them.",
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
        help="Set pxe_enabled of existing ports according to the port that the ramdisk was booted from.",
    ),
]

CPU_CAPABILITIES = {
    "vmx": "cpu_vt",
    "svm": "cpu_vt",
    "aes": "cpu_aes",
    "pse": "cpu_hugepages",
    "pdpe1gb": "cpu_hugepages_1g",
    "smx": "cpu_txt",
}

HOOKS = [
    cfg.DictOpt(
        "cpu_capabilities",
        default=CPU_CAPABILITIES,
        help="Hook cpu-capabilities: the capability that each CPU flag sets.",
    ),
    cfg.StrOpt(
        "known_accelerators",
        default="$pybasedir/inspection/hooks/known_accelerators.yaml",
        help="Hook accelerators: YAML file of the PCI devices that are accelerators.",
    ),
    cfg.MultiStrOpt(
        "pci_device_alias",
        default=[],
        help="Hook pci-devices: a device to count, as a JSON object with vendor_id, product_id and name, the "
        "capability. May be given many times.",
    ),
    ListOpt(
        "physical_network_cidr_map",
        default=[],
        help="Hook physical-network: physical networks by the addresses in them, such as "
        "10.10.10.0/24:physnet_a,2001:db8::/64:physnet_b. The first match counts.",
    ),
    cfg.BoolOpt(
        "extra_hardware_strict",
        default=False,
        help="Hook extra-hardware: drop all collected data if one item is malformed.",
    ),
    cfg.Opt(
        "disk_partitioning_spacing",
        type=Gibibytes(),
        default=1,
        help="Hook root-device: GiB to subtract from local_gb for partition tables.",
    ),
]

STANDALONE = [
    cfg.IntOpt(
        "status_check_period",
        default=60,
        min=1,
        help="Interface inspector: seconds between two questions to the standalone inspector whether an introspection "
        "has ended.",
    ),
]

INSPECTOR_OPTIONS = RUN + RAMDISK + PORTS + HOOKS + STANDALONE


AUTO_DISCOVERY_OPTIONS = [
    cfg.BoolOpt("enabled", default=False, mutable=True, help="Enroll unknown machines that post inspection data."),
    cfg.StrOpt("driver", mutable=True, help="Hardware type of discovered nodes; required when discovery is enabled."),
    cfg.StrOpt("inspection_scope", help="Inspection scope of discovered nodes; selects the rules that run on them."),
    ListOpt(
        "allowed_mac_prefixes",
        default=[],
        mutable=True,
        help="Prefixes of the MAC addresses of machines to enroll, such as 52:54:00. One matching address of a "
        "machine is enough. By default every machine is enrolled.",
    ),
    ListOpt(
        "allowed_subnets",
        default=[],
        mutable=True,
        help="Subnets from which machines must post to be enrolled, such as 192.0.2.0/24. By default any address.",
    ),
    cfg.IntOpt(
        "max_per_hour",
        default=100,
        min=0,
        mutable=True,
        help="Maximum number of machines that are enrolled within an hour; 0 is no limit.",
    ),
]


INSPECTION_RULES_OPTIONS = [
    cfg.StrOpt(
        "built_in",
        deprecated_name="built_in_rules",
        help="YAML file of built-in rules, which users can not change. It is read and checked at start.",
    ),
    cfg.StrOpt("default_scope", help="Scope of stored rules without their own."),
    cfg.StrOpt(
        "mask_secrets",
        default="always",
        choices=["always", "never", "sensitive"],
        help="Whether to mask the passwords of a node for rules: for all, for none, or for all but sensitive rules.",
    ),
    ListOpt(
        "call_hosts",
        default=[],
        mutable=True,
        help="The only servers that rules may call, and proxies that they may use: host, host:port or "
        "scheme://host[:port]. By default all that [outgoing] allows.",
    ),
    cfg.Opt(
        "supported_interfaces",
        type=RegularExpression(),
        default="^(agent|inspector)$",
        help="Regular expression of the inspect interfaces whose inspections run rules; .* is all of them.",
    ),
]


INVENTORY_OPTIONS = [
    cfg.StrOpt(
        "data_backend",
        default="database",
        choices=["none", "database", "swift"],
        help="Where to store inventories; none stores nothing.",
    ),
    cfg.StrOpt(
        "swift_data_container",
        default="introspection_data_container",
        help="Container for inventories stored in Swift; it is created if it is missing.",
    ),
    cfg.IntOpt(
        "size_limit",
        default=16384,
        min=1,
        help="Maximum size in KiB of a stored inventory, plug-in data included. An inspection with more data fails.",
    ),
    cfg.IntOpt(
        "retention_days",
        default=0,
        min=0,
        mutable=True,
        help="Days after which a stored inventory is deleted, counted from the last inspection. 0 keeps it as long "
        "as the node. In Swift the expiry is set when the object is stored.",
    ),
    cfg.IntOpt(
        "cleanup_interval",
        default=3600,
        min=0,
        help="Seconds between two searches for inventories in the database that are older than retention_days; 0 "
        "switches them off.",
    ),
    cfg.IntOpt(
        "cleanup_batch_size",
        default=1000,
        min=1,
        mutable=True,
        help="How many of these inventories to delete in one transaction.",
    ),
]


OPTIONS = {
    "inspector": INSPECTOR_OPTIONS,
    "auto_discovery": AUTO_DISCOVERY_OPTIONS,
    "inspection_rules": INSPECTION_RULES_OPTIONS,
    "inventory": INVENTORY_OPTIONS,
}
