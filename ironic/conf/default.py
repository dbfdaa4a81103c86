"""Options of [DEFAULT] for the whole service: paths, names, authentication, RPC, defaults of nodes, notifications.

Drivers are chosen in `ironic.conf.drivers`. Options of logging and of the message bus (transport_url,
[oslo_messaging_*]) belong to oslo.log and oslo.messaging.
"""

import hashlib
import os
import socket
import tempfile

from oslo_config import cfg
from oslo_utils import netutils

from ironic.conf.option_types import ListOpt, Release

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _temporary_directory() -> str:
    try:
        return tempfile.gettempdir()
    except FileNotFoundError:
        # Nothing can be written there, as below the root of a container; a configuration may name another one.
        return "/tmp"


PATHS = [
    cfg.StrOpt(
        "pybasedir",
        default=_PACKAGE,
        sample_default="<where the package is installed>",
        help="Directory of the installed package. Other options may refer to it as $pybasedir.",
    ),
    cfg.StrOpt(
        "bindir",
        default="$pybasedir/bin",
        help="Directory of programs. Only options that refer to it as $bindir use it; programs are found by PATH.",
    ),
    cfg.StrOpt(
        "state_path",
        default="$pybasedir",
        help="Directory for persistent data of the service, such as its SQLite file. Other options refer to it as "
        "$state_path.",
    ),
    cfg.StrOpt(
        "tempdir",
        default=_temporary_directory(),
        sample_default="<the directory for temporary files of the system>",
        help="Directory for files that live for a moment, such as the passwords that ipmitool reads. Only this service "
        "can read what it puts there.",
    ),
]

HOST = [
    cfg.StrOpt(
        "host",
        default=socket.gethostname(),
        sample_default="<this machine's host name>",
        help="Name by which this conductor registers, receives calls and holds locks. Any text that is unique among "
        "the conductors; it must not change between restarts.",
    ),
    cfg.StrOpt(
        "my_ip",
        default=netutils.get_my_ipv4(),
        sample_default="<this machine's address towards the world, else 127.0.0.1>",
        help="Address of this host. Other options refer to it as $my_ip.",
    ),
    cfg.StrOpt(
        "my_ipv6",
        help="Address of this host by IPv6. Only other options that refer to it as $my_ipv6 use it.",
    ),
]

ACCESS = [
    cfg.StrOpt(
        "auth_strategy",
        default="keystone",
        choices=["noauth", "keystone", "http_basic"],
        help="How users authenticate to the API. With noauth every request has the rights of an administrator, with "
        "http_basic every request with a name and password of http_basic_auth_user_file.",
    ),
    cfg.StrOpt(
        "http_basic_auth_user_file",
        default="/etc/ironic/htpasswd",
        help="File with the users of the API for auth_strategy http_basic: names and bcrypt hashes, as written by "
        "`htpasswd -B`. It is read again when it changes; deleting it revokes all users.",
    ),
    cfg.BoolOpt(
        "debug_tracebacks_in_api",
        default=False,
        help="Include the traceback of an unexpected error in the response. For development only.",
    ),
    cfg.StrOpt(
        "rbac_service_project_name",
        default="service",
        help="Project whose members with the service role get the rights of an administrator.",
    ),
    cfg.BoolOpt(
        "rbac_service_role_elevated_access",
        default=False,
        help="Let the service role of the project rbac_service_project_name read and change nodes of every owner.",
    ),
]

RPC = [
    cfg.StrOpt(
        "rpc_transport",
        default="oslo",
        choices=["oslo", "json-rpc", "none"],
        help="How the API calls conductors: over a message bus (oslo), directly by HTTP ([json_rpc] has its options), "
        "or within one process (none). The all-in-one service calls within its process unless transport_url or "
        "json-rpc is set.",
    ),
    cfg.StrOpt(
        "hash_ring_algorithm",
        default="md5",
        choices=sorted(hashlib.algorithms_guaranteed),
        advanced=True,
        help="Hash function of the hash ring that distributes nodes over conductors. It must be the same in all "
        "processes.",
    ),
    cfg.IntOpt(
        "hash_partition_exponent",
        min=0,
        default=5,
        help="Each conductor has two to this power partitions on the hash ring. More partitions distribute the nodes "
        "more evenly and take a little more memory. It must be the same in all processes.",
    ),
    cfg.IntOpt(
        "hash_ring_reset_interval",
        min=0,
        default=15,
        help="Seconds after which the hash rings are rebuilt from the table of conductors.",
    ),
]

NEW_NODES = [
    cfg.StrOpt(
        "default_resource_class",
        mutable=True,
        help="Resource class of a new node, unless the request names one.",
    ),
    cfg.StrOpt(
        "default_conductor_group",
        default="",
        mutable=True,
        help="Conductor group of a new node, unless the request names one.",
    ),
    cfg.StrOpt(
        "default_portgroup_mode",
        default="active-backup",
        mutable=True,
        help="Bonding mode of a new port group, unless the request names one.",
    ),
    cfg.IntOpt(
        "log_in_db_max_size",
        min=0,
        default=4096,
        help="Maximum number of characters of an error or agent message in the database; longer texts are truncated.",
    ),
]

IMAGES = [
    cfg.IntOpt(
        "webserver_connection_timeout",
        default=60,
        min=1,
        help="Seconds to wait for an answer of a web server with images.",
    ),
]

SERVICE_OPTIONS = PATHS + HOST + ACCESS + RPC + NEW_NODES + IMAGES


# Own releases, then those of the reference, which the file of an operator may name; the latter pin nothing here.
OWN_RELEASES = ("1.0", "1.1")
_OTHER_RELEASES = """
    2026.2 2026.1 2025.2 2025.1 2024.2 2024.1 2023.2 2023.1 antelope zed yoga
    39.0 38.0 37.0 36.0 35.0 34.0 33.0 32.0 31.0 30.0 29.0 28.0 27.0 26.1 26.0 25.0 24.1 24.0 23.1 23.0 22.1 22.0
    21.4 21.3 21.2 21.1 21.0 20.2 20.1 20.0 19.0 18.2 18.1 18.0 17.0 16.2 16.1 16.0 15.1 15.0 14.0 13.0 12.2 12.1 12.0
    11.1 11.0 10.1 10.0 9.2
"""

MESSAGING_OPTIONS = [
    cfg.Opt(
        "pin_release_version",
        type=Release([*OWN_RELEASES, *_OTHER_RELEASES.split()]),
        mutable=True,
        help="Oldest release of the running conductors, such as 1.1; the version that programs print is taken as well. "
        "RPC calls stay compatible with it. Set it during a rolling upgrade only.",
    ),
    cfg.IntOpt(
        "drain_shutdown_timeout",
        default=1800,
        min=0,
        mutable=True,
        help="Seconds that work may take to finish when the service drains (signal SIGUSR2); 0 is no limit.",
    ),
    cfg.StrOpt(
        "notification_level",
        choices=["debug", "info", "warning", "error", "critical"],
        help="Minimum level of the notifications that are sent. By default none are sent.",
    ),
    ListOpt(
        "versioned_notifications_topics",
        default=["ironic_versioned_notifications"],
        help="Topics of the message bus for notifications; each topic gets all of them.",
    ),
]


OPTIONS = {"DEFAULT": SERVICE_OPTIONS + MESSAGING_OPTIONS}
