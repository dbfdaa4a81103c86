"""An Acme machine's BMC, played over real HTTP: power, light, temperature, a log, a self test that takes time."""

import contextlib
import http.server
import itertools
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

TOKEN = "hunter2"
TEST_SECONDS = 1.0


class Machine:
    """What the BMC knows."""

    def __init__(self) -> None:
        self.on = False
        self.celsius = 41
        self.lines: list[str] = []
        self.tests: dict[str, tuple[float, bool]] = {}
        self._numbers = itertools.count(1)

    def power(self, document: Any) -> Any:
        if document is not None:
            self.on = document["on"]
            self.lines.append(f"power {'on' if self.on else 'off'}")
        return {"on": self.on}

    def light(self, document: Any) -> Any:
        self.lines.append(f"light {'on' if document['on'] else 'off'}")
        return document

    def temperature(self, document: Any) -> Any:
        return {"celsius": self.celsius}

    def log(self, document: Any) -> Any:
        return {"lines": self.lines}

    def selftest(self, document: Any, job: str | None = None) -> Any:
        if job is None:
            job = str(next(self._numbers))
            self.tests[job] = (time.monotonic() + TEST_SECONDS, document["fail"])
            self.lines.append("selftest")
            return {"job": job}
        end, fails = self.tests[job]
        if time.monotonic() < end:
            return {"state": "running"}
        return {"state": "failed", "reason": "fan 3 does not turn"} if fails else {"state": "passed"}


class _Bmc(http.server.BaseHTTPRequestHandler):
    machine: Machine

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        document = json.loads(self.rfile.read(length)) if length else None
        if self.headers.get("X-Acme-Token") != TOKEN:
            self.send_error(401)
            return
        name, *rest = self.path.strip("/").split("/")
        body = json.dumps(getattr(self.machine, name)(document, *rest)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = _answer

    def log_message(self, *arguments: Any) -> None:
        pass


@contextlib.contextmanager
def acme_machine() -> Iterator[tuple[Machine, str]]:
    """Run a machine until the block ends; gives it and the address of its BMC."""
    machine = Machine()
    handler = type("Bmc", (_Bmc,), {"machine": machine})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield machine, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
