"""A BMC that misbehaves: it lies, stalls, hangs up, sends nonsense, and counts logins.

``misbehave`` gets each request before the usual answer is given, and may give another one through the handler's socket.
With a ``password`` the BMC has sessions and basic authentication; it counts the logins that it was asked for.
"""

import base64
import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SYSTEM = "/redfish/v1/Systems/1"
SESSIONS = "/redfish/v1/SessionService/Sessions"
USER = "operator"


@dataclass
class HostileBmc:
    """What it serves, and what came."""

    address: str = ""
    password: str | None = None
    has_sessions: bool = True
    documents: dict[str, Any] = field(default_factory=dict)
    misbehave: Callable[["Handler"], bool] = lambda _handler: False
    tokens: list[str] = field(default_factory=list)
    # "session" or "basic", and whether it was right.
    logins: list[tuple[str, bool]] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)

    def driver_info(self, **changes: Any) -> dict[str, Any]:
        """Return what a node needs to reach it."""
        login = {"redfish_username": USER, "redfish_password": self.password} if self.password else {}
        return {"redfish_address": self.address, "redfish_system_id": SYSTEM, **login, **changes}

    def expire_sessions(self) -> None:
        """Forget all sessions."""
        self.tokens.clear()

    def count(self, method: str, path: str) -> int:
        """Return how often a request came."""
        return self.requests.count((method, path))


class Handler(BaseHTTPRequestHandler):
    """Answers as the BMC of its server."""

    @property
    def bmc(self) -> HostileBmc:
        return self.server.bmc  # type: ignore[attr-defined]

    def do_GET(self) -> None:
        path = self.path.rstrip("/") or "/"
        self.bmc.requests.append((self.command, path))
        self.content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.bmc.misbehave(self):
            return None
        if self.command == "POST" and path == SESSIONS and self.bmc.has_sessions:
            return self._begin_session()
        if path != "/redfish/v1" and not self._is_let_in():
            return self.answer(401, {})
        if self.command != "GET":
            return self._take_order(path)
        document = self.bmc.documents.get(path)
        return self.answer(404 if document is None else 200, document if document is not None else {})

    do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

    def _take_order(self, path: str) -> None:
        if self.command == "DELETE" and path.startswith(f"{SESSIONS}/"):
            self.bmc.tokens.remove(path.removeprefix(f"{SESSIONS}/"))
        if path.endswith("ComputerSystem.Reset"):
            kind = json.loads(self.content)["ResetType"]
            self.bmc.documents[SYSTEM]["PowerState"] = "Off" if kind == "ForceOff" else "On"
        for document in self.bmc.documents.values():
            actions = document.get("Actions") if isinstance(document, dict) else None
            for name, inserted in (("EjectMedia", False), ("InsertMedia", True)):
                action = actions.get(f"#VirtualMedia.{name}") if isinstance(actions, dict) else None
                if isinstance(action, dict) and str(action.get("target")).endswith(path):
                    image = json.loads(self.content).get("Image") if inserted else None
                    document |= {"Inserted": inserted, "Image": image}
        given = json.loads(self.content) if self.command == "PATCH" else {}
        if "Inserted" in given:
            self.bmc.documents[path] |= {"Inserted": given["Inserted"], "Image": given.get("Image")}
        if "IndicatorLED" in given:
            self.bmc.documents[path]["IndicatorLED"] = given["IndicatorLED"]
        if isinstance(boot := given.get("Boot"), dict):
            document = self.bmc.documents[path]
            # A mode takes effect with a restart, if at all.
            stored = {name: value for name, value in boot.items() if name != "BootSourceOverrideMode"}
            document["Boot"] = {**(document.get("Boot") or {}), **stored}
        self.answer(204, None)

    def _begin_session(self) -> None:
        given = json.loads(self.content)
        is_right = (given.get("UserName"), given.get("Password")) == (USER, self.bmc.password)
        self.bmc.logins.append(("session", is_right))
        if not is_right:
            return self.answer(401, {})
        token = f"token-{len(self.bmc.logins)}"
        self.bmc.tokens.append(token)
        return self.answer(201, {"Id": token}, {"X-Auth-Token": token, "Location": f"{SESSIONS}/{token}"})

    def _is_let_in(self) -> bool:
        if self.bmc.password is None:
            return True
        if (token := self.headers.get("X-Auth-Token")) is not None:
            return token in self.bmc.tokens
        if (basic := self.headers.get("Authorization")) is None:
            return False
        user, _, password = base64.b64decode(basic.removeprefix("Basic ")).decode().partition(":")
        is_right = (user, password) == (USER, self.bmc.password)
        self.bmc.logins.append(("basic", is_right))
        return is_right

    def answer(self, status: int, document: Any, headers: dict[str, str] | None = None) -> None:
        """Send a JSON document."""
        self.send(status, b"" if document is None else json.dumps(document).encode(), headers)

    def send(self, status: int, body: bytes, headers: dict[str, str] | None = None, length: int | None = None) -> None:
        """Send a body; ``length`` is what is announced."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A test that ends does not wait for an answer that stalls.
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients hang up on a BMC like this."""


@contextlib.contextmanager
def hostile_bmc(password: str | None = None, **system: Any) -> Iterator[HostileBmc]:
    """Serve one system with these properties until the block ends."""
    reset = {"target": f"{SYSTEM}/Actions/ComputerSystem.Reset"}
    bmc = HostileBmc(password=password)
    bmc.documents = {
        "/redfish/v1": {
            "Id": "Root",
            "Systems": {"@odata.id": "/redfish/v1/Systems"},
            "Links": {"Sessions": {"@odata.id": SESSIONS}},
        },
        "/redfish/v1/Systems": {"Name": "Systems", "Members": [{"@odata.id": SYSTEM}]},
        SYSTEM: {"Id": "1", "PowerState": "Off", "Actions": {"#ComputerSystem.Reset": reset}, **system},
    }
    server = _Server(("127.0.0.1", 0), Handler)
    server.bmc = bmc  # type: ignore[attr-defined]
    bmc.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield bmc
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
