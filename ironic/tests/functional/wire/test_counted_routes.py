"""Every request counts for the limits of its address, whatever its path, its method, its version and its rights."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ironic.api.app import BARE_METAL
from ironic.api.inspector.old_api import InspectorApi
from ironic.api.request_limits import RequestLimits
from ironic.api.routes import Route
from ironic.api.served_api import ServedApi
from ironic.api.settings import ApiSettings
from ironic.api.version_negotiation import MAXIMUM
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.every_route import label, path
from ironic.tests.functional.wire.service import Service

APIS: tuple[ServedApi, ...] = (BARE_METAL, InspectorApi())
BEYOND = {429, 503}
NEWEST, OLDEST = f"1.{MAXIMUM}", None


def limited(tmp_path: Path, served: ServedApi, **limits: int) -> Service:
    settings = ApiSettings(request_limits=RequestLimits(**limits), healthcheck=True)
    return services.start(tmp_path, settings, served=served)


@pytest.fixture(params=APIS, ids=["bare metal", "inspector"])
def spent(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[ServedApi, Service]]:
    """Start an API whose client has spent all its calls and requests."""
    with closing(limited(tmp_path, request.param, per_address=1, of_ramdisks=1)) as running:
        assert running.call("GET", "/").status == 200
        for row in request.param.rows:
            if row.of_ramdisks:
                running.call(row.method, path(row), version=NEWEST)
        yield request.param, running


def test_no_row_of_the_route_table_is_left_out(spent: tuple[ServedApi, Service]) -> None:
    served, service = spent
    for row in served.rows:
        method = "GET" if row.method == "*" else row.method
        for version in (NEWEST, OLDEST, "9.99", "nonsense"):
            for place in (path(row), path(row).removeprefix("/v1"), f"{path(row)}/", f"{path(row)}.json"):
                answer = service.call(method, place, version=version)
                assert answer.status in BEYOND, (label(row), version, place)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "TRACE", "BREW"])
@pytest.mark.parametrize(
    "place", ["/healthcheck", "/", "/v1", "/v1/nowhere", "/v1/openapi.json", "/v1/lookup", "*", ""]
)
def test_nothing_else_is_left_out(spent: tuple[ServedApi, Service], method: str, place: str) -> None:
    _, service = spent
    assert service.call(method, place, version=OLDEST).status in BEYOND
    # As a page of another site makes a browser send it.
    assert service.call(method, place, headers={"Origin": "http://evil.example"}).status in BEYOND


@pytest.mark.parametrize("served", APIS, ids=["bare metal", "inspector"])
def test_calls_of_ramdisks_have_their_own_limit_and_other_requests_theirs(tmp_path: Path, served: ServedApi) -> None:
    (row, *_) = (row for row in served.rows if row.of_ramdisks)
    with closing(limited(tmp_path, served, per_address=1, of_ramdisks=2)) as service:
        assert [service.call("GET", "/healthcheck").status for _ in range(2)] == [200, 429]
        found = [service.call(row.method, path(row)).status for _ in range(3)]
    assert found[2] == 503
    assert BEYOND.isdisjoint(found[:2])


@pytest.mark.parametrize("row", [row for row in BARE_METAL.rows if row.of_ramdisks], ids=label)
def test_in_a_version_without_it_a_ramdisk_s_route_is_any_other(tmp_path: Path, row: Route) -> None:
    with closing(limited(tmp_path, BARE_METAL, per_address=1, of_ramdisks=100)) as service:
        version = "1.2" if row.gap else OLDEST
        found = [service.call(row.method, path(row), version=version).status for _ in range(2)]
    assert found == [404, 429]


def test_what_is_in_progress_counts_for_ramdisks_too(tmp_path: Path) -> None:
    limits = RequestLimits(at_once=1)
    settings = ApiSettings(request_limits=limits)
    with closing(services.start(tmp_path, settings)) as service, limits.of_address(None):
        assert service.call("GET", "/v1/lookup?addresses=52:54:00:00:00:01").status == 503
        assert service.call("GET", "/v1/nodes").status == 429
