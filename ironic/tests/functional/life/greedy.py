"""Clients of one address that send requests as fast as they are answered, whatever the answer; a process of its own.

`python -m ironic.tests.functional.life.greedy PORT ADDRESS KIND CONNECTIONS` begins with a line, and ends when its
input does, with a line that has the number of answers by status, as JSON.
"""

import contextlib
import http.client
import json
import sys
import threading
from collections import Counter

# A body that costs as much as the limits on its size and its values allow, and makes no node.
_BODY = json.dumps({"driver": "fake-hardware", "extra": [["x" * 50] * 15_000]})
_CARD = "52:54:00:00:00:99"
_REPORT = {"inventory": {"interfaces": [{"mac_address": _CARD}]}, "plugin_data": {"a": ["x" * 50] * 100}}
HEADERS = {"Content-Type": "application/json", "X-OpenStack-Ironic-API-Version": "1.96"}
KINDS = {
    "short lists": ("GET", "/v1/nodes?limit=10", None),
    "all nodes in detail": ("GET", "/v1/nodes/detail", None),
    "large bodies": ("POST", "/v1/nodes", _BODY),
    "a public document": ("GET", "/v1/openapi.json", None),
    "the root": ("GET", "/", None),
    "refused requests": ("GET", "/v1/nowhere", None),
    "refused methods": ("PUT", "/v1/nodes", None),
    "health checks": ("GET", "/healthcheck", None),
}
# What agents ask without a login. It has a limit of its own, and beyond it a status after which agents try again.
KINDS_OF_RAMDISKS = {
    "look-ups": ("GET", f"/v1/lookup?addresses={_CARD}", None),
    "heartbeats": (
        "POST",
        "/v1/heartbeat/11111111-0000-4000-8000-000000000001",
        json.dumps({"callback_url": "http://192.0.2.1:9999", "agent_version": "11.0.0", "agent_token": "x" * 40}),
    ),
    "reports": ("POST", "/v1/continue_inspection", json.dumps(_REPORT)),
}
ALL_KINDS: dict[str, tuple[str, str, str | None]] = KINDS | KINDS_OF_RAMDISKS


def main(port: str, address: str, kind: str, connections: str) -> None:
    ended, guard, answers = threading.Event(), threading.Lock(), Counter[int]()

    def be_greedy() -> None:
        client = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60, source_address=(address, 0))
        while not ended.is_set():
            # One that is cut off connects again at once.
            with contextlib.suppress(OSError, http.client.HTTPException):
                client.request(*ALL_KINDS[kind], HEADERS)
                answer = client.getresponse()
                answer.read()
                with guard:
                    answers[answer.status] += 1
                continue
            client.close()

    threads = [threading.Thread(target=be_greedy) for _ in range(int(connections))]
    for thread in threads:
        thread.start()
    _say("begun")
    sys.stdin.read()
    ended.set()
    for thread in threads:
        thread.join()
    _say(json.dumps(answers))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
