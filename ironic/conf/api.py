"""Options of the API service: [api], [audit], and [healthcheck] for load balancers."""

from oslo_config import cfg, types

from ironic.conf import server_tls
from ironic.conf.option_types import ListOpt, Octal, Url
from ironic.core.flows.flow import FLOWS

LISTENING = [
    cfg.HostAddressOpt("host_ip", default="0.0.0.0", help="Address to listen on."),
    cfg.PortOpt("port", default=6385, help="TCP port to listen on."),
    cfg.StrOpt("unix_socket", help="Path of a Unix socket to listen on instead of a TCP port."),
    cfg.Opt("unix_socket_mode", type=Octal(), help="File mode of the Unix socket, in octal digits."),
    cfg.IntOpt(
        "api_workers",
        min=0,
        help="Size of the API server: twenty threads per worker, all in one process. By default one worker per CPU, "
        "at most four.",
    ),
    cfg.BoolOpt("enable_ssl_api", default=False, help="Serve HTTPS; needs cert_file and key_file."),
    *server_tls.options("clients"),
    cfg.Opt(
        "public_endpoint",
        type=Url(),
        mutable=True,
        help="Base URL of the links in responses. By default links begin like the URL of the request.",
    ),
]

LOGS = [
    cfg.StrOpt(
        "access_log_file",
        help="File of the access log, with one line per request: client address, user, project, request, status, "
        "seconds, request id. By default access.log beside the log file of the service, or the log of the "
        "service if that is no file. The value none switches the access log off.",
    ),
]

LIMITS = [
    cfg.IntOpt("max_limit", default=1000, min=1, mutable=True, help="Maximum number of items on one page of a list."),
    cfg.IntOpt(
        "max_json_body_depth",
        default=25,
        min=8,
        mutable=True,
        help="Maximum nesting depth of a request body; a deeper one is refused before it is parsed.",
    ),
    cfg.IntOpt(
        "max_json_body_values",
        default=100_000,
        min=1000,
        mutable=True,
        help="Maximum number of values in a request body, objects and lists included; counted before the body is "
        "parsed.",
    ),
    cfg.IntOpt(
        "max_json_body_values_inspection",
        default=250_000,
        min=1000,
        mutable=True,
        help="Maximum number of values in the inspection data of a ramdisk; a machine with 64 network cards needs a "
        "quarter of the default.",
    ),
    cfg.IntOpt(
        "max_body_memory",
        default=192,
        min=16,
        mutable=True,
        help="Memory in MiB for all request bodies above 64 KiB, and the documents parsed from them, in an API "
        "process. A body for which there is no room within two seconds is refused with 503.",
    ),
    cfg.IntOpt("max_json_body_size", default=1024, min=4, mutable=True, help="Maximum size of a request body, in KiB."),
    cfg.IntOpt(
        "max_json_body_size_inspection",
        default=16384,
        min=4,
        mutable=True,
        help="Maximum size of the inspection data of a ramdisk, in KiB.",
    ),
    cfg.IntOpt(
        "max_json_body_size_provision",
        default=65536,
        min=4,
        mutable=True,
        help="Maximum size of the body of a provisioning request, in KiB; it may contain a config drive.",
    ),
    cfg.IntOpt(
        "largest_json_field",
        default=256,
        min=0,
        mutable=True,
        help="Maximum size of a field that clients write freely, such as extra, properties, driver_info, or the steps "
        "of a runbook, in KiB of JSON; a larger value is refused with 400. The configdrive of instance_info does not "
        "count. A stored value that is larger stays readable and may shrink. 0 is no limit but that of the body.",
    ),
    cfg.IntOpt(
        "requests_per_minute_address",
        default=0,
        min=0,
        mutable=True,
        help="How many requests one address may send, per minute and API process; further ones are refused with 429. "
        "Requests of ramdisks are not counted, as ramdisk_calls_per_minute limits them. All clients of a proxy or "
        "of a controller have one address. 0 is no limit. Behind a proxy this needs "
        "[oslo_middleware]enable_proxy_headers_parsing.",
    ),
    cfg.IntOpt(
        "requests_at_once_address",
        default=0,
        min=0,
        mutable=True,
        help="How many requests of one address an API process may have in progress; further ones are refused with 429. "
        "Requests of ramdisks count, too, and are refused with 503. 0 is no limit.",
    ),
    cfg.IntOpt(
        "requests_per_minute_project",
        default=0,
        min=0,
        mutable=True,
        help="How many requests one project may send, per minute and API process; a user without a project counts "
        "alone. Further ones are refused with 429. 0 is no limit.",
    ),
    cfg.IntOpt(
        "waiting_percentage_per_project",
        default=66,
        min=10,
        max=100,
        help="Percentage of the threads not in use for others in which requests of one project may wait for conductors "
        "and locked nodes, so that slow machines of one project leave threads to all others; further ones are "
        "refused with 503. Callers without a project count together, and may have all threads while no project "
        "has called for an hour. With 100 every project may have all.",
    ),
    cfg.IntOpt(
        "nodes_per_project",
        default=0,
        min=0,
        mutable=True,
        help="How many nodes a project may own when its own users enroll another one, which is refused with 403 "
        "beyond the limit. Administrators of the whole site are not limited. 0 is no limit.",
    ),
    cfg.IntOpt(
        "rows_per_project",
        default=10_000,
        min=0,
        mutable=True,
        help="How many allocations, and how many runbooks, a project may own when its own users create another one, "
        "which is refused with 403 beyond the limit. The default is more than any project needs and keeps one from "
        "filling the database. Administrators of the whole site are not limited. 0 is no limit.",
    ),
    cfg.IntOpt(
        "parts_per_node",
        default=1000,
        min=0,
        mutable=True,
        help="How many ports, port groups, volume connectors and volume targets (of each kind) a node may have when "
        "users of a project create another one or move one to it, which is refused with 403 beyond the limit. An "
        "inspection of a node with an owner fails if it finds more ports. Together with nodes_per_project this limits "
        "what a project has of them. Administrators of the whole site are not limited. 0 is no limit.",
    ),
]

