"""An agent for tests: a real HTTP(S) server on a free port that answers as a real agent did.

    with agent_double(tls=True) as agent:
        node.driver_internal_info |= agent.memory()

What it offers and the shape of its answers come from recorded traffic (tests/data/agent-commands.json). Short commands
end at once; a long one runs until the test says how it ends: ``agent.end()``, ``agent.end("FAILED", error={...})``.
"""

import contextlib
import datetime
import ipaddress
import json
import ssl
import tempfile
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "data/agent-commands.json").read_text())
TOKEN = "a-token-that-only-the-agent-knows"
HOST = "127.0.0.1"


class AgentDouble:
    """What the server knows and notes; tests change it as they like."""

    def __init__(self, certificate: str | None) -> None:
        self.certificate = certificate
        self.token = TOKEN
        self.url = ""
        self.commands: list[dict[str, Any]] = []
        self.received: list[tuple[str, dict[str, Any]]] = []
        self.results: dict[str, Any] = {
            name: case["response"]["command_result"]
            for name, case in RECORDED.items()
            if isinstance(case["response"], dict) and case["response"].get("command_status") == "SUCCEEDED"
        }
        self.results |= {"standby.sync": None, "rescue.finalize_rescue": None, "standby.power_off": None}
        self.results["system.lockdown"] = None
        self.ends_at_once: set[str] = set()
        self.refusals: dict[str, tuple[int, str]] = {}
        self.lost_answers = 0
        self.raw: bytes | None = None
        self.calls = 0

    def memory(self) -> dict[str, Any]:
        """Return what a node remembers of this agent."""
        known = {"agent_url": self.url, "agent_secret_token": self.token, "agent_verify_ca": self.certificate}
        return {key: value for key, value in known.items() if value is not None}

    def beat(self) -> dict[str, Any]:
        """Return what this agent says in a heartbeat."""
        return {"callback_url": self.url, "agent_version": "13.0.0", "agent_verify_ca": self.certificate}

    @property
    def names(self) -> list[str]:
        """The commands it was given, in order."""
        return [name for name, _ in self.received]

    def restart(self) -> None:
        """Forget all commands, as after a boot."""
        self.commands.clear()

    def end(self, status: str = "SUCCEEDED", *, result: Any = None, error: Any = None) -> None:
        """End the command that runs."""
        last, (name, params) = self.commands[-1], self.received[-1]
        assert last["command_status"] == "RUNNING", f"no command is running, the last one was {name}"
        if status == "SUCCEEDED" and name.partition(".")[2].startswith("execute_"):
            flow = name.partition(".")[0]
            result = {f"{flow}_result": result, f"{flow}_step": params["step"]}
        last.update(command_status=status, command_result=result, command_error=error)

    def take(self, name: str, params: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Take a command as the agent does."""
        if name in self.refusals:
            status, text = self.refusals[name]
            return status, {"faultcode": "Client" if status < 500 else "Server", "faultstring": text}
        if any(command["command_status"] == "RUNNING" for command in self.commands):
            return 409, {"faultcode": "Client", "faultstring": "busy"}
        self.received.append((name, params))
        command = {"id": str(uuid.uuid4()), "command_name": name.partition(".")[2], "command_error": None}
        done = name in self.results or name in self.ends_at_once
        command |= {"command_status": "SUCCEEDED" if done else "RUNNING", "command_result": self.results.get(name)}
        self.commands.append(command)
        return 200, dict(command)


def _handler(agent: AgentDouble) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._serve(lambda: (200, {"commands": agent.commands}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._serve(lambda: agent.take(body["name"], body["params"]))

        def _serve(self, answer: Any) -> None:
            agent.calls += 1
            parts = urlsplit(self.path)
            if parts.path != "/v1/commands/":
                status, document = 404, {"faultcode": "Client", "faultstring": "unknown path"}
            elif parse_qs(parts.query).get("agent_token") != [agent.token]:
                status, document = 401, {"faultcode": "Client", "faultstring": "wrong token"}
            else:
                status, document = answer()
            if agent.lost_answers:
                agent.lost_answers -= 1
                self.close_connection = True
                return
            content = json.dumps(document).encode() if agent.raw is None else agent.raw
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            pass

    return Handler


@contextlib.contextmanager
def agent_double(*, tls: bool = False) -> Iterator[AgentDouble]:
    """Run an agent until the block ends."""
    certificate, key = make_certificate() if tls else (None, None)
    agent = AgentDouble(certificate)
    server = ThreadingHTTPServer((HOST, 0), _handler(agent))
    server.daemon_threads = True
    if certificate and key:
        server.socket = secured(certificate, key).wrap_socket(server.socket, server_side=True)
    agent.url = f"{'https' if tls else 'http'}://{HOST}:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield agent
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def secured(certificate: str, key: str) -> ssl.SSLContext:
    """Return the terms of TLS of a server that shows this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(certificate + key)
        file.flush()
        context.load_cert_chain(file.name)
    return context


def make_certificate(*names: str) -> tuple[str, str]:
    """Return a certificate and its key as an agent makes them: signed by itself, no authority; also for ``names``."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    subjects = [x509.IPAddress(ipaddress.ip_address(HOST)), *map(x509.DNSName, names)]
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName(subjects), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(pem).decode(), secret.decode()
