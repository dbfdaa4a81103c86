"""An object store for tests: what Swift answers to the few requests that are made of it, over real HTTP.

Use: `with swift_store() as swift`, then look at its url, objects and requests.
"""

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ACCOUNT = "/v1/AUTH_test"


class SwiftStore:
    """The state of the store."""

    def __init__(self) -> None:
        self.containers: set[str] = set()
        self.objects: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        # A status that everything is answered with, to play a store in trouble.
        self.trouble: int | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """The account."""
        return f"http://127.0.0.1:{self.port}{ACCOUNT}"

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Return status and body."""
        self.requests.append((method, path))
        if self.trouble:
            return self.trouble, b"out of order"
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


@contextlib.contextmanager
def swift_store() -> Iterator[SwiftStore]:
    """Run a store until the block ends."""
    store = SwiftStore()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, answer = store.answer(self.command, self.path, body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_PUT = do_DELETE = _any

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
