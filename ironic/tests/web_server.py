"""A web server for tests, with the files of a directory.

    with web_server(directory) as web:
        requests.get(f"{web.url}/file")

It notes what it has sent; ``login`` makes it ask for an Authorization header.
"""

import contextlib
import http.server
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class WebServer:
    """What is served, and what was asked for."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.url = directory, ""
        self.sent: list[str] = []
        self.login: str | None = None


def _handler(web: WebServer) -> type[http.server.SimpleHTTPRequestHandler]:
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, directory=str(web.directory), **more)

        def do_GET(self) -> None:
            if web.login and self.headers.get("Authorization") != web.login:
                self.send_error(401)
            else:
                super().do_GET()

        def copyfile(self, source: Any, outputfile: Any) -> None:
            web.sent.append(self.path)
            super().copyfile(source, outputfile)

        def log_message(self, *args: Any) -> None:
            pass

    return Handler


@contextlib.contextmanager
def web_server(directory: Path, tls: ssl.SSLContext | None = None) -> Iterator[WebServer]:
    """Run a server on a free port until the block ends."""
    web = WebServer(directory)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(web))
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    web.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
