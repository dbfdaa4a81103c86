"""What holds of every argument of the OpenAPI document, in bodies and in queries, and of bodies as such."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.api.openapi import operations
from ironic.api.routes import Route
from ironic.api.version_negotiation import MAXIMUM
from ironic.core.values.value_types import Words
from ironic.tests.functional.wire import every_route
from ironic.tests.functional.wire.every_route import ROWS, THERE, label, path
from ironic.tests.functional.wire.service import NEWEST, Service, environ_of
from ironic.tests.suites.api import Target
from ironic.tests.suites.api.sample import HOSTILE_TEXTS, ODD, UNSTORABLE

SHOWN = [route for route in ROWS if operations.is_shown(route, MAXIMUM)]
# What a machine reports is data that nothing stores as it is; what is too much for the parser is refused there too.
REPORTS = {"inventory", "plugin_data"}
# Which verb takes an argument.
VERBS = {
    "configdrive": "active",
    "deploy_steps": "active",
    "clean_steps": "clean",
    "disable_ramdisk": "clean",
    "runbook": "clean",
    "service_steps": "service",
    "rescue_password": "rescue",
}


def body_of(route: Route) -> dict[str, Any]:
    """Return the schema of a body whose keys are documented."""
    body = operations.content_of(route, MAXIMUM).body
    return body if body and body.get("properties") else {}


def query_of(route: Route) -> dict[str, Any]:
    return {one.name: one.type for one in operations.content_of(route, MAXIMUM).query}


def some(schema: dict[str, Any]) -> Any:
    """Return a value that a schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "string" if schema.get("format") == "uuid":
            return THERE["node"]
        case "string":
            return "52:54:00:00:00:01" if "pattern" in schema else "x"
        case "boolean":
            return True
        case "integer":
            return schema.get("minimum", 1)
        case "array":
            return [some(schema.get("items", {}))]
        case "object":
            return {name: some(schema["properties"][name]) for name in schema.get("required", ())}
    return some(schema["anyOf"][0]) if "anyOf" in schema else {}


def bodies(route: Route, values: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    """Return for each argument a body in which it alone is not what it should be."""
    schema = body_of(route)
    for name in schema["properties"]:
        rest = some(schema)
        if "provision" in route.path:
            rest["target"] = VERBS.get(name, "active")
        rest.pop(name, None)
        parts = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in rest.items()]
        for value in values.values():
            yield name, f"{{{', '.join([*parts, f'{json.dumps(name)}: {value}'])}}}".encode()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = every_route.start(tmp_path)
    yield running
    running.close()


@pytest.fixture
def target(service: Service) -> Iterator[Target]:
    watched = Target(service)
    yield watched
    watched.close()


TAKES_ARGUMENTS = [route for route in SHOWN if body_of(route)]
TAKES_PARAMETERS = [route for route in SHOWN if query_of(route)]
WITH_BODY = [route for route in ROWS if route.method in ("POST", "PUT", "PATCH")]


@pytest.mark.parametrize("route", TAKES_ARGUMENTS, ids=label)
def test_what_can_not_be_stored_is_no_argument(target: Target, route: Route) -> None:
    for name, body in bodies(route, UNSTORABLE):
        if name in REPORTS:
            target.survives(route.method, path(route), body)
        else:
            target.refuses(route.method, path(route), body)


@pytest.mark.parametrize("route", TAKES_ARGUMENTS, ids=label)
def test_no_argument_is_our_fault(target: Target, route: Route) -> None:
    for _, body in bodies(route, ODD):
        target.survives(route.method, path(route), body)


@pytest.mark.parametrize("route", TAKES_PARAMETERS, ids=label)
def test_no_parameter_is_our_fault(service: Service, target: Target, route: Route) -> None:
    for name, kind in query_of(route).items():
        for text in HOSTILE_TEXTS.values():
            answer = target.send(route.method, f"{path(route)}?{name}={text}")
            assert answer.status < 500, (name, text[:50], answer.body[:300])
            assert "%00" not in text or answer.status >= 400, name
        if not isinstance(kind, Words):
            target.refuses(route.method, f"{path(route)}?{name}=1&{name}=1", b"", 400)


# As servers hand on a body whose type or length is odd.
FRAMES: dict[str, dict[str, Any]] = {
    "no type": {"CONTENT_TYPE": ""},
    "no type, in chunks": {"CONTENT_TYPE": "", "CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"},
    "less than was promised": {"CONTENT_LENGTH": "5000"},
    "UTF-16": {"wsgi.input": '{"no_such_key": 1}'.encode("utf-16")},
    "lists without end": {"wsgi.input": b"[" * 100_000},
    "lists in lists": {"wsgi.input": b"[" * 100_000 + b"]" * 100_000},
    "objects in objects": {"wsgi.input": b'{"a":' * 100_000 + b"1" + b"}" * 100_000},
}


@pytest.mark.parametrize("route", WITH_BODY, ids=label)
def test_a_body_that_is_oddly_sent_is_refused(service: Service, route: Route) -> None:
    before = service.contents()
    service.conductor.asked.clear()
    for told, given in FRAMES.items():
        raw = given.get("wsgi.input", b'{"no_such_key": 1}')
        environ = environ_of(route.method, path(route), raw) | given | {"wsgi.input": io.BytesIO(raw)}
        answer = service.send(environ | {"HTTP_X_OPENSTACK_IRONIC_API_VERSION": NEWEST})
        assert answer.status in range(400, 500), (told, answer.body[:300])
        assert answer.body
    assert service.contents() == before
    assert service.conductor.asked == []


@pytest.mark.parametrize("route", [route for route in ROWS if route.method in ("GET", "DELETE")], ids=label)
def test_a_body_where_none_belongs_does_no_harm(service: Service, route: Route) -> None:
    with_body = service.call(route.method, path(route), raw=b'["' + b"x" * 10_000)
    assert with_body.status < 500
    if route.method == "GET" and "vendor_passthru" not in route.path:
        assert with_body.body == service.call(route.method, path(route)).body


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PROPFIND", "get", ""])
def test_what_is_no_method_here_is_refused(service: Service, method: str) -> None:
    for route in ROWS:
        if path(route) != "/":
            assert service.call(method, path(route)).status == 405, label(route)
