"""Exchanges for `api-ref/`: requests of reference.yaml sent to the API in this process, with what came back.

Each page starts with an empty SQLite database and the machines of `_SETTING`. What differs from run to run (the time)
is replaced; what a conductor answers is said in the example, for there is no machine behind it.
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
from ironic.tests.functional.wire.service import NEWEST, VERSION_HEADER, Response, Service

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")
_NOON = "2026-01-01T12:00:00.000000+00:00"
_SETTING = (
    ("/v1/nodes", {"uuid": "8e1ad1a4-6f4b-4a5f-9c43-6c6a1f4f5b01", "name": "rack1-slot1", "driver": "fake-hardware"}),
    ("/v1/nodes", {"uuid": "8e1ad1a4-6f4b-4a5f-9c43-6c6a1f4f5b02", "name": "rack1-slot2", "driver": "fake-hardware"}),
)


def examples(wanted: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Send the requests of a page and tell what came back."""
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
    _prepare(service, step.get("has", {}))
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
        yield from _told([f"{method} {path}", f"{VERSION_HEADER}: {version}", *_lines(headers)], step.get("body"))
        yield "```\n"
        yield "```http"
        yield from _told(list(_head(answer, step.get("show", ()))), answer.json if answer.body else None)
        yield "```\n"


def _prepare(service: Service, has: Mapping[str, Any]) -> None:
    """Give the first machine what was read from it, or what happened to it."""
    node = service.store.nodes.get(_SETTING[0][1]["uuid"])
    for name in ("bios_settings", "firmware"):
        if name in has:
            getattr(service.store, name).sync(node.id, has[name])
    for entry in has.get("history", ()):
        service.store.history.create(entry | {"node_id": node.id})


def _lines(headers: Mapping[str, str]) -> Iterator[str]:
    return (f"{name}: {value}" for name, value in headers.items())


def _head(answer: Response, shown: Iterable[str]) -> Iterator[str]:
    yield f"HTTP/1.1 {answer.status}"
    yield from (f"{name}: {answer.headers[name]}" for name in ("Location", *shown) if name in answer.headers)


def _told(head: list[str], body: Any) -> Iterator[str]:
    yield from head
    if body is not None:
        yield ""
        yield _TIME.sub(_NOON, json.dumps(body, indent=2, ensure_ascii=False))
