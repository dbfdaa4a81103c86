"""Options of [inspector]: how machines are inspected and what the hooks make of what they report."""

from oslo_config import cfg

from ironic.conf.types import Gibibytes, KernelParameters

RUN = [
    cfg.BoolOpt(
        "require_managed_boot",
        default=True,
        help="Start an inspection only when the service itself can boot the ramdisk. Switch off where the machines "
        "boot one by other means.",
    ),
    cfg.BoolOpt("power_off", default=True, help="Power a machine off when its inspection is over."),
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

RAMDISK = [
    cfg.Opt(
        "extra_kernel_params",
        type=KernelParameters(),
        default="",
        help="More kernel parameters for the inspection ramdisk, as on a kernel command line.",
    ),
    cfg.BoolOpt(
        "force_dhcp",
        default=False,
        help="Have the ramdisk bring up every network card and collect LLDP on it.",
    ),
    cfg.URIOpt(
        "callback_endpoint_override",
        deprecated_for_removal=True,
        deprecated_reason="Set [service_catalog]endpoint_override, which all ramdisks are told.",
        help="URL of this service for inspection ramdisks, where it is not that of [service_catalog]endpoint_override.",
    ),
    cfg.BoolOpt(
        "boot_token",
        default=True,
        help="Give every ramdisk that the service boots for an inspection a token of its own, in the URL that it posts "
        "to, and take data for its node with this token only.",
    ),
    cfg.IntOpt(
        "rejected_callbacks_kept",
        default=200,
        min=0,
        help="How many refusals of inspection data can be read at /v1/inspection/rejected_callbacks. 0 keeps none.",
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
        help="Hook cpu-capabilities: for each CPU flag the capability that it stands for.",
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
    cfg.ListOpt(
        "physical_network_cidr_map",
        default=[],
        help="Hook physical-network: physical networks by the addresses in them, such as "
        "10.10.10.0/24:physnet_a,2001:db8::/64:physnet_b. The first match counts.",
    ),
    cfg.BoolOpt(
        "extra_hardware_strict",
        default=False,
        help="Hook extra-hardware: drop the collected data altogether if one item of them is malformed.",
    ),
    cfg.Opt(
        "disk_partitioning_spacing",
        type=Gibibytes(),
        default=1,
        help="Hook root-device: GiB to leave out of local_gb, for partition tables. 0 leaves out none.",
    ),
]

OPTIONS = RUN + RAMDISK + PORTS + HOOKS


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="inspector")
