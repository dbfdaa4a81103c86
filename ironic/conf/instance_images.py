"""Options about images of instances that go through this host: fetched, looked at, turned into raw ones, kept.

They belong to several groups by name; what they have in common is the way of an image from its server to an agent.
"""

from oslo_config import cfg, types

DEFAULT = [
    cfg.BoolOpt(
        "force_raw_images",
        default=True,
        mutable=True,
        help="Turn an image that agents fetch from this host into a raw one, which they can write as it comes.",
    ),
    cfg.IntOpt(
        "image_download_concurrency",
        default=20,
        min=1,
        help="Most images of instances that are fetched or converted at once.",
    ),
    cfg.StrOpt(
        "webserver_verify_ca",
        default="True",
        mutable=True,
        help="How certificates of web servers with images, and of those that inspection rules call, are checked: True, "
        "False, or the path of a CA file.",
    ),
]

PXE = [
    cfg.StrOpt(
        "instance_master_path",
        default="/var/lib/ironic/master_images",
        help="Directory in which images of instances are kept that were fetched before; bounded like the one of "
        "kernels and ramdisks by image_cache_size and image_cache_ttl.",
    ),
    cfg.StrOpt(
        "default_ephemeral_format",
        default="ext4",
        mutable=True,
        help="File system of an ephemeral partition for which the instance names none.",
    ),
]

CONDUCTOR: list[cfg.Opt] = [
    cfg.IntOpt(
        "cache_clean_up_interval",
        default=3600,
        min=0,
        help="Seconds between two looks for kept images that are too old or too many; 0: only when one is added.",
    ),
    cfg.BoolOpt(
        "conductor_always_validates_images",
        default=False,
        help="Have every image of an instance go through this host, which looks into it, wherever it comes from.",
    ),
    cfg.BoolOpt(
        "disable_support_for_checksum_files",
        default=False,
        help="Refuse image checksums that are given by the URL of a list.",
    ),
    cfg.BoolOpt(
        "disable_configdrive_check",
        default=False,
        mutable=True,
        help="Do not look whether a finished config drive is one.",
    ),
    cfg.ListOpt(
        "disallowed_deployment_boot_modes",
        default=[],
        item_type=types.String(choices=["uefi", "bios"]),
        mutable=True,
        help="Boot modes that nothing may be deployed in.",
    ),
]

CONFIG_DRIVES = [
    cfg.BoolOpt(
        "configdrive_use_object_store",
        default=False,
        mutable=True,
        deprecated_name="configdrive_use_swift",
        deprecated_group="conductor",
        help="Hand config drives to agents by a temporary URL of the object store of [swift], instead of with the "
        "order to write an image.",
    ),
]

CONFIG_DRIVE_STORE = [
    cfg.StrOpt(
        "configdrive_swift_container",
        default="ironic_configdrive_container",
        help="Container of the object store for config drives.",
    ),
    cfg.IntOpt(
        "configdrive_swift_temp_url_duration",
        min=60,
        help="Seconds for which such a URL leads to a config drive, and the object store keeps it; as long as an agent "
        "is waited for (deploy_callback_timeout) when unset.",
    ),
]

DISK_UTILS = [
    cfg.IntOpt("image_convert_attempts", default=3, min=1, help="How often the conversion of an image is tried."),
    cfg.IntOpt("image_convert_timeout", default=7200, min=1, help="Seconds that a conversion may take."),
    cfg.IntOpt("image_convert_memory_limit", default=2048, min=64, help="MiB of memory that a conversion may take."),
]

SERVERS = [
    cfg.StrOpt(
        "image_server_auth_strategy",
        default="noauth",
        choices=["noauth", "http_basic"],
        mutable=True,
        help="How it is proved to web servers that this host may have their images.",
    ),
    cfg.StrOpt("image_server_user", mutable=True, help="User name for http_basic."),
    cfg.StrOpt("image_server_password", secret=True, mutable=True, help="Password for http_basic."),
    cfg.ListOpt(
        "image_server_auth_hosts",
        default=[],
        mutable=True,
        help="The only servers that are shown the two: host (any port, with or without TLS), host:port or "
        "scheme://host[:port].",
    ),
    cfg.BoolOpt(
        "image_server_auth_permit_unknown_hosts",
        default=True,
        mutable=True,
        help="Show them to every server that a user names, as long as that list is empty.",
    ),
]


OPTIONS = DEFAULT + PXE + CONDUCTOR + CONFIG_DRIVES + CONFIG_DRIVE_STORE + DISK_UTILS + SERVERS


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(DEFAULT)
    conf.register_opts(PXE, group="pxe")
    conf.register_opts(CONDUCTOR + CONFIG_DRIVE_STORE, group="conductor")
    conf.register_opts(DISK_UTILS, group="disk_utils")
    conf.register_opts(SERVERS + CONFIG_DRIVES, group="deploy")
