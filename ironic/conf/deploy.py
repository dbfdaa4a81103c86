"""Options of [deploy]: files for machines, ramdisks, erasure of disks, boot mode and power around deployments."""

from oslo_config import cfg

from ironic.conf.option_types import AbsoluteUrl

FILES = [
    cfg.StrOpt("http_root", default="/httpboot", help="Directory that a web server serves to machines and BMCs."),
    cfg.StrOpt(
        "http_image_subdir", default="agent_images", help="Subdirectory of http_root for images that agents download."
    ),
    cfg.Opt(
        "http_url",
        type=AbsoluteUrl(),
        help="URL of http_root for machines and BMCs, where a web server of the operator serves it. By default the "
        "conductor serves http_root itself.",
    ),
    cfg.Opt(
        "external_http_url",
        type=AbsoluteUrl(),
        help="URL of http_root for BMCs that reach this host at another address than machines do. external_http_url in "
        "driver_info of a node overrides this.",
    ),
    cfg.StrOpt(
        "http_server_ip",
        default="$my_ip",
        help="Address on which the conductor serves http_root, unless http_url is set.",
    ),
    cfg.PortOpt(
        "http_server_port",
        default=6388,
        help="Port on which the conductor serves http_root, unless http_url is set; 0 means that it does not.",
    ),
    cfg.Opt(
        "http_server_url",
        type=AbsoluteUrl(),
        help="URL of the conductor's own server for machines and BMCs. By default made of http_server_ip (or "
        "my_ip, if that is every address) and http_server_port.",
    ),
    cfg.IntOpt(
        "http_server_connections",
        default=500,
        min=1,
        help="Connections to the conductor's own server at a time.",
    ),
    cfg.IntOpt(
        "http_server_connections_per_client",
        default=50,
        min=1,
        help="Connections of one address to the conductor's own server at a time.",
    ),
]

RAMDISK = [
    cfg.BoolOpt(
        "fast_track",
        default=False,
        mutable=True,
        help="Continue with a ramdisk that is still running instead of booting it again. fast_track in driver_info "
        "of a node overrides this.",
    ),
    cfg.IntOpt(
        "fast_track_timeout",
        default=300,
        min=0,
        max=300,
        mutable=True,
        help="Seconds after its last heartbeat during which a ramdisk counts as running.",
    ),
]

ERASURE = [
    cfg.IntOpt(
        "erase_devices_priority",
        min=0,
        mutable=True,
        help="Priority of the clean step erase_devices of the agent; 0 disables the step. By default the agent "
        "decides.",
    ),
    cfg.IntOpt(
        "erase_devices_metadata_priority",
        min=0,
        mutable=True,
        help="Priority of the clean step erase_devices_metadata of the agent; 0 disables the step. By default the "
        "agent decides.",
    ),
    cfg.IntOpt(
        "delete_configuration_priority",
        min=0,
        mutable=True,
        help="Priority of the RAID clean step delete_configuration of the agent; 0 disables the step. By default the "
        "agent decides.",
    ),
    cfg.IntOpt(
        "create_configuration_priority",
        min=0,
        mutable=True,
        help="Priority of the RAID clean step create_configuration of the agent; 0 disables the step. By default the "
        "agent decides.",
    ),
    cfg.IntOpt(
        "shred_random_overwrite_iterations",
        default=1,
        min=0,
        mutable=True,
        help="How often to overwrite a disk without secure erase with random data.",
    ),
    cfg.BoolOpt(
        "shred_final_overwrite_with_zeros",
        default=True,
        mutable=True,
        help="Overwrite a disk without secure erase with zeros at the end.",
    ),
    cfg.BoolOpt(
        "continue_if_disk_secure_erase_fails",
        default=False,
        mutable=True,
        help="Overwrite a disk when its secure erase fails, instead of failing the step.",
    ),
    cfg.BoolOpt(
        "enable_ata_secure_erase", default=True, mutable=True, help="Use the secure erase function of ATA disks."
    ),
    cfg.BoolOpt(
        "enable_nvme_secure_erase", default=True, mutable=True, help="Use the secure erase function of NVMe disks."
    ),
    cfg.BoolOpt(
        "erase_skip_read_only",
        default=False,
        mutable=True,
        help="Skip read-only disks, instead of failing the step.",
    ),
    cfg.IntOpt(
        "disk_erasure_concurrency", default=4, min=1, mutable=True, help="How many disks to erase at the same time."
    ),
]

BOOT = [
    cfg.StrOpt(
        "default_boot_mode",
        default="uefi",
        choices=["uefi", "bios"],
        mutable=True,
        help="Boot mode of a machine, unless the node or the BMC determines it.",
    ),
    cfg.BoolOpt(
        "power_off_after_deploy_failure",
        default=True,
        mutable=True,
        help="Power a machine off when its deployment fails.",
    ),
]

OPTIONS = {"deploy": FILES + RAMDISK + ERASURE + BOOT}
