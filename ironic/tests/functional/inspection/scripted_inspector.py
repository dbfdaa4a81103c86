"""A server that answers as the standalone inspector does, or as a test wants it to: wrongly, late, or not at all.

The tests with the real one are in `scenario/inspector`; it can't be made to hang.
"""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

# A report names its node by this key.
NODE = "of_node"


class Asked(NamedTuple):
    """A request; ``authorization`` is that header, or the token of Keystone."""

    method: str
    path: str
    authorization: str | None
    body: Any


class ScriptedInspector:
    """Introspections by the UUID of the node; what it is asked, and how it answers instead of as usual."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[Asked] = []
        self.states: dict[str, str] = {}
        self.data: dict[str, Any] = {}
        # Last word of a path, such as `continue` -> status and body.
        self.instead: dict[str, tuple[int, bytes]] = {}
        # Nodes whose requests are answered only when the test ends, once they have had their effect.
        self.hanging: set[str] = set()
        # What a report leads to.
        self.reported = "finished"
        self.is_over = threading.Event()

    def of(self, word: str) -> list[Asked]:
        """Return the requests whose path ends with a word."""
        return [one for one in self.asked if urlsplit(one.path).path.endswith(word)]

    def answer(self, asked: Asked) -> tuple[int, bytes]:
        """Note a request, carry it out, and return the answer."""
        self.asked.append(asked)
        *_, before, word = urlsplit(asked.path).path.split("/")
        if word in self.instead:
            return self.instead[word]
        uuid = before if word in ("data", "abort") else asked.body[NODE] if word == "continue" else word
        hangs = uuid in self.hanging
        status, document = self._carry_out(asked.method, word, uuid, asked.body)
        if hangs:
            self.is_over.wait(60)
        return status, json.dumps(document).encode()

    def _carry_out(self, method: str, word: str, uuid: str, body: Any) -> tuple[int, Any]:
        state = self.states.get(uuid)
        if method == "GET":
            if word == "data":
                return (200, self.data[uuid]) if uuid in self.data else (404, _error("no data"))
            finished = state in ("finished", "error")
            error = "Canceled by operator" if state == "error" else None
            return 200, {"uuid": uuid, "state": state, "finished": finished, "error": error}
        if word == "continue":
            if state != "waiting":
                return 404, _error("Could not find a node for these attributes")
            self.data[uuid] = body
        self.states[uuid] = {"continue": self.reported, "abort": "error"}.get(word, "waiting")
        return 202, {}


def _error(text: str) -> dict[str, Any]:
    return {"error": {"message": text}}


@contextmanager
def scripted_inspector() -> Iterator[ScriptedInspector]:
    """Run one on the loopback until the block ends."""
    script = ScriptedInspector()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            login = self.headers.get("Authorization") or self.headers.get("X-Auth-Token")
            status, content = script.answer(Asked(self.command, self.path, login, body))
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *args: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *args: object) -> None:
            pass  # a client that did not wait for its answer

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        script.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield script
        finally:
            script.is_over.set()
            server.shutdown()
            thread.join()
