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


def _set_event() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


@dataclass
class ScriptedBmc:
    """What is served, what is answered to orders in turn (204 after that), and the orders that came.

    An answer is a status, or a status and a document. ``raw`` is answered to every question instead of a document, and
    nothing but a status if there is a ``refusal``. ``on_reset`` is called with each reset that was done, ``on_order``
    with the path of each order before it is answered. A question is answered once ``may_answer`` is set, as it is from
    the beginning. ``allow`` is the methods that all resources allow.
    """

    address: str = ""
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    answers: list[int | tuple[int, Any]] = field(default_factory=list)
    orders: list[tuple[str, Any]] = field(default_factory=list)
    questions: int = 0
    asked: list[str] = field(default_factory=list)
    raw: bytes | None = None
    refusal: int | None = None
    on_reset: Callable[[str], None] | None = None
    on_order: Callable[[str], None] = lambda _path: None
    may_answer: threading.Event = field(default_factory=_set_event)
    allow: str | None = None

    @property
    def node_values(self) -> dict[str, Any]:
        """What a node of fake hardware has whose power this BMC switches."""
        info = {"redfish_address": self.address, "redfish_system_id": SYSTEM}
        return {"power_interface": "redfish", "management_interface": "redfish", "driver_info": info}

    def order(self, path: str, body: Any) -> tuple[int, Any]:
        self.orders.append((path, body))
        self.on_order(path)
        answer = self.answers.pop(0) if self.answers else 204
        status, document = answer if isinstance(answer, tuple) else (answer, {})
        if status == 204 and path == RESET:
            self._reset(body["ResetType"])
        if status == 204:
            self._carry_out(path, body)
        return status, document

    def _carry_out(self, path: str, body: Any) -> None:
        """Fill or empty a virtual drive."""
        if isinstance(body, dict) and "Inserted" in body and path in self.documents:
            self.documents[path] |= {"Inserted": body["Inserted"], "Image": body.get("Image")}
        for document in self.documents.values():
            for name, inserted in (("EjectMedia", False), ("InsertMedia", True)):
                action = (document.get("Actions") or {}).get(f"#VirtualMedia.{name}") or {}
                if action.get("target") == path:
                    document |= {"Inserted": inserted, "Image": body["Image"] if inserted else None}

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
        bmc.may_answer.set()
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def silent_bmc() -> Iterator[ScriptedBmc]:
    """Serve one that takes questions and does not answer them before the test says so."""
    with scripted_bmc("On") as bmc:
        bmc.may_answer.clear()
        yield bmc


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
            bmc.may_answer.wait(60)
            if bmc.refusal is not None:
                return self._answer(bmc.refusal, {})
            if bmc.raw is not None:
                return self._send(200, bmc.raw)
            document = bmc.documents.get(self.path.rstrip("/"))
            return self._answer(404 if document is None else 200, document or {})

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"] or 0))
            body = json.loads(content) if content else None
            status, document = bmc.order(self.path, body)
            if status != HANG_UP:
                self._answer(status, document)

        do_PATCH = do_POST

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def _answer(self, status: int, document: dict[str, Any]) -> None:
            if self.command == "PATCH" and status == 204 and "Boot" in (sent := bmc.sent()[-1]):
                stored = bmc.documents[self.path.rstrip("/")]
                # A device is stored at once; a mode takes effect at the next restart.
                device = {key: value for key, value in sent["Boot"].items() if key != "BootSourceOverrideMode"}
                stored["Boot"] = {**(stored.get("Boot") or {}), **device}
            self._send(status, b"" if status == 204 else json.dumps(document).encode())

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            if bmc.allow is not None:
                self.send_header("Allow", bmc.allow)
            self.end_headers()
            self.wfile.write(body)

    return Handler
