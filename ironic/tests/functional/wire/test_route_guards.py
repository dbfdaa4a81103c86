"""Every row of the route table says what guards it; where the handler judges, a stranger gets nothing."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.api.answers import NO_CONTENT
from ironic.api.resources import ROUTES
from ironic.api.routes import Refusing, Route, refuses
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.every_route import label, path
from ironic.tests.functional.wire.keystone import OWNED, ask
from ironic.tests.functional.wire.service import Service

JUDGING = [route for route in ROUTES if route.handler_authorizes]
NO_RIGHT = [{"op": "add", "path": "/extra/a", "value": 1}]

# What is sent to each row whose handler judges, by a member of another project.
TRIED: dict[str, list[tuple[str, Any]]] = {
    "POST /v1/nodes": [("", {"driver": "fake-hardware"}), ("", {"driver": "fake-hardware", "owner": "owners"})],
    "PATCH /v1/nodes/{node}": [("", []), ("", NO_RIGHT), ("", [{"op": "remove", "path": "/owner"}])],
    "DELETE /v1/nodes/{node}": [("", None)],
    "GET /v1/nodes/{node}/allocation": [("", None)],
    "GET /v1/nodes/validate": [(f"?node={OWNED}", None), ("?node=owned", None), (f"?node_uuid={OWNED}", None)],
    "POST /v1/ports": [
        ("", {"address": "52:54:00:00:00:09", "node_uuid": OWNED}),
        ("", {"address": "52:54:00:00:00:09", "node_ident": "owned"}),
    ],
    "POST /v1/portgroups": [("", {"node_uuid": OWNED})],
    "POST /v1/volume/connectors": [("", {"node_uuid": OWNED, "type": "iqn", "connector_id": "x"})],
    "POST /v1/volume/targets": [
        ("", {"node_uuid": OWNED, "volume_type": "iscsi", "volume_id": "x", "boot_index": 0}),
    ],
    "POST /v1/allocations": [("", {"resource_class": "x", "owner": "owners"})],
}


@pytest.fixture
def service(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[Service]:
    running = keystone.service(tmp_path, identity, conf)
    yield running
    running.close()


def is_guarded(route: Route) -> bool:
    """Return whether a row states the right in exactly one way."""
    if route.rule is None:
        return route.handler_authorizes or route.public or isinstance(route.handler, Refusing)
    return not route.handler_authorizes


@pytest.mark.parametrize("route", ROUTES, ids=label)
def test_a_row_says_what_guards_it(route: Route) -> None:
    assert is_guarded(route)


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        (Route("GET", "/", lambda request: NO_CONTENT), False),
        (Route("GET", "/", lambda request: NO_CONTENT, rule="x", public=True), True),
        (Route("GET", "/", lambda request: NO_CONTENT, rule="x", handler_authorizes=True), False),
        (Route("GET", "/", lambda request: NO_CONTENT, handler_authorizes=True), True),
        (Route("GET", "/", lambda request: NO_CONTENT, public=True), True),
        (Route("GET", "/", lambda request: NO_CONTENT, rule="x"), True),
        (Route("GET", "/", refuses("No.")), True),
        (Route("GET", "/", refuses("No."), rule="x"), True),
    ],
)
def test_a_row_that_says_nothing_or_too_much_is_found(route: Route, expected: bool) -> None:
    assert is_guarded(route) is expected


def test_there_is_an_attempt_for_every_row_whose_handler_judges() -> None:
    assert {label(route) for route in JUDGING} == TRIED.keys()


@pytest.mark.parametrize("route", JUDGING, ids=label)
@pytest.mark.parametrize("token", ["stranger-member", "nobody", "domain-admin"])
def test_a_stranger_gets_nothing_where_the_handler_judges(service: Service, route: Route, token: str) -> None:
    for query, body in TRIED[label(route)]:
        before = service.contents()
        answer = ask(service, token, route.method, path(route, node=OWNED) + query, body)
        assert answer.status in (403, 404), (body, answer.body)
        assert (service.contents(), service.conductor.asked) == (before, [])


@pytest.mark.parametrize("route", [route for route in ROUTES if not route.public], ids=label)
def test_who_has_no_role_gets_through_nowhere(service: Service, route: Route) -> None:
    body: Any = None if route.method in ("GET", "DELETE") else [] if route.method == "PATCH" else {}
    answer = ask(service, "nobody", route.method, path(route, node=OWNED), body)
    assert 400 <= answer.status < 500, answer.body
    assert service.conductor.asked == []
