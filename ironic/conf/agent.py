"""Options of [agent]: which agents in ramdisks are believed, and what they are told to do."""

from oslo_config import cfg, types

TRUST = [
    cfg.BoolOpt(
        "require_tls",
        default=True,
        mutable=True,
        help="Refuse an agent whose callback URL is not an HTTPS one.",
    ),
    cfg.StrOpt(
        "callback_source",
        default="warn",
        choices=[
            ("off", "nothing is compared"),
            ("warn", "a difference is logged"),
            ("strict", "a heartbeat from elsewhere is refused"),
        ],
        mutable=True,
        help="What becomes of a heartbeat that does not come from the address in its callback URL, or from another one "
        "than the look-up that got the token of the agent. Behind a proxy this needs "
        "[oslo_middleware]enable_proxy_headers_parsing.",
    ),
    cfg.StrOpt(
        "verify_ca",
        default="True",
        help="How an agent's certificate is checked when it did not bring its own: True, False or a CA file.",
    ),
    cfg.StrOpt(
        "tls_minimum_version",
        default="1.3",
        choices=["1.2", "1.3"],
        help="Oldest TLS version that is spoken with an agent.",
    ),
    cfg.ListOpt(
        "extra_lookup_keys",
        default=[],
        item_type=types.String(regex=r"^(instance_info|driver_internal_info)\.\S+$"),
        help="What else of its node a ramdisk is told when it looks it up, for hardware managers of your own that read "
        "it before the first command: keys like instance_info.raid_level or driver_internal_info.rack. Without "
        "credentials anybody can look up a node that waits for its ramdisk; what looks like a secret is masked.",
    ),
    cfg.StrOpt("tls_ciphers", help="TLS 1.2 ciphers for calls to an agent, in OpenSSL's notation."),
]

COMMANDS = [
    cfg.StrOpt(
        "agent_api_version",
        default="v1",
        help="Version of the interface at which agents are called, the first part of its paths.",
    ),
    cfg.IntOpt(
        "command_timeout",
        default=60,
        min=1,
        mutable=True,
        help="Seconds to wait for an agent to take a connection, and again for its answer.",
    ),
    cfg.IntOpt(
        "max_command_attempts", default=3, min=1, help="How often an agent that can't be reached is tried for a call."
    ),
    cfg.IntOpt(
        "command_wait_attempts",
        default=100,
        min=1,
        help="How often an agent is asked whether a command has ended that somebody waits for.",
    ),
    cfg.IntOpt(
        "command_wait_interval", default=6, min=0, help="Seconds between two questions whether a command has ended."
    ),
]

LOGS = [
    cfg.StrOpt(
        "deploy_logs_collect",
        default="on_failure",
        choices=["always", "on_failure", "never"],
        mutable=True,
        help="When the logs of a ramdisk are fetched and kept.",
    ),
    cfg.StrOpt(
        "deploy_logs_local_path",
        default="/var/log/ironic/deploy",
        mutable=True,
        help="Directory in which fetched logs are kept.",
    ),
    cfg.StrOpt(
        "deploy_logs_storage_backend",
        default="local",
        choices=["local", "swift"],
        mutable=True,
        help="Where fetched logs are kept: in that directory, or in the object store of [swift].",
    ),
    cfg.StrOpt(
        "deploy_logs_swift_container",
        default="ironic_deploy_logs_container",
        mutable=True,
        help="Container of the object store for fetched logs.",
    ),
    cfg.IntOpt(
        "deploy_logs_swift_days_to_expire",
        default=30,
        min=0,
        mutable=True,
        help="Days after which the object store removes logs; 0 keeps them for ever.",
    ),
]

POWER = [
    cfg.IntOpt(
        "post_deploy_get_power_state_retries",
        default=6,
        min=0,
        help="How often a machine whose agent was told to power it off is asked for its power state.",
    ),
    cfg.IntOpt(
        "post_deploy_get_power_state_retry_interval",
        default=5,
        min=0,
        help="Seconds between two such questions.",
    ),
]

IMAGES = [
    cfg.StrOpt(
        "image_download_source",
        default="http",
        choices=["swift", "http", "local"],
        mutable=True,
        help="Who hands images to ramdisks, unless the node's driver_info says otherwise: the server that has the "
        "image (http), or this host, which keeps a copy (local). swift concerns images of the image service only.",
    ),
    cfg.BoolOpt(
        "stream_raw_images",
        default=True,
        mutable=True,
        help="Let the ramdisk write a raw image to disk while it is being fetched, without room for it in memory.",
    ),
    cfg.BoolOpt("allow_md5_checksum", default=True, help="Let the ramdisk accept images whose checksum is an MD5 one."),
    cfg.BoolOpt(
        "enable_bios_bootloader_install",
        default=False,
        help="Let the ramdisk install a boot loader on machines that boot through a BIOS.",
    ),
]

OPTIONS = TRUST + COMMANDS + LOGS + POWER + IMAGES


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="agent")
