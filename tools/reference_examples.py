"""Examples of `api-ref/`: requests of reference.yaml sent to the API in this process, with their answers.

Each page starts with an empty SQLite database and the nodes of `_SETTING`. Times are replaced, because they differ from
run to run; an example states the answers of the conductor, because there is no machine behind it.
"""

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ironic.api.settings import ApiSettings
from ironic.tests.functional.wire import described
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import NEWEST, VERSION_HEADER, Service

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")
_NOON = "2026-01-01T12:00:00.000000+00:00"
_SETTING = (
    ("/v1/nodes", {"uuid": "8e1ad1a4-6f4b-4a5f-9c43-6c6a1f4f5b01", "name": "rack1-slot1", "driver": "fake-hardware"}),
    ("/v1/nodes", {"uuid": "8e1ad1a4-6f4b-4a5f-9c43-6c6a1f4f5b02", "name": "rack1-slot2", "driver": "fake-hardware"}),
)


def examples(wanted: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Send the requests of a page; yield the lines of requests and answers."""
    if not (steps := list(wanted)):
        return
    yield "## Examples\n"
    with tempfile.TemporaryDirectory() as directory:
        settings = ApiSettings(public_endpoint="https://ironic.example.org", node_locked_attempts=1)
        service = services.start(Path(directory), settings, host="conductor-1")
        try:
            for path, body in _SETTING:
                service.call("POST", path, body=body)
            for step in steps:
                yield from _exchange(service, step)
        finally:
            service.close()


def _exchange(service: Service, step: Mapping[str, Any]) -> Iterator[str]:
    # The first node gets the data that the example assumes.
    node, has = service.store.nodes.get(_SETTING[0][1]["uuid"]), step.get("has", {})
    for name in ("bios_settings", "firmware"):
        if name in has:
            getattr(service.store, name).sync(node.id, has[name])
    for entry in has.get("history", ()):
        service.store.history.create(entry | {"node_id": node.id})
    service.conductor.answers = step.get("answers", {})
    method, path = step["request"].split(" ", 1)
    version, headers = step.get("version", NEWEST), step.get("headers", {})
    answer = service.call(method, path, version=version, body=step.get("body"), headers=headers)
    assert answer.status == step.get("status", 200), f"{step['request']}: {answer.status} {answer.body!r}"
    minor = int(version.partition(".")[2])
    assert described.check(method, path, minor, answer.status, answer.json if answer.body else None), step["request"]
    if "title" in step:
        yield f"{step['title']}\n"
        yield "```http"
        sent = [f"{name}: {value}" for name, value in headers.items()]
        yield from _message([f"{method} {path} HTTP/1.1", f"{VERSION_HEADER}: {version}", *sent], step.get("body"))
        yield "```\n"
        yield "```http"
        shown = [name for name in ("Location", *step.get("show", ())) if name in answer.headers]
        head = [f"HTTP/1.1 {answer.status}", *(f"{name}: {answer.headers[name]}" for name in shown)]
        yield from _message(head, answer.json if answer.body else None)
        yield "```\n"


def _message(head: list[str], body: Any) -> Iterator[str]:
    yield from head
    if body is not None:
        yield ""
        yield _TIME.sub(_NOON, json.dumps(body, indent=2, ensure_ascii=False))
