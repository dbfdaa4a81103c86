"""Options of [deploy]: what happens around the ramdisk that does the work on a machine."""

from oslo_config import cfg

RAMDISK = [
    cfg.StrOpt("http_root", default="/httpboot", help="Directory that a web server offers to machines and BMCs."),
    cfg.StrOpt(
        "http_image_subdir", default="agent_images", help="Directory below http_root for the images that agents fetch."
    ),
    cfg.URIOpt("http_url", help="URL at which machines and BMCs find that directory."),
    cfg.BoolOpt(
        "fast_track",
        default=False,
        mutable=True,
        help="Go on with a ramdisk that is still running instead of booting it again. A node's own fast_track in "
        "driver_info goes before it.",
    ),
    cfg.IntOpt(
        "fast_track_timeout",
        default=300,
        min=0,
        max=300,
        mutable=True,
        help="Seconds since its last heartbeat for which a ramdisk counts as still running.",
    ),
]

ERASURE = [
    cfg.IntOpt(
        "erase_devices_priority",
        mutable=True,
        help="Priority of the agent's clean step erase_devices; 0 switches it off, unset leaves it to the agent.",
    ),
    cfg.IntOpt(
        "erase_devices_metadata_priority",
        mutable=True,
        help="Priority of the agent's clean step erase_devices_metadata; 0 switches it off, unset leaves it to the "
        "agent.",
    ),
    cfg.IntOpt(
        "delete_configuration_priority",
        mutable=True,
        help="Priority of the agent's RAID clean step delete_configuration; unset leaves it to the agent.",
    ),
    cfg.IntOpt(
        "create_configuration_priority",
        mutable=True,
        help="Priority of the agent's RAID clean step create_configuration; unset leaves it to the agent.",
    ),
    cfg.IntOpt(
        "shred_random_overwrite_iterations",
        default=1,
        min=0,
        mutable=True,
        help="How often a disk that can't erase itself is overwritten with random data.",
    ),
    cfg.BoolOpt(
        "shred_final_overwrite_with_zeros",
        default=True,
        mutable=True,
        help="Overwrite such a disk with zeros at the end.",
    ),
    cfg.BoolOpt(
        "continue_if_disk_secure_erase_fails",
        default=False,
        mutable=True,
        help="Overwrite a disk whose own secure erasure failed, instead of failing.",
    ),
    cfg.BoolOpt("enable_ata_secure_erase", default=True, mutable=True, help="Use the secure erasure of ATA disks."),
    cfg.BoolOpt("enable_nvme_secure_erase", default=True, mutable=True, help="Use the secure erasure of NVMe disks."),
    cfg.BoolOpt(
        "erase_skip_read_only",
        default=False,
        mutable=True,
        help="Pass over disks that are read-only, instead of failing.",
    ),
    cfg.IntOpt(
        "disk_erasure_concurrency", default=4, min=1, mutable=True, help="How many disks are erased at the same time."
    ),
]

BOOT = [
    cfg.StrOpt(
        "default_boot_mode",
        default="uefi",
        choices=["uefi", "bios"],
        mutable=True,
        help="Boot mode of a machine about which nothing else is known.",
    ),
    cfg.BoolOpt(
        "power_off_after_deploy_failure",
        default=True,
        mutable=True,
        help="Power a machine off when its deployment has failed.",
    ),
]

OPTIONS = RAMDISK + ERASURE + BOOT


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="deploy")
