"""Options of [agent]: which agents in ramdisks are believed, and what they are told to do."""

from oslo_config import cfg

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

OPTIONS = TRUST + IMAGES


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="agent")
