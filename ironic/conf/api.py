"""Options of [api]: where the API listens, what it accepts, what it tells."""

from oslo_config import cfg

from ironic.conf.types import Octal

LISTENING = [
    cfg.HostAddressOpt("host_ip", default="0.0.0.0", help="Address to listen on."),
    cfg.PortOpt("port", default=6385, help="TCP port to listen on."),
    cfg.StrOpt("unix_socket", help="Path of a Unix socket to listen on instead of a TCP port."),
    cfg.Opt("unix_socket_mode", type=Octal(), help="File mode of the Unix socket, in octal digits."),
    cfg.IntOpt(
        "api_workers",
        help="Size of the API server. Each worker stands for ten threads of the one process; left out, one per CPU, "
        "at most four.",
    ),
    cfg.BoolOpt("enable_ssl_api", default=False, help="Speak HTTPS; needs cert_file and key_file."),
    cfg.StrOpt("cert_file", help="Certificate (chain) in PEM format."),
    cfg.StrOpt("key_file", help="Private key in PEM format."),
    cfg.StrOpt(
        "server_tls_minimum_version",
        default="1.3",
        choices=["1.2", "1.3"],
        deprecated_name="tls_minimum_version",
        help="Oldest TLS version a client may use.",
    ),
    cfg.StrOpt(
        "server_tls_ciphers",
        deprecated_name="tls_ciphers",
        help="TLS 1.2 ciphers to offer, as OpenSSL writes such a list. Left out, OpenSSL decides.",
    ),
    cfg.StrOpt(
        "public_endpoint",
        mutable=True,
        help="Start of the links in answers. Left out, links begin as the caller's own URL did.",
    ),
]

LIMITS = [
    cfg.IntOpt("max_limit", default=1000, mutable=True, help="Most items on one page of a list."),
    cfg.IntOpt(
        "max_json_body_depth",
        default=25,
        min=8,
        mutable=True,
        help="Deepest nesting of a request body; deeper ones are refused unread.",
    ),
    cfg.IntOpt("max_json_body_size", default=1024, min=4, mutable=True, help="Largest request body, in KiB."),
    cfg.IntOpt(
        "max_json_body_size_inspection",
        default=16384,
        min=4,
        mutable=True,
        help="Largest inspection report of a ramdisk, in KiB.",
    ),
    cfg.IntOpt(
        "max_json_body_size_provision",
        default=65536,
        min=4,
        mutable=True,
        help="Largest body of a provisioning request, in KiB; such a body may hold a configuration drive.",
    ),
]

RULES = [
    cfg.BoolOpt(
        "restrict_lookup",
        default=True,
        mutable=True,
        help="Let a ramdisk find only nodes that wait for one.",
    ),
    cfg.BoolOpt(
        "enable_ramdisk_endpoints",
        default=True,
        mutable=True,
        help="Serve the endpoints that ramdisks call without credentials. Switch off on an API that users reach.",
    ),
    cfg.IntOpt(
        "ramdisk_calls_per_minute",
        default=0,
        min=0,
        mutable=True,
        help="How often one address may look up its node or post inspection data, per minute and API process. 0 is no "
        "limit; behind a proxy it needs [oslo_middleware]enable_proxy_headers_parsing.",
    ),
    cfg.IntOpt(
        "ramdisk_heartbeat_timeout",
        default=300,
        mutable=True,
        help="Longest pause between two signs of life that a ramdisk is told to keep, in seconds.",
    ),
    *(
        cfg.ListOpt(
            f"disallow_{flow}_steps",
            default=["vendor.send_raw"],
            mutable=True,
            help=f"Steps (interface.step) that no caller may put into a list of {flow} steps.",
        )
        for flow in ("clean", "deploy", "service")
    ),
    cfg.ListOpt(
        "disallowed_enrollment_boot_modes",
        default=[],
        item_type=cfg.types.String(choices=["uefi", "bios"]),
        mutable=True,
        help="Boot modes that a node may not ask for.",
    ),
    cfg.BoolOpt(
        "project_admin_can_manage_own_nodes",
        default=True,
        mutable=True,
        help="Let an administrator of a project create and delete nodes that the project owns.",
    ),
]

OPTIONS = LISTENING + LIMITS + RULES


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="api")
