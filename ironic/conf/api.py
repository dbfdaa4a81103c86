"""Options of [api]: where the API listens, what it accepts, what it tells."""

from oslo_config import cfg, types

from ironic.conf.types import Octal
from ironic.core.flow import FLOWS

LISTENING = [
    cfg.HostAddressOpt("host_ip", default="0.0.0.0", help="Address to listen on."),
    cfg.PortOpt("port", default=6385, help="TCP port to listen on."),
    cfg.StrOpt("unix_socket", help="Path of a Unix socket to listen on instead of a TCP port."),
    cfg.Opt("unix_socket_mode", type=Octal(), help="File mode of the Unix socket, in octal digits."),
    cfg.IntOpt(
        "api_workers",
        help="Size of the API server. Each worker stands for twenty threads of the one process; left out, one per CPU, "
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

LOGS = [
    cfg.StrOpt(
        "access_log_file",
        help="File for one line per request: client address, user, project, request, status, seconds, request id. Left "
        "out, it is access.log beside the log file of the service, or the service's own log where that is no file; "
        "none is no access log.",
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
    cfg.IntOpt(
        "max_json_body_values",
        default=100_000,
        min=1000,
        mutable=True,
        help="Most values in a request body, objects and lists among them; counted before anything is made of them.",
    ),
    cfg.IntOpt(
        "max_json_body_values_inspection",
        default=250_000,
        min=1000,
        mutable=True,
        help="Most values in an inspection report of a ramdisk; one with 64 network cards has a quarter.",
    ),
    cfg.IntOpt(
        "max_body_memory",
        default=192,
        min=16,
        mutable=True,
        help="Memory, in MiB, that request bodies of more than 64 KiB and what is made of them may take at once in an "
        "API process. A body that finds no room within two seconds is refused with 503.",
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
    cfg.IntOpt(
        "wrong_passwords_per_minute",
        default=10,
        min=0,
        mutable=True,
        help="How many wrong passwords one address may send for one name with http_basic, per minute and API process; "
        "ten times as many for all names together. More are refused with 429. 0 is no limit.",
    ),
    cfg.ListOpt(
        "trusted_hosts",
        default=[],
        mutable=True,
        help="Host names under which an API that listens on loopback without authentication may be asked, beside "
        "localhost, IP addresses and the names in public_endpoint and [service_catalog]endpoint_override. * is any "
        "name, and lets pages of any origin in.",
    ),
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
        default=4000,
        min=0,
        mutable=True,
        help="How often one address may look up its node, send heartbeats or post inspection data, per minute and API "
        "process. A rack of 100 machines behind one address needs about 3,300: each looks up every three seconds and "
        "sends a heartbeat every five at worst. 0 is no limit; behind a proxy it needs "
        "[oslo_middleware]enable_proxy_headers_parsing.",
    ),
    cfg.IntOpt(
        "inspection_reports_per_minute",
        default=300,
        min=0,
        mutable=True,
        help="How often one address may post inspection data, per minute and API process: 100 machines behind one "
        "address, each trying three times. 0 is no limit beyond ramdisk_calls_per_minute.",
    ),
    cfg.IntOpt(
        "inspection_report_threads",
        default=8,
        min=1,
        help="How many posts of inspection data an API process works on at the same time. They have threads of their "
        "own, because rules of the early phase may call slow services.",
    ),
    cfg.IntOpt(
        "inspection_reports_waiting",
        default=1000,
        min=0,
        help="How many posts of inspection data may wait for one of these threads; what comes beyond is answered with "
        "503. Their bodies may have 32 MiB together.",
    ),
    cfg.IntOpt(
        "ramdisk_heartbeat_timeout",
        default=300,
        mutable=True,
        help="Longest pause between two signs of life that a ramdisk is told to keep, in seconds.",
    ),
    *(
        cfg.ListOpt(
            f"disallow_{flow.name}_steps",
            default=["vendor.send_raw"],
            mutable=True,
            help=f"Steps (interface.step) that no caller may put into a list of {flow.name} steps.",
        )
        for flow in FLOWS
        if flow.list_verbs
    ),
    cfg.ListOpt(
        "disallowed_enrollment_boot_modes",
        default=[],
        item_type=types.String(choices=["uefi", "bios"]),
        mutable=True,
        help="Boot modes that a node may not ask for.",
    ),
    cfg.BoolOpt(
        "project_admin_can_manage_own_nodes",
        default=True,
        mutable=True,
        help="Let an administrator of a project create and delete nodes that the project owns.",
    ),
    cfg.BoolOpt(
        "trust_public_runbooks",
        default=False,
        mutable=True,
        help="Run public runbooks without asking the policy rules for single steps (baremetal:step:execute:...) "
        "whether the caller may have each of their steps run.",
    ),
]

OPTIONS = LISTENING + LOGS + LIMITS + RULES


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options."""
    conf.register_opts(OPTIONS, group="api")
