"""An Acme machine to try the package with: `python acme_simulator.py` serves its BMC on port 8000 of this host."""

import http.server
import json
import sys

MACHINE = {"on": False, "light": False}
LINES: list[str] = []


class Bmc(http.server.BaseHTTPRequestHandler):
    """Answers what the client asks."""

    def answer(self):
        """Take the document of the request, and send the one that belongs to its path."""
        document = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
        name = self.path.strip("/").partition("/")[0]
        if self.command != "GET":
            LINES.append(f"{name} {json.dumps(document)}")
        if name in ("power", "light"):
            MACHINE["on" if name == "power" else "light"] = document.get("on", MACHINE["on"])
        answers = {
            "power": {"on": MACHINE["on"]},
            "light": {"on": MACHINE["light"]},
            "temperature": {"celsius": 41},
            "log": {"lines": LINES},
            "selftest": {"job": "1"} if self.command == "POST" else {"state": "passed"},
        }
        body = json.dumps(answers.get(name)).encode()
        self.send_response(200 if name in answers else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = answer


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Bmc).serve_forever()
