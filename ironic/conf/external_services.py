"""Options of calls to other services: [service_catalog], [swift], [inspector], [keystone_authtoken] and [outgoing].

[service_catalog] has the URL of this service for ramdisks. [swift] is the object store and
[inspector] has the standalone inspector; both have the options of keystoneauth (session, adapter, credentials) with our
defaults. [json_rpc] has session and credentials for calls to conductors. [keystone_authtoken] belongs to
keystonemiddleware, which registers the rest of its options on first use. [outgoing] limits the calls to addresses that
a user, a machine or a rule has named.
"""

from keystoneauth1 import loading
from oslo_config import cfg, types

from ironic.conf.option_types import IPNetwork, Url

OUTGOING_OPTIONS = [
    cfg.BoolOpt(
        "allow_loopback",
        default=False,
        mutable=True,
        help="Allow calls to loopback addresses. For development, and for sites whose web server with images listens "
        "there only: users who may name an image can then reach every service on the loopback of this host.",
    ),
    cfg.Opt(
        "networks",
        type=types.List(item_type=IPNetwork()),
        default=[],
        mutable=True,
        help="The only networks (address/prefix) that may be called: those of image servers, of agents and of the "
        "servers that inspection rules call. By default all, except for link-local, multicast and reserved "
        "addresses, metadata services, this service itself, its database and its message bus, which are never "
        "called.",
    ),
    cfg.BoolOpt(
        "use_environment_proxies",
        default=False,
        mutable=True,
        help="Download images and lists of checksums through the proxies in the environment of the service "
        "(http_proxy, https_proxy, no_proxy). A proxy resolves names itself, so it has to block forbidden "
        "addresses.",
    ),
    cfg.IntOpt(
        "download_timeout",
        default=7200,
        min=1,
        mutable=True,
        help="Seconds that the download of an image may take. Until the first bytes and between two pieces, "
        "webserver_connection_timeout applies.",
    ),
    cfg.IntOpt(
        "download_max_size",
        default=102400,
        min=1,
        mutable=True,
        help="Maximum size in MiB of an image that is downloaded, copied or converted.",
    ),
    cfg.IntOpt(
        "min_free_space",
        default=512,
        min=0,
        mutable=True,
        help="MiB to keep free on the disk that images are stored on; an image that does not fit is refused.",
    ),
]

SERVICE_CATALOG_OPTIONS = [
    cfg.Opt(
        "endpoint_override",
        type=Url(),
        help="URL of this service for ramdisks and machines, such as http://192.0.2.1:6385. By default that of "
        "[api]public_endpoint. The catalog of Keystone is not searched.",
    ),
]

OPTIONS = {"outgoing": OUTGOING_OPTIONS, "service_catalog": SERVICE_CATALOG_OPTIONS}

_LOGIN = loading.get_auth_common_conf_options()


def _client_options(service_type: str) -> list[cfg.Opt]:
    """Return the options with which keystoneauth finds a service of this type and logs in there."""
    adapter = loading.get_adapter_conf_options()
    cfg.set_defaults(adapter, service_type=service_type, valid_interfaces=["internal", "public"])
    return [*_LOGIN, *adapter, *loading.get_session_conf_options()]


def _caller_options() -> list[cfg.Opt]:
    """Return the options with which keystoneauth makes the login and the TLS of calls to conductors."""
    session = loading.get_session_conf_options()
    cfg.set_defaults(session, timeout=120)
    return [*_LOGIN, *session]


BORROWED = {
    "json_rpc": _caller_options(),
    "swift": _client_options("object-store"),
    "inspector": _client_options("baremetal-introspection"),
}


def register(conf: cfg.ConfigOpts) -> None:
    """Register the choice of credentials in [keystone_authtoken]."""
    conf.register_opts(_LOGIN, group="keystone_authtoken")


def credentials() -> list[tuple[str, list[cfg.Opt]]]:
    """Return the options of credentials with a name and a password, by group; `auth_type` may bring others."""
    options = loading.get_auth_plugin_conf_options("password")
    return [(group, options) for group in (*BORROWED, "keystone_authtoken")]
