"""A BMC with the answers of a test: for behaviour that the emulator does not show."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SYSTEM = "/redfish/v1/Systems/1"
RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"
KEYS = f"{SYSTEM}/SecureBoot/Actions/ResetKeys"

# In place of a status: hang up without an answer.
HANG_UP = 0


@dataclass
class ScriptedBmc:
    """What is served, what is answered to orders in turn (204 after that), and the orders that came.

    ``raw`` is answered to every question instead of a document, and nothing but a status if there is a
    ``refusal``; ``on_reset`` is called with each reset that was done.
    """

    address: str = ""
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    answers: list[int] = field(default_factory=list)
    orders: list[tuple[str, Any]] = field(default_factory=list)
    questions: int = 0
    asked: list[str] = field(default_factory=list)
    raw: bytes | None = None
    refusal: int | None = None
    on_reset: Callable[[str], None] | None = None

    def order(self, path: str, body: Any) -> int:
        self.orders.append((path, body))
        status = self.answers.pop(0) if self.answers else 204
        if status == 204 and path == RESET:
            self._reset(body["ResetType"])
        return status

    def sent(self) -> list[Any]:
        """Return the bodies of the orders in turn."""
        return [body for _path, body in self.orders]

    def _reset(self, reset: str) -> None:
        self.documents[SYSTEM]["PowerState"] = "Off" if reset in ("ForceOff", "GracefulShutdown") else "On"
        if self.on_reset is not None:
            self.on_reset(reset)


@contextlib.contextmanager
def scripted_bmc(power: str = "Off", **system: Any) -> Iterator[ScriptedBmc]:
    """Serve one system with these properties until the block ends."""
    bmc = ScriptedBmc(documents=_documents(power, system))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(bmc))
    bmc.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield bmc
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _documents(power: str, system: dict[str, Any]) -> dict[str, dict[str, Any]]:
    resets = ["On", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "Nmi"]
    return {
        "/redfish/v1": {"Id": "Root", "Name": "Root", "Systems": {"@odata.id": "/redfish/v1/Systems"}},
        "/redfish/v1/Systems": {"Name": "Systems", "Members": [{"@odata.id": SYSTEM}]},
        SYSTEM: {
            "Id": "1",
            "PowerState": power,
            "Actions": {
                "#ComputerSystem.Reset": {"target": RESET, "ResetType@Redfish.AllowableValues": resets},
            },
            **system,
        },
        f"{SYSTEM}/SecureBoot": {
            "Id": "SecureBoot",
            "Name": "SecureBoot",
            "SecureBootEnable": False,
            "Actions": {
                "#SecureBoot.ResetKeys": {
                    "target": KEYS,
                    "ResetKeysType@Redfish.AllowableValues": ["ResetAllKeysToDefault", "DeleteAllKeys"],
                },
            },
        },
    }


def _handler(bmc: ScriptedBmc) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            bmc.questions += 1
            bmc.asked.append(self.path.rstrip("/"))
            if bmc.refusal is not None:
                return self._answer(bmc.refusal, {})
            if bmc.raw is not None:
                return self._send(200, bmc.raw)
            document = bmc.documents.get(self.path.rstrip("/"))
            return self._answer(404 if document is None else 200, document or {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or "null")
            status = bmc.order(self.path, body)
            if status != HANG_UP:
                self._answer(status, {})

        do_PATCH = do_POST

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def _answer(self, status: int, document: dict[str, Any]) -> None:
            self._send(status, b"" if status == 204 else json.dumps(document).encode())

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

    return Handler
