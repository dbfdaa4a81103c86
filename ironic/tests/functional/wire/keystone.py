"""A local HTTP server that plays as much of Keystone as checking a token needs."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# token -> roles, and the project it is for; None: the whole system
TOKENS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "system-admin": (("admin", "manager", "member", "reader"), None),
    "system-reader": (("reader",), None),
    "owner-member": (("member", "reader"), "owners"),
    "owner-admin": (("admin", "manager", "member", "reader"), "owners"),
    "lessee-member": (("member", "reader"), "lessees"),
    "stranger": (("admin", "manager", "member", "reader"), "strangers"),
    "nobody": ((), "owners"),
}


def _token(roles: tuple[str, ...], project: str | None) -> dict[str, Any]:
    now = datetime.now(UTC)
    domain = {"id": "default", "name": "Default"}
    scope = (
        {"system": {"all": True}}
        if project is None
        else {"project": {"id": project, "name": project, "domain": domain}}
    )
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


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        port = self.server.server_port  # type: ignore[attr-defined]
        if self.path.startswith("/v3/auth/tokens"):
            found = TOKENS.get(self.headers.get("X-Subject-Token", ""))
            self._answer(404 if found is None else 200, {"token": _token(*found)} if found else {"error": {}})
        else:
            link = {"href": f"http://127.0.0.1:{port}/v3/", "rel": "self"}
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
def playing() -> Iterator[str]:
    """Run the server; gives its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
