"""A server of the API's kind with a small application, and how to ask it."""

import http.client
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any

from ironic.command.http_server import ApiServer

LOOPBACK = ("127.0.0.1", 0)


def hello(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer every request alike."""
    start_response("200 OK", [("Content-Length", "5")])
    return [b"hello"]


def get(connection: http.client.HTTPConnection) -> bytes:
    """Send one request and return the body of its answer."""
    with closing(connection):
        connection.request("GET", "/")
        return connection.getresponse().read()


def port_of(server: ApiServer) -> int:
    """Return the port a server found for itself."""
    return int(server.url.rsplit(":", 1)[1])
