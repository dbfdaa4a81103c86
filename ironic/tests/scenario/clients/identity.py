"""A local HTTP server that plays as much of Keystone as clients and service need.

One can log in, find the service in the catalog, and have a token checked. Everybody's password is their name, and a
token is the name and what it is good for.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Who there is, and with which roles.
USERS = {
    "operator": ("admin", "manager", "member", "reader"),
    "auditor": ("reader",),
    "tenant": ("member", "reader"),
    "nova": ("service",),
}
ISSUER = "service-itself"
_DOMAIN = {"id": "default", "name": "Default"}


class _Keystone(BaseHTTPRequestHandler):
    catalog_url: str

    def do_GET(self) -> None:
        if self.path.startswith("/v3/auth/tokens"):
            name, _, scope = self.headers.get("X-Subject-Token", "").partition("@")
            known = name in USERS
            self._answer(200 if known else 404, {"token": self._token(name, scope)} if known else {"error": {}})
        else:
            link = {"href": f"{self._own_url}/v3/", "rel": "self"}
            version = {"id": "v3.14", "status": "stable", "links": [link], "media-types": []}
            single = self.path.startswith("/v3")
            self._answer(
                200 if single else 300, {"version": version} if single else {"versions": {"values": [version]}}
            )

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["auth"]
        user = asked["identity"]["password"]["user"]
        scope = "system" if "system" in asked.get("scope", {}) else asked["scope"]["project"]["name"]
        if USERS.get(user["name"]) is None or user["password"] != user["name"]:
            self._answer(401, {"error": {"code": 401, "title": "Unauthorized", "message": "no"}})
        else:
            self._answer(201, {"token": self._token(user["name"], scope)}, token=f"{user['name']}@{scope}")

    @property
    def _own_url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"  # type: ignore[attr-defined]

    def _token(self, name: str, scope: str) -> dict[str, Any]:
        now = datetime.now(UTC)
        endpoint = {"id": "e", "interface": "public", "region": "r", "region_id": "r", "url": self.catalog_url}
        project = {"project": {"id": scope, "name": scope, "domain": _DOMAIN}}
        return {
            "methods": ["password"],
            "user": {"id": name, "name": name, "domain": _DOMAIN, "password_expires_at": None},
            "roles": [{"id": role, "name": role} for role in USERS[name]],
            "issued_at": now.strftime("%Y-%m-%dT%H:%M:%S.000000Z"),
            "expires_at": (now + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.000000Z"),
            "audit_ids": ["a"],
            "catalog": [{"id": "s", "type": "baremetal", "name": "ironic", "endpoints": [endpoint]}],
            **({"system": {"all": True}} if scope == "system" else project),
        }

    def _answer(self, status: int, document: Any, token: str | None = None) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if token:
            self.send_header("X-Subject-Token", token)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def keystone(catalog_url: str) -> Iterator[str]:
    """Run the server, with this address of the service in its catalog; gives its URL."""
    handler = type("Keystone", (_Keystone,), {"catalog_url": catalog_url})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
