"""A service that inspection rules call: it counts and remembers requests and answers as configured."""

import contextlib
import http.server
import threading
from collections.abc import Callable, Iterator
from typing import Any


class Catcher:
    """What was asked, and what is answered: the next of `statuses`, or 200; `on_call` runs meanwhile."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.statuses: list[int] = []
        self.location: str | None = None
        self.on_call: Callable[[], None] = lambda: None
        # What is sent instead of an answer, piece by piece until the other side has gone.
        self.endless: bytes | None = None

    @property
    def paths(self) -> list[str]:
        return [path for _, path, _ in self.asked]


def _handler(catcher: Catcher) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            catcher.asked.append((self.command, self.path, dict(self.headers)))
            catcher.on_call()
            if catcher.endless:
                self._never_end(catcher.endless)
                return
            self.send_response(catcher.statuses.pop(0) if catcher.statuses else 200)
            if catcher.location:
                self.send_header("Location", catcher.location)
            self.send_header("Content-Length", "2")
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(b"ok")

        def _never_end(self, piece: bytes) -> None:
            gone = threading.Event()
            with contextlib.suppress(OSError):
                while not gone.wait(0.02):
                    self.wfile.write(piece)
            self.close_connection = True

        def log_message(self, *args: Any) -> None:
            pass

    return Handler


@contextlib.contextmanager
def call_catcher(tls: Any = None) -> Iterator[Catcher]:
    """Run one on a free port of the loopback until the block ends."""
    catcher = Catcher()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(catcher))
    server.daemon_threads = True
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    catcher.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield catcher
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
