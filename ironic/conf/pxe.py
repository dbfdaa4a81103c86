"""Options of [pxe]: what machines find on the TFTP and web servers of this host when they boot from the network."""

from oslo_config import cfg, types

from ironic.conf.types import KernelParameters

_SHIPPED = "$pybasedir/drivers/modules/netboot/templates"

PLACES = [
    cfg.StrOpt("tftp_root", default="/tftpboot", help="Directory that the TFTP server of this host offers."),
    cfg.StrOpt("tftp_server", default="$my_ip", help="Address of the TFTP server as machines see it."),
    cfg.StrOpt(
        "tftp_master_path",
        default="/tftpboot/master_images",
        help="Directory in which kernels and ramdisks are kept that were fetched before. On the file system of the "
        "directories that servers offer, they are linked there instead of copied.",
    ),
    cfg.IntOpt(
        "image_cache_size",
        default=20480,
        min=0,
        help="MiB that kernels and ramdisks may take in that directory; those that no machine needs now go first.",
    ),
    cfg.IntOpt(
        "image_cache_ttl",
        default=10080,
        min=0,
        help="Minutes after which a kernel or ramdisk goes that no machine needed meanwhile.",
    ),
    cfg.IntOpt("dir_permission", help="Mode of directories made below the roots; the process's own when unset."),
    cfg.IntOpt("file_permission", default=0o644, help="Mode of files offered to machines, as a decimal number."),
    cfg.StrOpt(
        "pxe_config_subdir", default="pxelinux.cfg", help="Directory below the roots for the files by MAC address."
    ),
]

KERNEL = [
    cfg.Opt(
        "kernel_append_params",
        type=KernelParameters(),
        default="nofb vga=normal",
        mutable=True,
        deprecated_name="pxe_append_params",
        help="Kernel parameters of every ramdisk. A node's own kernel_append_params take their place and may hold "
        "%default% for them.",
    ),
]


def _by_arch(name: str, what: str) -> cfg.Opt:
    return cfg.DictOpt(f"{name}_by_arch", default={}, help=f"{what} by the node's cpu_arch, before the one for all.")


RETRYING = [
    cfg.IntOpt(
        "boot_retry_timeout",
        min=60,
        mutable=True,
        help="Seconds after which a machine whose ramdisk was not heard of is booted again; unset: never. The wait for "
        "it ends at its own time all the same.",
    ),
]

LOADERS = [
    cfg.StrOpt("pxe_bootfile_name", default="pxelinux.0", help="Boot program of machines with a BIOS, boot pxe."),
    cfg.StrOpt(
        "uefi_pxe_bootfile_name", default="bootx64.efi", help="Boot program of machines with UEFI, boot pxe and http."
    ),
    cfg.StrOpt("ipxe_bootfile_name", default="undionly.kpxe", help="iPXE for machines with a BIOS."),
    cfg.StrOpt("uefi_ipxe_bootfile_name", default="snponly.efi", help="iPXE for machines with UEFI."),
    _by_arch("pxe_bootfile_name", "Boot program for boot pxe and http"),
    _by_arch("ipxe_bootfile_name", "iPXE"),
    cfg.DictOpt(
        "loader_file_paths",
        default={},
        help="Boot programs to copy below the roots: name there, and path of the file.",
    ),
]

TEMPLATES = [
    cfg.StrOpt(
        "pxe_config_template",
        default=f"{_SHIPPED}/pxelinux.j2",
        mutable=True,
        help="Template of what PXELINUX reads, for boot pxe with a BIOS.",
    ),
    cfg.StrOpt(
        "uefi_pxe_config_template",
        default=f"{_SHIPPED}/grub.j2",
        mutable=True,
        help="Template of what GRUB reads, for boot pxe with UEFI and http.",
    ),
    cfg.DictOpt(
        "pxe_config_template_by_arch",
        default={},
        mutable=True,
        help="Template for boot pxe and http by the node's cpu_arch, before the two above.",
    ),
    cfg.StrOpt(
        "ipxe_config_template",
        default=f"{_SHIPPED}/ipxe.j2",
        mutable=True,
        help="Template of what iPXE runs for a machine, for boot ipxe and http-ipxe.",
    ),
    cfg.StrOpt(
        "initial_grub_template",
        default=f"{_SHIPPED}/initial_grub.j2",
        help="Template of the file that GRUB reads first and that leads to a machine's own.",
    ),
    cfg.StrOpt(
        "ipxe_boot_script",
        default=f"{_SHIPPED}/boot_ipxe.j2",
        help="Template of boot.ipxe, which iPXE runs first and which leads to a machine's own.",
    ),
    cfg.StrOpt(
        "ipxe_fallback_script",
        help="Name of a script beside boot.ipxe for machines that have no file of their own.",
    ),
    cfg.Opt(
        "ipxe_timeout",
        type=types.Integer(min=0),
        default=0,
        help="Seconds that iPXE waits for a kernel or ramdisk to begin to come; 0 leaves it to iPXE.",
    ),
]

OPTIONS = PLACES + KERNEL + RETRYING + LOADERS + TEMPLATES


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="pxe")
