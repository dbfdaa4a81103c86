"""Options of calls to conductors by JSON-RPC over HTTP: [json_rpc]. Its login and TLS are in `external_services`."""

from typing import Final

from oslo_config import cfg

from ironic.conf import server_tls
from ironic.conf.option_types import ListOpt, Octal
from ironic.core.texts.syntax import host_in_url

USUAL_PORT: Final = 8089

OPTIONS = {
    "json_rpc": [
        cfg.StrOpt(
            "auth_strategy",
            choices=["noauth", "keystone", "http_basic"],
            help="How the conductor knows who calls. With noauth every client that reaches the port has the rights of "
            "an administrator. By default that of [DEFAULT]auth_strategy.",
        ),
        cfg.StrOpt(
            "http_basic_auth_user_file",
            default="/etc/ironic/htpasswd-json-rpc",
            help="File with those who may call if auth_strategy is http_basic: names and bcrypt hashes, as written by "
            "`htpasswd -B`. It is read again when it changes.",
        ),
        ListOpt(
            "allowed_roles",
            default=["admin"],
            help="Roles that may call if auth_strategy is keystone; one of them is enough.",
        ),
        cfg.HostAddressOpt("host_ip", default="::", help="Address to listen on."),
        cfg.PortOpt(
            "port",
            default=USUAL_PORT,
            min=1,
            help="TCP port to listen on, and to call where the name of a conductor has none. A conductor with another "
            f"port than {USUAL_PORT} is named by [DEFAULT]host and its port, so that several can run on one host.",
        ),
        cfg.StrOpt(
            "unix_socket",
            help="Path of a Unix socket to listen on instead of a TCP port. Processes of this host with the same value "
            "call the conductor of their [DEFAULT]host there.",
        ),
        cfg.Opt("unix_socket_mode", type=Octal(), help="File mode of the Unix socket, in octal digits."),
        cfg.BoolOpt("use_ssl", default=False, help="Serve HTTPS, which needs cert_file and key_file, and call by it."),
        cfg.BoolOpt("client_use_ssl", default=False, help="Call by HTTPS although use_ssl is not set."),
        *server_tls.options("callers"),
        cfg.BoolOpt(
            "debug_log_request_id_only",
            default=True,
            mutable=True,
            help="Log only the names of calls and their requests at debug level. Otherwise the caller logs arguments "
            "as well, with secrets masked.",
        ),
    ]
}


def name_conductor(conf: cfg.ConfigOpts) -> None:
    """Give this process the name of its conductor, which has the port where several may run on one host."""
    options = conf.json_rpc
    if conf.rpc_transport == "json-rpc" and options.port != USUAL_PORT and not options.unix_socket:
        conf.clear_override("host")
        conf.set_override("host", f"{host_in_url(conf.host)}:{options.port}")
