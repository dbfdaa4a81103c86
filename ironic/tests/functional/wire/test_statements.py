"""What a request costs the database; the budget of the design."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = services.start(tmp_path)
    for number in range(12):
        running.call("POST", "/v1/nodes", body={"driver": "fake-hardware", "name": f"n{number}"})
    yield running
    running.close()


@pytest.mark.parametrize(
    ("method", "path", "body", "selects", "writes", "commits"),
    [
        ("GET", "/v1", None, 0, 0, 0),
        ("GET", "/v1/nodes", None, 1, 0, 0),
        ("GET", "/v1/nodes?limit=5&fields=name,driver,conductor", None, 1, 0, 0),
        ("GET", "/v1/nodes/detail", None, 2, 0, 0),
        ("GET", "/v1/nodes/n3?fields=name", None, 1, 0, 0),
        ("GET", "/v1/nodes/n3", None, 2, 0, 0),
        ("GET", "/v1/nodes/n3/states", None, 1, 0, 0),
        ("POST", "/v1/nodes", {"driver": "fake-hardware"}, 0, 1, 1),
        ("PATCH", "/v1/nodes/n3", [{"op": "add", "path": "/extra/a", "value": 1}], 2, 1, 1),
        ("PATCH", "/v1/nodes/n3?x=1", [], 0, 0, 0),
        # The second one is the entry of the history.
        ("PUT", "/v1/nodes/n3/maintenance", {}, 1, 2, 1),
        ("PUT", "/v1/nodes/n3/states/provision", {"target": "manage"}, 1, 0, 0),
        ("DELETE", "/v1/nodes/n3", None, 1, 0, 0),
        ("GET", "/v1/chassis", None, 1, 0, 0),
        ("GET", "/v1/chassis/detail", None, 1, 0, 0),
        ("GET", "/v1/portgroups", None, 1, 0, 0),
        ("GET", "/v1/portgroups/detail", None, 1, 0, 0),
        ("GET", "/v1/nodes/n3/portgroups", None, 2, 0, 0),
        ("GET", "/v1/nodes/n3/traits", None, 2, 0, 0),
        ("PUT", "/v1/nodes/n3/traits", {"traits": ["CUSTOM_A", "CUSTOM_B"]}, 1, 2, 1),
        ("GET", "/v1/nodes/n3/history", None, 2, 0, 0),
        ("GET", "/v1/shards", None, 1, 0, 0),
        ("POST", "/v1/chassis", {"description": "rack"}, 0, 1, 1),
        ("GET", "/v1/openapi.json", None, 0, 0, 0),
    ],
)
def test_a_request_keeps_to_its_budget(
    service: Service, method: str, path: str, body: Any, selects: int, writes: int, commits: int
) -> None:
    with counting_statements(service.store) as seen:
        service.call(method, path, body=body)
    assert (seen.selects, seen.writes, seen.commits) == (selects, writes, commits), seen.texts
