"""What holds of every row of the route table: nothing that can be sent to it is the service's fault."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_origin

import pytest

from ironic.api.resources import ROUTES
from ironic.api.routes import FAULT, Route
from ironic.rpc.conversation import CALLS
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service
from ironic.tests.suites.api import Target
from ironic.tests.suites.api.sample import BAD_BODIES, HOSTILE_TEXTS, ODD, UNSTORABLE

THERE = {
    "node": "11111111-0000-4000-8000-000000000001",
    "agent_node": "11111111-0000-4000-8000-000000000001",
    "chassis": "22222222-0000-4000-8000-000000000001",
    "port": "33333333-0000-4000-8000-000000000001",
    "portgroup": "44444444-0000-4000-8000-000000000001",
    "driver": "fake-hardware",
    "hostname": services.HOST,
    "indicator": "led@system",
    "trait": "CUSTOM_A",
}
# Their arguments are whatever a driver's method takes.
OPEN = re.compile("vendor_passthru")
# What it refuses is kept, for an operator to look at.
KEEPS_REFUSED = "/v1/continue_inspection"

ROWS = [route for route in ROUTES if route.method != "*"]
WITH_BODY = [route for route in ROWS if route.method in ("POST", "PUT", "PATCH")]
WITH_NAMES = [route for route in ROWS if "{" in route.path]
LATER = [route for route in ROWS if route.since > 1]


def label(route: Route) -> str:
    return f"{route.method} {route.path}"


def path(route: Route, **others: str) -> str:
    """Return the path with something that is there in place of each name."""
    names = THERE | others
    return re.sub(r"\{(\w+)\}", lambda found: names.get(found[1], "99999999-0000-4000-8000-00000000dead"), route.path)


def default_of(annotation: Any) -> Any:
    kind = get_origin(annotation) or annotation
    return kind() if kind in (dict, list, str) else None


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = services.start(tmp_path)
    common = {f"{kind}_interface": names[0] for kind, names in services.SERVED["fake-hardware"].items()}
    chassis = running.store.chassis.create({"uuid": THERE["chassis"]})
    node = running.store.nodes.create(
        common
        | {"uuid": THERE["node"], "driver": "fake-hardware", "provision_state": "enroll", "chassis_id": chassis.id}
    )
    running.store.ports.create({"uuid": THERE["port"], "node_id": node.id, "address": "52:54:00:00:00:01"})
    running.store.portgroups.create({"uuid": THERE["portgroup"], "node_id": node.id})
    running.conductor.answers = {name: default_of(call.signature.return_annotation) for name, call in CALLS.items()}
    for name in ("call_vendor_method", "call_driver_vendor_method"):
        running.conductor.answers[name] = {"async": True, "result": None}
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
