"""Options of [DEFAULT] that concern the whole service: paths, names, how the parts talk, what nodes get by default.

Choosing drivers is in `ironic.conf.interfaces`; logging and message bus options come from their libraries.
"""

import hashlib
import os
import socket

from oslo_config import cfg
from oslo_utils import netutils

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

PATHS = [
    cfg.StrOpt(
        "pybasedir",
        default=_PACKAGE,
        sample_default="<where the package is installed>",
        help="Directory of the installed package; other options may refer to it as $pybasedir.",
    ),
    cfg.StrOpt(
        "state_path",
        default="$pybasedir",
        help="Directory for what the service must keep, such as its SQLite file. Other options refer to it.",
    ),
]

PLACE = [
    cfg.StrOpt(
        "host",
        default=socket.gethostname(),
        sample_default="<this machine's host name>",
        help="Name under which this conductor registers, is called and holds locks. Any text, unique among "
        "conductors; it must stay the same over restarts.",
    ),
    cfg.StrOpt(
        "my_ip",
        default=netutils.get_my_ipv4(),
        sample_default="<this machine's address towards the world, else 127.0.0.1>",
        help="Address of this host. Other options refer to it as $my_ip.",
    ),
]

ACCESS = [
    cfg.StrOpt(
        "auth_strategy",
        default="keystone",
        choices=["noauth", "keystone", "http_basic"],
        help="How callers of the API prove who they are. With noauth whoever reaches the port is an administrator, "
        "with http_basic whoever has a name and password of http_basic_auth_user_file.",
    ),
    cfg.StrOpt(
        "http_basic_auth_user_file",
        default="/etc/ironic/htpasswd",
        help="Users of the API with auth_strategy http_basic: names and bcrypt hashes as `htpasswd -B` writes them. "
        "Read again when it changes.",
    ),
    cfg.BoolOpt(
        "debug_tracebacks_in_api",
        default=False,
        help="Show the traceback of an unexpected failure to the caller. For development only.",
    ),
    cfg.StrOpt(
        "rbac_service_project_name",
        default="service",
        help="Project whose members with the service role act with an administrator's rights.",
    ),
    cfg.BoolOpt(
        "rbac_service_role_elevated_access",
        default=False,
        help="Let the service role of the project above see and change nodes of every owner.",
    ),
]

CONVERSATION = [
    cfg.StrOpt(
        "rpc_transport",
        default="oslo",
        choices=["oslo", "json-rpc", "none"],
        help="How the API asks a conductor: over a message bus (oslo) or inside one process (none). The all-in-one "
        "service stays inside its process unless a transport_url is given as well.",
    ),
    cfg.StrOpt(
        "hash_ring_algorithm",
        default="md5",
        choices=sorted(hashlib.algorithms_guaranteed),
        advanced=True,
        help="Hash that spreads nodes over conductors. All processes must agree on it.",
    ),
    cfg.IntOpt(
        "hash_partition_exponent",
        default=5,
        help="Two to this power is the number of places each conductor takes on the ring that spreads the nodes. "
        "More places mean a more even spread and a little more memory. All processes must agree on it.",
    ),
    cfg.IntOpt(
        "hash_ring_reset_interval",
        default=15,
        help="Seconds after which the rings are built anew from the table of conductors.",
    ),
]

NEW_NODES = [
    cfg.StrOpt(
        "default_resource_class",
        mutable=True,
        help="Resource class of a new node whose creator names none.",
    ),
    cfg.StrOpt(
        "default_conductor_group",
        default="",
        mutable=True,
        help="Conductor group of a new node whose creator names none.",
    ),
    cfg.StrOpt(
        "default_portgroup_mode",
        default="active-backup",
        mutable=True,
        help="Bonding mode of a new port group whose creator names none.",
    ),
    cfg.IntOpt(
        "log_in_db_max_size",
        default=4096,
        help="Longest error or agent message kept in the database; the rest is cut off.",
    ),
]

IMAGES = [
    cfg.IntOpt(
        "webserver_connection_timeout",
        default=60,
        min=1,
        help="Seconds that a web server with images may take to answer.",
    ),
]

OPTIONS = PATHS + PLACE + ACCESS + CONVERSATION + NEW_NODES + IMAGES


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options in DEFAULT."""
    conf.register_opts(OPTIONS)
