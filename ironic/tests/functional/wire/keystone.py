"""A local HTTP server that plays as much of Keystone as checking a token needs, and a service that trusts it."""

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1 import loading
from keystonemiddleware import auth_token
from oslo_policy import opts as policy_opts
from oslo_policy.policy import Enforcer

from ironic.api.app import BARE_METAL
from ironic.api.served_api import ServedApi
from ironic.api.settings import ApiSettings
from ironic.conf import CONF
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.access_world import personas
from ironic.tests.functional.wire.service import Response, Service

OWNED = "11111111-0000-4000-8000-000000000001"
FOREIGN = "11111111-0000-4000-8000-000000000002"
ACTIVE = "11111111-0000-4000-8000-000000000003"

# What a token is for that is for a domain.
DOMAIN = "domain"

# token -> roles, and the project it is for; None: the whole system
TOKENS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "system-admin": (("admin", "manager", "member", "reader"), None),
    "system-reader": (("reader",), None),
    "owner-member": (("member", "reader"), "owners"),
    "lessee-admin": (("admin", "manager", "member", "reader"), "lessees"),
    "owner-admin": (("admin", "manager", "member", "reader"), "owners"),
    "owner-manager": (("manager", "member", "reader"), "owners"),
    "lessee-member": (("member", "reader"), "lessees"),
    "stranger": (("admin", "manager", "member", "reader"), "strangers"),
    "stranger-member": (("member", "reader"), "strangers"),
    "system-service": (("service",), None),
    "owner-service": (("service",), "owners"),
    "nobody": ((), "owners"),
    "domain-admin": (("admin", "manager", "member", "reader"), DOMAIN),
}
_IMPLIED = ("admin", "manager", "member", "reader")
for _name, _who in personas().items():
    _roles = _IMPLIED[_IMPLIED.index(_who.role) :] if _who.role in _IMPLIED else (_who.role,)
    TOKENS[_name] = (_roles, None if _who.scope == "system" else _who.scope)


def _token(roles: tuple[str, ...], project: str | None) -> dict[str, Any]:
    now = datetime.now(UTC)
    domain = {"id": "default", "name": "Default"}
    scope: dict[str, Any] = {"project": {"id": project, "name": project, "domain": domain}}
    if project is None:
        scope = {"system": {"all": True}}
    elif project == DOMAIN:
        scope = {"domain": domain}
    return {
        "methods": ["password"],
        "user": {"id": "u", "name": "u", "domain": domain, "password_expires_at": None},
        "roles": [{"id": role, "name": role} for role in roles],
        "issued_at": now.strftime("%Y-%m-%dT%H:%M:%S.000000Z"),
        "expires_at": (now + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.000000Z"),
        "audit_ids": ["a"],
        "catalog": [],
        **scope,
    }


class Identity(ThreadingHTTPServer):
    """The server, with what it was asked."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._scheme = "http"
        if tls:
            self._scheme = "https"
            # Shaking hands is the matter of the thread that serves the connection.
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        # The tokens that it was to validate, and all paths, in the order of the requests.
        self.validated: list[str] = []
        self.paths: list[str] = []
        # What each token has beside its own.
        self.fields: dict[str, Any] = {}
        # While it is not set, tokens are not answered.
        self.answers = threading.Event()
        self.answers.set()
        # How long it takes for each.
        self.seconds = 0.0

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"{self._scheme}://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that end the connection, as one does that does not trust the certificate."""


class _Handler(BaseHTTPRequestHandler):
    server: Identity

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        if self.path.startswith("/v3/auth/tokens"):
            token = self.headers.get("X-Subject-Token", "")
            self.server.validated.append(token)
            self.server.answers.wait()
            time.sleep(self.server.seconds)
            found = TOKENS.get(token)
            self._answer(
                404 if found is None else 200,
                {"token": _token(*found) | self.server.fields} if found else {"error": {}},
            )
        else:
            link = {"href": f"{self.server.url}/v3/", "rel": "self"}
            version = {"id": "v3.14", "status": "stable", "links": [link], "media-types": []}
            self._answer(300, {"versions": {"values": [version]}})

    def _answer(self, status: int, document: Any) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def identity_server(tls: ssl.SSLContext | None = None) -> Iterator[Identity]:
    """Run the server, with TLS if there is a context for it."""
    server = Identity(tls)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def playing() -> Iterator[str]:
    """Run the server; gives its URL."""
    with identity_server() as server:
        yield server.url


def service(
    directory: Path,
    url: str,
    conf: Callable[..., None],
    file: str = "policy.yaml",
    served: ServedApi = BARE_METAL,
    **settings: Any,
) -> Service:
    """Return a service in keystone mode with nodes of a project, without an owner and in use; the caller closes it."""
    running = empty_service(directory, url, conf, file, served, **settings)
    common = {f"{kind}_interface": names[0] for kind, names in services.SERVED["fake-hardware"].items()}
    common |= {"driver": "fake-hardware", "provision_state": "manageable"}
    running.store.nodes.create(common | {"uuid": OWNED, "name": "owned", "owner": "owners", "lessee": "lessees"})
    running.store.nodes.create(common | {"uuid": FOREIGN, "name": "foreign"})
    running.store.nodes.create(common | {"uuid": ACTIVE, "name": "active", "provision_state": "active"})
    return running


def empty_service(
    directory: Path,
    url: str,
    conf: Callable[..., None],
    file: str = "policy.yaml",
    served: ServedApi = BARE_METAL,
    **settings: Any,
) -> Service:
    """Return a service in keystone mode; the caller closes it."""
    _register()
    conf(
        auth_strategy="keystone",
        keystone_authtoken__www_authenticate_uri=url,
        keystone_authtoken__auth_type="admin_token",
        keystone_authtoken__endpoint=f"{url}/v3",
        keystone_authtoken__token="ours",
        oslo_policy__policy_file=str(directory / file),
    )
    chosen = ApiSettings(auth_strategy="keystone", node_locked_attempts=1, **settings)
    return services.start(directory, chosen, CONF, served=served)


def _register() -> None:
    # oslo.policy looks for its file beside the configuration, so there has to have been one.
    CONF([], default_config_files=[], default_config_dirs=[])
    policy_opts.set_defaults(CONF)
    for group, options in _token_options():
        CONF.register_opts(options, group=group)
    CONF.register_opts(loading.get_auth_common_conf_options(), group="keystone_authtoken")
    CONF.register_opts(loading.get_auth_plugin_conf_options("admin_token"), group="keystone_authtoken")


@cache
def _token_options() -> list[Any]:
    """Return what the library copies with every call, so that it takes longer than the test."""
    return list(auth_token.list_opts())


def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each rule is added that is evaluated from now on; that takes time."""
    rules, authorize = list[str](), Enforcer.authorize

    def noted(enforcer: Enforcer, rule: str, *more: Any, **options: Any) -> Any:
        rules.append(rule)
        return authorize(enforcer, rule, *more, **options)

    monkeypatch.setattr(Enforcer, "authorize", noted)
    return rules


def ask(running: Service, token: str | None, method: str, path: str, body: Any = None) -> Response:
    """Send a request with a token."""
    return running.call(method, path, body=body, headers={} if token is None else {"X-Auth-Token": token})
