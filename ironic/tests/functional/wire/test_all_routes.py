"""What holds of every row of the route table: nothing that can be sent to it is the service's fault."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.api.resources import ROUTES
from ironic.api.routes import FAULT, Refusing, Route
from ironic.tests.functional.wire import every_route
from ironic.tests.functional.wire.every_route import ROWS, label, path
from ironic.tests.functional.wire.service import Service
from ironic.tests.suites.api import Target
from ironic.tests.suites.api.sample import BAD_BODIES, HOSTILE_TEXTS, ODD, UNSTORABLE

# Their arguments are whatever a driver's method takes.
OPEN = re.compile("vendor_passthru")
# What it refuses is kept, for an operator to look at.
KEEPS_REFUSED = "/v1/continue_inspection"

WITH_BODY = [route for route in ROWS if route.method in ("POST", "PUT", "PATCH")]
WITH_NAMES = [route for route in ROWS if "{" in route.path]
LATER = [route for route in ROWS if route.since > 1]


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


@pytest.mark.parametrize("route", [route for route in ROWS if not OPEN.search(route.path)], ids=label)
def test_an_unknown_parameter_is_refused(target: Target, route: Route) -> None:
    target.refuses(route.method, f"{path(route)}?no_such_parameter=1", b"[]" if route.method == "PATCH" else b"{}")


@pytest.mark.parametrize("route", ROWS, ids=label)
def test_a_zero_in_a_query_is_refused(target: Target, route: Route) -> None:
    target.refuses(route.method, f"{path(route)}?fields=%00", b"[]" if route.method == "PATCH" else b"{}")


@pytest.mark.parametrize("route", WITH_NAMES, ids=label)
def test_no_name_is_our_fault(target: Target, route: Route) -> None:
    for name in re.findall(r"\{(\w+)\}", route.path):
        for text in filter(None, HOSTILE_TEXTS.values()):
            answer = target.survives(route.method, path(route, **{name: text}), b"{}")
            assert "\0" not in str(answer.headers)


@pytest.mark.parametrize("route", WITH_BODY, ids=label)
def test_no_body_is_our_fault(target: Target, route: Route) -> None:
    for body in (*BAD_BODIES.values(), *UNSTORABLE.values(), *ODD.values()):
        if route.path == KEEPS_REFUSED:
            assert target.send(route.method, path(route), body.encode()).status < 500
        else:
            target.survives(route.method, path(route), body.encode())
    target.refuses(route.method, path(route), b"\xff\xfe")


@pytest.mark.parametrize("route", LATER, ids=label)
def test_callers_of_an_older_version_get_what_the_table_says(service: Service, route: Route) -> None:
    answer = service.call(route.method, path(route), version=f"1.{route.since - 1}", body={})
    assert answer.status == route.below
    inner = json.loads(answer.json["error_message"])
    assert ("faultstring" in inner) is (route.shape == FAULT)


@pytest.mark.parametrize("minor", [1, 115])
def test_what_is_no_method_of_a_path_is_answered_with_those_that_are(service: Service, minor: int) -> None:
    serving: dict[str, dict[str, Route]] = {}
    for route in ROUTES:
        serving.setdefault(path(route), {})[route.method] = route
    seen = 0
    for where, methods in serving.items():
        served = {
            name
            for name, route in methods.items()
            if name != "*"
            and route.since <= minor
            and not (isinstance(route.handler, Refusing) and route.handler.is_of_method)
        }
        for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} - served:
            answer = service.call(method, where, version=f"1.{minor}", body=None if method == "HEAD" else {})
            if answer.status == 405:
                seen += 1
                assert {*answer.headers["Allow"].split(", ")} - {""} == served, (method, where)
    assert seen > 20


def test_the_methods_are_named_for_a_path_that_is_no_text(service: Service) -> None:
    answer = service.call("PUT", "/v1/ports/\xed", body={})
    assert (answer.status, answer.headers["Allow"]) == (405, "DELETE, GET, PATCH, POST")
