"""Options of virtual media boot: boot programs, ready ISO images, and how BMCs take images.

By the names that operators know they belong to several groups.
"""

from oslo_config import cfg

from ironic.conf.option_types import AbsoluteUrl, KernelParameters, Url

_SHIPPED = "$pybasedir/integrations/templates"

BOOT_PROGRAMS = [
    cfg.DictOpt(
        "efi_boot_program_by_arch",
        default={
            "x86_64": "/usr/lib/grub/x86_64-efi/monolithic/gcdx64.efi",
            "aarch64": "/usr/lib/grub/arm64-efi/monolithic/gcdaa64.efi",
        },
        help="GRUB for CDs by cpu_arch of the node: the program that UEFI starts from an ISO image, unless a whole "
        "system partition is named (esp_image, bootloader). The defaults are files of Debian's grub-efi-amd64-bin "
        "and grub-efi-arm64-bin.",
    ),
    cfg.StrOpt(
        "esp_image",
        help="FAT image with the EFI system partition of ISO images, in place of one with the program of "
        "efi_boot_program_by_arch; for secure boot it has a signed GRUB and its shim.",
    ),
    cfg.StrOpt(
        "grub_config_path",
        default="EFI/BOOT/grub.cfg",
        help="Path on an ISO image at which GRUB of esp_image looks for its configuration.",
    ),
    cfg.StrOpt(
        "grub_config_template",
        default=f"{_SHIPPED}/iso_grub.j2",
        help="Template of that configuration.",
    ),
    cfg.StrOpt(
        "isolinux_config_template",
        default=f"{_SHIPPED}/iso_isolinux.j2",
        help="Template of the configuration of ISOLINUX on an ISO image.",
    ),
    cfg.StrOpt(
        "isolinux_bin",
        default="/usr/lib/ISOLINUX/isolinux.bin",
        help="ISOLINUX, which starts ISO images in BIOS mode; a file of Debian's isolinux.",
    ),
    cfg.StrOpt(
        "ldlinux_c32",
        default="/usr/lib/syslinux/modules/bios/ldlinux.c32",
        help="Library of ISOLINUX; a file of Debian's syslinux-common.",
    ),
]

SYSTEM_PARTITIONS = [
    cfg.StrOpt(
        "bootloader",
        mutable=True,
        help="URL (http, https, file) of the EFI system partition of ISO images, unless the node or its cpu_arch has "
        "one.",
    ),
    cfg.DictOpt("bootloader_by_arch", default={}, help="The same by cpu_arch of the node."),
]

READY_IMAGES = [
    cfg.StrOpt(
        "iso_master_path",
        default="/var/lib/ironic/master_iso_images",
        help="Directory of the cache of ready ISO images. Empty: nothing is kept.",
    ),
    cfg.IntOpt("iso_cache_size", default=20480, min=0, help="Maximum size of that cache in MiB."),
    cfg.IntOpt(
        "iso_cache_ttl", default=10080, min=0, help="Minutes after which an unused image is removed from that cache."
    ),
    cfg.StrOpt(
        "ramdisk_image_download_source",
        default="local",
        choices=["http", "local"],
        mutable=True,
        help="Where BMCs download ready ISO images: from this host, which copies them (local), or from their own URL "
        "(http).",
    ),
    cfg.Opt(
        "external_callback_url",
        type=AbsoluteUrl(),
        help="URL of this service for ramdisks of machines that boot from virtual media, if it is another than that "
        "for other machines.",
    ),
]

BMC = [
    cfg.Opt(
        "kernel_append_params",
        type=KernelParameters(),
        default="nofb vga=normal",
        mutable=True,
        help="Kernel parameters of every ramdisk that boots from virtual media. kernel_append_params of a node replace "
        "them, and may contain %default% to include them.",
    ),
    cfg.BoolOpt(
        "enable_vmedia_insert_polling",
        default=False,
        help="After an image was inserted, wait until the BMC reports that it is there.",
    ),
    cfg.BoolOpt(
        "use_swift",
        default=False,
        mutable=True,
        help="Publish images for virtual media in Swift, by temporary URLs, and not on this host.",
    ),
    cfg.IntOpt("vmedia_insert_timeout", default=60, min=1, help="Seconds to wait for that."),
    cfg.IntOpt("vmedia_insert_poll_interval", default=2, min=1, help="Seconds between two looks."),
]


def _share(protocol: str, scheme: str) -> list[cfg.Opt]:
    return [
        cfg.StrOpt(
            "share_path",
            help=f"Directory of this host in which images lie for BMCs that take them over {protocol} "
            "(vmedia_transport_protocol): the export itself, or where it is mounted. It is for this installation "
            "alone; images of nodes that it does not know are removed.",
        ),
        cfg.Opt(
            "base_url",
            type=Url(),
            help=f"URL of the server of that share for BMCs, such as {scheme}://192.0.2.1. The path of share_path "
            "follows it, so the server must offer the share under that path.",
        ),
    ]


NFS = _share("NFS", "nfs")

CIFS = [
    *_share("CIFS", "cifs"),
    cfg.StrOpt("username", help="User name by which BMCs mount the share."),
    cfg.StrOpt("password", secret=True, help="Password by which BMCs mount the share."),
]

CERTIFICATES = [
    cfg.StrOpt(
        "api_ca_file",
        help="File with the CA certificate of this service's API, which ISO images carry to their ramdisks.",
    ),
]

OPTIONS = {
    "DEFAULT": BOOT_PROGRAMS,
    "conductor": SYSTEM_PARTITIONS,
    "deploy": READY_IMAGES,
    "redfish": BMC,
    "agent": CERTIFICATES,
    "nfs": NFS,
    "cifs": CIFS,
}