RULES = [
    ListOpt(
        "middleware",
        default=[],
        help="WSGI middleware of other packages around the bare metal API, the last one outermost: names of entry "
        "points of the group ironic.api.middleware, or module:name. Each is called with the application and returns "
        "another one. All are outside of authentication.",
    ),
    cfg.StrOpt(
        "response_validation",
        default="ignore",
        choices=["error", "warn", "ignore"],
        help="Whether answers are held against the schemas of the OpenAPI document before they are sent: error answers "
        "500 in place of one in another form, warn logs that only. It takes longer than most answers themselves, and "
        "Python module jsonschema.",
    ),
    cfg.IntOpt(
        "wrong_passwords_per_minute",
        default=10,
        min=0,
        mutable=True,
        help="With http_basic, how many wrong passwords one address may send for one user name, per minute and API "
        "process; for all names together ten times as many. Further attempts are refused with 429. 0 is no "
        "limit.",
    ),
    ListOpt(
        "trusted_hosts",
        default=[],
        mutable=True,
        help="Host names that requests to an API on loopback without authentication may use, besides localhost, IP "
        "addresses and the names in public_endpoint and [service_catalog]endpoint_override. * allows any name, "
        "and so web pages of any origin.",
    ),
    cfg.BoolOpt(
        "restrict_lookup",
        default=True,
        mutable=True,
        help="Let a look-up find only nodes that wait for their ramdisk.",
    ),
    cfg.BoolOpt(
        "enable_ramdisk_endpoints",
        default=True,
        mutable=True,
        help="Serve the endpoints that ramdisks call without credentials. Switch this off for an API that users reach.",
    ),
    cfg.IntOpt(
        "ramdisk_calls_per_minute",
        default=4000,
        min=0,
        mutable=True,
        help="How many look-ups, heartbeats and posts of inspection data one address may send, per minute and API "
        "process. A rack of 100 machines behind one address needs about 3,300: each machine looks up its node "
        "every three seconds and sends a heartbeat every five seconds at worst. 0 is no limit. Behind a proxy "
        "this needs [oslo_middleware]enable_proxy_headers_parsing.",
    ),
    cfg.IntOpt(
        "inspection_reports_per_minute",
        default=300,
        min=0,
        mutable=True,
        help="How many posts of inspection data one address may send, per minute and API process. The default allows "
        "100 machines behind one address three attempts each. 0 is no limit beyond ramdisk_calls_per_minute.",
    ),
    cfg.IntOpt(
        "inspection_report_threads",
        default=8,
        min=1,
        help="How many posts of inspection data an API process handles at the same time while rules of the early phase "
        "call other services, or a conductor has the inspect interface inspector. They have their own threads then, "
        "because such a service may be slow.",
    ),
    cfg.IntOpt(
        "inspection_reports_waiting",
        default=1000,
        min=0,
        help="How many posts of inspection data may wait for one of these threads, with at most 32 MiB of bodies "
        "together and for at most 15 seconds each; further ones are refused with 503.",
    ),
    cfg.IntOpt(
        "ramdisk_heartbeat_timeout",
        min=0,
        default=300,
        mutable=True,
        help="Maximum number of seconds between two heartbeats of a ramdisk; the ramdisk gets the value when it "
        "looks up its node.",
    ),
    *(
        ListOpt(
            f"disallow_{flow.name}_steps",
            default=["vendor.send_raw"],
            mutable=True,
            help=f"Steps (interface.step) that users must not request in a list of {flow.name} steps.",
        )
        for flow in FLOWS
        if flow.list_verbs
    ),
    ListOpt(
        "disallowed_enrollment_boot_modes",
        default=[],
        item_type=types.String(choices=["uefi", "bios"]),
        mutable=True,
        help="Boot modes that a new node must not name, in boot_mode or in the capabilities of its properties or "
        "instance_info.",
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
        help="Run public runbooks without checking the policy rules for their single steps "
        "(baremetal:step:execute:...).",
    ),
]

API_OPTIONS = LISTENING + LOGS + LIMITS + RULES


HEALTHCHECK_OPTIONS = [cfg.BoolOpt("enabled", default=False, help="Serve /healthcheck, without authentication.")]


AUDIT_OPTIONS = [
    cfg.BoolOpt(
        "enabled",
        default=False,
        help="With Keystone, send a CADF event before and after each request to where "
        "[audit_middleware_notifications] says. Such requests wait for the message bus.",
    ),
    cfg.StrOpt(
        "audit_map_file",
        default="/etc/ironic/api_audit_map.conf",
        help="File that says what the paths of the API stand for in events; etc/ironic/api_audit_map.conf is one.",
    ),
    ListOpt(
        "ignore_req_list",
        default=[],
        help="Methods of requests that are not audited, such as GET.",
    ),
]


OPTIONS = {"api": API_OPTIONS, "audit": AUDIT_OPTIONS, "healthcheck": HEALTHCHECK_OPTIONS}
