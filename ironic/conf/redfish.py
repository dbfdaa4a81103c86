"""Options of [redfish]: how Redfish BMCs are connected to."""

from oslo_config import cfg

OPTIONS = [
    cfg.StrOpt(
        "default_inspection_hooks",
        default="validate-interfaces,ports,architecture",
        help="Hooks that run on what a BMC tells unless inspection_hooks says otherwise; to be referred to there.",
    ),
    cfg.StrOpt(
        "inspection_hooks",
        default="$default_inspection_hooks",
        help="Hooks that run on what a BMC tells, in this order.",
    ),
    cfg.StrOpt(
        "auth_type",
        default="auto",
        choices=["basic", "session", "auto"],
        help="How to log in: with every request, with a session, or a session where the BMC has them.",
    ),
    cfg.IntOpt("connection_attempts", default=5, min=1, help="How often to try to connect to a BMC."),
    cfg.IntOpt("connection_retry_interval", default=4, min=1, help="Seconds between two tries to connect."),
    cfg.IntOpt("connection_cache_size", default=1000, min=0, help="Connections kept open for reuse; 0 keeps none."),
    cfg.IntOpt("connect_timeout", default=30, min=1, help="Seconds to wait for a connection."),
    cfg.IntOpt("read_timeout", default=60, min=1, help="Seconds to wait for an answer."),
    cfg.IntOpt(
        "power_on_conflict_retry_attempts",
        default=6,
        min=0,
        help="How often powering on is tried again when a BMC says it is busy.",
    ),
    cfg.IntOpt("power_on_conflict_retry_interval", default=10, min=1, help="Seconds between two such tries."),
    cfg.StrOpt(
        "tls_minimum_version",
        choices=["1.1", "1.2", "1.3"],
        help="Oldest TLS version that is spoken with a BMC. Left out, the TLS library decides.",
    ),
    cfg.StrOpt("tls_ciphers", help="TLS 1.2 ciphers for BMCs, in OpenSSL's notation."),
    cfg.StrOpt(
        "verify_ca",
        help="How a BMC's certificate is checked where the node says nothing: True, False or a CA file.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="redfish")
