"""Options of images: instance images on this host, and the deploy and rescue ramdisks.

They follow an image from its server to an agent, and belong to several groups by name. A ramdisk consists of a kernel
and a ramdisk image; the options name them, as URLs (http, https, file), for nodes that do not name their own.
"""

from oslo_config import cfg, types

from ironic.conf.option_types import ListOpt

DEFAULT = [
    cfg.BoolOpt(
        "force_raw_images",
        default=True,
        mutable=True,
        help="Convert images that agents download from this host to raw format, which agents can stream to the disk.",
    ),
    cfg.IntOpt(
        "image_download_concurrency",
        default=20,
        min=1,
        help="Maximum number of instance images that are downloaded or converted concurrently.",
    ),
    cfg.StrOpt(
        "webserver_verify_ca",
        default="True",
        mutable=True,
        help="How to verify the certificates of web servers with images, and of servers that inspection rules call: "
        "True, False or the path of a CA file.",
    ),
    cfg.StrOpt(
        "webserver_tls_minimum_version",
        default="1.3",
        choices=["1.2", "1.3"],
        mutable=True,
        help="Oldest TLS version for calls to web servers with images, and to servers that inspection rules call.",
    ),
    cfg.StrOpt(
        "webserver_tls_ciphers",
        mutable=True,
        help="TLS 1.2 ciphers for these calls, in OpenSSL notation. By default OpenSSL decides.",
    ),
]

MEMORY = [
    cfg.IntOpt(
        "minimum_required_memory",
        default=1024,
        min=0,
        mutable=True,
        help="MiB of memory that the host must have available before an image is converted; 0 is no minimum.",
    ),
    cfg.IntOpt(
        "minimum_memory_wait_time",
        default=15,
        min=0,
        mutable=True,
        help="Seconds between two looks at the available memory while there is less than minimum_required_memory.",
    ),
    cfg.IntOpt(
        "minimum_memory_wait_retries",
        default=6,
        min=0,
        mutable=True,
        help="How often to look again at the available memory; then the conversion fails.",
    ),
    cfg.BoolOpt(
        "minimum_memory_warning_only",
        default=False,
        mutable=True,
        help="Convert an image all the same, with a warning, when there is less than minimum_required_memory.",
    ),
]

PXE = [
    cfg.StrOpt(
        "instance_master_path",
        default="/var/lib/ironic/master_images",
        help="Directory of the cache of instance images; limited by image_cache_size and image_cache_ttl like "
        "tftp_master_path. Empty: nothing is kept.",
    ),
    cfg.StrOpt(
        "images_path",
        help="Directory for the images of nodes while they are offered to agents, as links to those below "
        "[deploy]http_root where both are on one file system, else as copies. Images are made there if "
        "instance_master_path is empty. By default the cache is linked below [deploy]http_root itself.",
    ),
    cfg.StrOpt(
        "default_ephemeral_format",
        default="ext4",
        mutable=True,
        help="File system of an ephemeral partition, unless the instance names one.",
    ),
]

CONDUCTOR: list[cfg.Opt] = [
    cfg.IntOpt(
        "cache_clean_up_interval",
        default=3600,
        min=0,
        help="Seconds between two clean-ups of the image caches; 0: only when an image is added.",
    ),
    cfg.BoolOpt(
        "conductor_always_validates_images",
        default=False,
        help="Download and inspect every instance image on this host, whatever its source.",
    ),
    cfg.BoolOpt(
        "disable_support_for_checksum_files",
        default=False,
        help="Refuse image checksums that are given as the URL of a checksum file.",
    ),
    cfg.BoolOpt(
        "disable_configdrive_check",
        default=False,
        mutable=True,
        help="Do not check the contents of a config drive that the user has built.",
    ),
    ListOpt(
        "disallowed_deployment_boot_modes",
        default=[],
        item_type=types.String(choices=["uefi", "bios"]),
        mutable=True,
        help="Boot modes in which nodes must not be deployed.",
    ),
]

CONFIG_DRIVES = [
    cfg.BoolOpt(
        "configdrive_use_object_store",
        default=False,
        mutable=True,
        deprecated_name="configdrive_use_swift",
        deprecated_group="conductor",
        help="Pass config drives to agents by a temporary URL of the object store of [swift], instead of within the "
        "command that writes an image.",
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
        help="Seconds for which the temporary URL of a config drive is valid and the object store keeps the config "
        "drive. By default deploy_callback_timeout.",
    ),
]

DISK_UTILS = [
    cfg.IntOpt("image_convert_attempts", default=3, min=1, help="Attempts to convert an image."),
    cfg.IntOpt("image_convert_timeout", default=7200, min=1, help="Seconds that the conversion of an image may take."),
    cfg.IntOpt(
        "image_convert_memory_limit",
        default=2048,
        min=64,
        help="MiB of memory that the conversion of an image may take.",
    ),
]

SERVERS = [
    cfg.StrOpt(
        "image_server_auth_strategy",
        default="noauth",
        choices=["noauth", "http_basic"],
        mutable=True,
        help="How to authenticate to web servers with images.",
    ),
    cfg.StrOpt("image_server_user", mutable=True, help="User name for web servers with images, with http_basic."),
    cfg.StrOpt(
        "image_server_password",
        secret=True,
        mutable=True,
        help="Password for web servers with images, with http_basic.",
    ),
    ListOpt(
        "image_server_auth_hosts",
        default=[],
        mutable=True,
        help="The only servers that get user name and password: host (any port, with or without TLS), host:port or "
        "scheme://host[:port].",
    ),
    cfg.BoolOpt(
        "image_server_auth_permit_unknown_hosts",
        default=False,
        mutable=True,
        help="Send user name and password to every server that a user names, as long as image_server_auth_hosts is "
        "empty.",
    ),
]


# The purposes of a ramdisk.
PURPOSES = ("deploy", "rescue")

_WORK = {"deploy": "inspecting, cleaning, deploying and servicing", "rescue": "rescuing"}


def _image(purpose: str, part: str) -> list[cfg.Opt]:
    what = f"URL of the {part} that machines boot for {_WORK[purpose]}, unless driver_info of the node names one"
    return [
        cfg.StrOpt(f"{purpose}_{part}", mutable=True, help=f"{what}."),
        cfg.DictOpt(
            f"{purpose}_{part}_by_arch",
            default={},
            mutable=True,
            help=f"{what}, by cpu_arch of the node. It overrides {purpose}_{part}.",
        ),
    ]


RAMDISK_IMAGES_OPTIONS = [
    option for purpose in PURPOSES for part in ("kernel", "ramdisk") for option in _image(purpose, part)
] + [
    cfg.BoolOpt(
        "error_on_ramdisk_config_inconsistency",
        default=False,
        mutable=True,
        help="Refuse a node that names a kernel without a ramdisk or vice versa, instead of ignoring the one it names.",
    ),
]


OPTIONS = {
    "DEFAULT": DEFAULT + MEMORY,
    "pxe": PXE,
    "conductor": CONDUCTOR + CONFIG_DRIVE_STORE + RAMDISK_IMAGES_OPTIONS,
    "disk_utils": DISK_UTILS,
    "deploy": SERVERS + CONFIG_DRIVES,
}
