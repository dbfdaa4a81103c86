"""Options of [agent]: how the service talks with the ramdisk's agent, and when it gives up."""

from oslo_config import cfg

CALLS = [
    cfg.StrOpt("agent_api_version", default="v1", help="Version of the agent's API, as it stands in its URLs."),
    cfg.IntOpt("command_timeout", default=60, mutable=True, help="Seconds to wait for one answer of an agent."),
    cfg.IntOpt("max_command_attempts", default=3, help="How often a command is sent before it counts as failed."),
    cfg.IntOpt(
        "command_wait_attempts",
        default=100,
        help="How often the result of a longer command is asked for.",
    ),
    cfg.IntOpt("command_wait_interval", default=6, help="Seconds between two such questions."),
]

TRUST = [
    cfg.BoolOpt(
        "require_tls",
        default=True,
        mutable=True,
        help="Refuse an agent whose callback URL is not an HTTPS one.",
    ),
    cfg.StrOpt(
        "verify_ca",
        default="True",
        help="How an agent's certificate is checked when it did not bring its own: True, False or a CA file.",
    ),
    cfg.StrOpt(
        "certificates_path",
        default="/var/lib/ironic/certificates",
        help="Directory for the certificates that agents bring along.",
    ),
    cfg.StrOpt("api_ca_file", help="CA file that the ramdisk is told to check this API's certificate with."),
    cfg.StrOpt(
        "tls_minimum_version",
        default="1.3",
        choices=["1.2", "1.3"],
        help="Oldest TLS version that is spoken with an agent.",
    ),
    cfg.StrOpt("tls_ciphers", help="TLS 1.2 ciphers for calls to an agent, in OpenSSL's notation."),
]

IMAGES = [
    cfg.BoolOpt("allow_md5_checksum", default=True, help="Let the ramdisk accept images whose checksum is an MD5 one."),
    cfg.BoolOpt(
        "enable_bios_bootloader_install",
        default=False,
        help="Let the ramdisk install a boot loader on machines that boot through a BIOS.",
    ),
]

POWER = [
    cfg.IntOpt(
        "post_deploy_get_power_state_retries",
        default=6,
        help="How often to look whether a deployed machine has shut itself down.",
    ),
    cfg.IntOpt("post_deploy_get_power_state_retry_interval", default=5, help="Seconds between two such looks."),
]

LOGS = [
    cfg.StrOpt(
        "deploy_logs_collect",
        default="on_failure",
        choices=["always", "on_failure", "never"],
        mutable=True,
        help="When to fetch the ramdisk's logs at the end of an operation.",
    ),
    cfg.StrOpt(
        "deploy_logs_storage_backend",
        default="local",
        choices=["local", "swift"],
        mutable=True,
        help="Where fetched logs go.",
    ),
    cfg.StrOpt(
        "deploy_logs_local_path",
        default="/var/log/ironic/deploy",
        mutable=True,
        help="Directory for logs that are kept on this host.",
    ),
]

OPTIONS = CALLS + TRUST + IMAGES + POWER + LOGS


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="agent")
