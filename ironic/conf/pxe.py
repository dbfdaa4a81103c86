"""Options of network boot: [pxe], [dhcp], [dnsmasq] and [pxe_filter]."""

from oslo_config import cfg, types

from ironic.conf.option_types import KernelParameters, ListOpt

_SHIPPED = "$pybasedir/drivers/modules/netboot/templates"

PLACES = [
    cfg.StrOpt("tftp_root", default="/tftpboot", help="Directory that the TFTP server of this host serves."),
    cfg.StrOpt("tftp_server", default="$my_ip", help="Address of the TFTP server for machines."),
    cfg.StrOpt(
        "tftp_master_path",
        default="/tftpboot/master_images",
        help="Directory of the cache of kernels and ramdisks. On the file system of tftp_root and [deploy]http_root, "
        "files are linked instead of copied. Empty: nothing is kept.",
    ),
    cfg.IntOpt(
        "image_cache_size",
        default=20480,
        min=0,
        help="Maximum size of each image cache in MiB; images that no machine uses are removed first.",
    ),
    cfg.IntOpt(
        "image_cache_ttl",
        default=10080,
        min=0,
        help="Minutes after which an unused image is removed from an image cache.",
    ),
    cfg.IntOpt(
        "dir_permission",
        min=0,
        max=0o7777,
        help="Mode of directories created below tftp_root and [deploy]http_root, as a decimal number. By default "
        "that of the process.",
    ),
    cfg.IntOpt(
        "file_permission",
        default=0o644,
        min=0,
        max=0o7777,
        help="Mode of files that machines download, as a decimal number.",
    ),
    cfg.StrOpt(
        "pxe_config_subdir",
        default="pxelinux.cfg",
        help="Subdirectory of tftp_root and [deploy]http_root for the boot files named by MAC address.",
    ),
]

KERNEL = [
    cfg.Opt(
        "kernel_append_params",
        type=KernelParameters(),
        default="nofb vga=normal",
        mutable=True,
        deprecated_name="pxe_append_params",
        help="Kernel parameters of every ramdisk. kernel_append_params of a node replace them, and may contain "
        "%default% to include them.",
    ),
]


def _by_arch(name: str, what: str) -> cfg.Opt:
    return cfg.DictOpt(
        f"{name}_by_arch",
        default={},
        help=f"{what} by cpu_arch of the node, or by that and boot mode, as in x86_64-uefi.",
    )


RETRYING = [
    cfg.BoolOpt(
        "enable_netboot_fallback",
        default=False,
        mutable=True,
        help="Keep boot files for a deployed machine that send it to its disk, for hardware whose boot device can't be "
        "set, or that forgets it and boots from the network. Otherwise such a machine gets ipxe_fallback_script, or "
        "nothing.",
    ),
    cfg.IntOpt(
        "boot_retry_timeout",
        min=60,
        mutable=True,
        help="Seconds after which a machine is booted again when its ramdisk has not called back. The timeout of the "
        "operation still applies. By default it is never booted again.",
    ),
]

LOADERS = [
    cfg.StrOpt(
        "pxe_bootfile_name", default="pxelinux.0", help="Boot program of machines in BIOS mode, for boot interface pxe."
    ),
    cfg.StrOpt(
        "uefi_pxe_bootfile_name",
        default="bootx64.efi",
        help="Boot program of machines in UEFI mode, for boot interfaces pxe and http.",
    ),
    cfg.StrOpt("ipxe_bootfile_name", default="undionly.kpxe", help="iPXE program of machines in BIOS mode."),
    cfg.StrOpt("uefi_ipxe_bootfile_name", default="snponly.efi", help="iPXE program of machines in UEFI mode."),
    _by_arch("pxe_bootfile_name", "Boot program for boot interfaces pxe and http"),
    _by_arch("ipxe_bootfile_name", "iPXE program"),
    cfg.DictOpt(
        "loader_file_paths",
        default={},
        help="Boot programs to copy to tftp_root and [deploy]http_root, as name:path of the source file.",
    ),
]

TEMPLATES = [
    cfg.StrOpt(
        "pxe_config_template",
        default=f"{_SHIPPED}/pxelinux.j2",
        mutable=True,
        help="Template of the PXELINUX configuration, for boot interface pxe in BIOS mode.",
    ),
    cfg.StrOpt(
        "uefi_pxe_config_template",
        default=f"{_SHIPPED}/grub.j2",
        mutable=True,
        help="Template of the GRUB configuration, for boot interface pxe in UEFI mode and boot interface http.",
    ),
    cfg.DictOpt(
        "pxe_config_template_by_arch",
        default={},
        mutable=True,
        help="Templates for boot interfaces pxe and http by cpu_arch of the node; they override pxe_config_template "
        "and uefi_pxe_config_template.",
    ),
    cfg.StrOpt(
        "ipxe_config_template",
        default=f"{_SHIPPED}/ipxe.j2",
        mutable=True,
        help="Template of the iPXE script of a machine, for boot interfaces ipxe and http-ipxe.",
    ),
    cfg.StrOpt(
        "initial_grub_template",
        default=f"{_SHIPPED}/initial_grub.j2",
        help="Template of the file that GRUB reads first, which loads the configuration of the machine.",
    ),
    cfg.StrOpt(
        "ipxe_boot_script",
        default=f"{_SHIPPED}/boot_ipxe.j2",
        help="Template of boot.ipxe, which iPXE runs first and which loads the script of the machine.",
    ),
    cfg.StrOpt(
        "ipxe_fallback_script",
        help="Name of a script in the directory of boot.ipxe for machines without their own.",
    ),
    cfg.Opt(
        "ipxe_timeout",
        type=types.Integer(min=0),
        default=0,
        help="Seconds that iPXE waits for the first bytes of a kernel or ramdisk; 0 leaves it to iPXE.",
    ),
]

PXE_OPTIONS = PLACES + KERNEL + RETRYING + LOADERS + TEMPLATES


DHCP_OPTIONS = [
    cfg.StrOpt(
        "dhcp_provider",
        default="neutron",
        help="Provider of DHCP options for machines that boot from the network: none (a DHCP server managed by the "
        "operator), dnsmasq (configured through files, see [dnsmasq]), or the name of a plug-in. neutron is not "
        "supported yet: as the default it means none; when it is set, nodes that boot from the network are refused.",
    ),
]


DNSMASQ_OPTIONS = [
    cfg.StrOpt(
        "dhcp_hostsdir",
        default="/etc/dnsmasq.d/hostsdir.d",
        help="The dhcp-hostsdir of dnsmasq, which it watches for hosts.",
    ),
    cfg.StrOpt(
        "dhcp_optsdir",
        default="/etc/dnsmasq.d/optsdir.d",
        help="The dhcp-optsdir of dnsmasq, which it watches for options of those hosts.",
    ),
]


PXE_FILTER_OPTIONS = [
    cfg.StrOpt("dhcp_hostsdir", help="The dhcp-hostsdir of dnsmasq. The directory must exist."),
    ListOpt(
        "supported_inspect_interfaces",
        default=["agent", "inspector"],
        mutable=True,
        help="Inspect interfaces whose inspections need DHCP.",
    ),
    cfg.IntOpt(
        "sync_period",
        default=45,
        min=1,
        mutable=True,
        help="Seconds between two synchronizations with all ports in the database. Inspections that begin or end in "
        "between are noticed within a second or two.",
    ),
]


OPTIONS = {
    "pxe": PXE_OPTIONS,
    "dhcp": DHCP_OPTIONS,
    "dnsmasq": DNSMASQ_OPTIONS,
    "pxe_filter": PXE_FILTER_OPTIONS,
}
