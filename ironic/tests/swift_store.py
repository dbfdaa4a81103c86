"""An object store for tests: what Swift answers to the few requests that are made of it, over real HTTP.

Use: `with swift_store() as swift`, then look at its url, objects and requests.
"""

import contextlib
import hmac
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

ACCOUNT = "/v1/AUTH_test"


class SwiftStore:
    """The state of the store."""

    def __init__(self) -> None:
        self.containers: set[str] = set()
        self.objects: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        # After how many seconds an object goes, by its path.
        self.expiry: dict[str, str | None] = {}
        # A status that everything is answered with, to play a store in trouble.
        self.trouble: int | None = None
        self.port = 0
        # What temporary URLs are proved with, and whether the account can have such a key.
        self.key: str | None = None
        self.keeps_keys = True

    @property
    def url(self) -> str:
        """The account."""
        return f"http://127.0.0.1:{self.port}{ACCOUNT}"

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Return status and body."""
        self.requests.append((method, path))
        if self.trouble:
            return self.trouble, b"out of order"
        if "?" in path:
            return self._temporary(path)
        container, _, name = path.removeprefix(f"{ACCOUNT}/").partition("/")
        if method == "PUT" and not name:
            self.containers.add(container)
            return 201, b""
        if container not in self.containers or (method != "PUT" and path not in self.objects):
            return 404, b""
        if method == "PUT":
            self.objects[path] = body
            return 201, b""
        if method == "DELETE":
            del self.objects[path]
            return 204, b""
        return 200, self.objects[path]

    def _temporary(self, path: str) -> tuple[int, bytes]:
        """Answer a temporary URL as Swift does: its proof covers method, time and the plain path."""
        parts = urlsplit(path)
        said = {name: values[0] for name, values in parse_qs(parts.query).items()}
        signed = f"GET\n{said['temp_url_expires']}\n{unquote(parts.path)}".encode()
        proof = hmac.new((self.key or "").encode(), signed, "sha256").hexdigest()
        if proof != said["temp_url_sig"] or int(said["temp_url_expires"]) < time.time():
            return 401, b""
        return 200, self.objects[parts.path]


@contextlib.contextmanager
def swift_store() -> Iterator[SwiftStore]:
    """Run a store until the block ends."""
    store = SwiftStore()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            store.expiry[self.path] = self.headers.get("X-Delete-After")
            status, answer = store.answer(self.command, self.path, body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_PUT = do_DELETE = _any

        def do_HEAD(self) -> None:
            container = self.path.removeprefix(ACCOUNT).strip("/")
            is_there = not container or container in store.containers
            self.send_response(store.trouble or (204 if is_there else 404))
            if store.key:
                self.send_header("X-Account-Meta-Temp-Url-Key", store.key)
            self.end_headers()

        def do_POST(self) -> None:
            store.key = self.headers["X-Account-Meta-Temp-Url-Key"] if store.keeps_keys else None
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    store.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
