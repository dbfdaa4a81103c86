"""What is asked in a hurry is answered as ever, or MustWait says so and nothing was changed, counted or logged."""

import itertools
import logging
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy.pool import QueuePool

from ironic.api.request_limits import RequestLimits
from ironic.api.settings import ApiSettings
from ironic.core.permit import PERMIT, MustWait
from ironic.tests.functional.wire import every_route
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Response, Service
from ironic.tests.random_requests import RandomRequests

NODE = {"driver": "fake-hardware", "name": "n1"}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = every_route.start(tmp_path)
    yield running
    running.close()


def hurried(service: Service, path: str) -> Response | None:
    """Return the answer to a GET, None where it has to wait."""
    try:
        with PERMIT.nonblocking():
            return service.call("GET", path)
    except MustWait:
        return None


def test_every_get_is_answered_as_ever_or_begun_anew(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    requests = RandomRequests(115, 7, every_route.THERE)
    paths = [path for method, path, _ in itertools.islice(iter(requests), 3 * len(requests)) if method == "GET"]
    assert len(paths) > 100
    at_once = 0
    for path in paths:
        before, asked = service.contents(), len(service.conductor.asked)
        with caplog.at_level(logging.INFO, "ironic.api.access_log"):
            caplog.clear()
            answer = hurried(service, path)
            lines = [record for record in caplog.records if record.name == "ironic.api.access_log"]
        assert len(lines) == (answer is not None), path
        assert len(service.conductor.asked) == asked, path
        assert service.contents() == before, path
        if answer is not None and "/lookup" not in path:
            at_once += 1
            assert (answer.status, answer.body) == ((again := service.call("GET", path)).status, again.body), path
    # Most GETs only read.
    assert at_once > len(paths) * 0.6


def test_what_changes_something_is_not_done_in_a_hurry(service: Service) -> None:
    with pytest.raises(MustWait), PERMIT.nonblocking():
        service.call("POST", "/v1/nodes", body=NODE)
    assert service.call("POST", "/v1/nodes", body=NODE).status == 201


def test_a_connection_to_the_database_is_not_waited_for(service: Service) -> None:
    pool = service.store.engine.pool
    assert isinstance(pool, QueuePool)
    with ExitStack() as others:
        for _ in range(pool.size()):
            assert hurried(service, "/v1/nodes") is not None
            others.enter_context(service.store.engine.connect())
        assert hurried(service, "/v1/nodes") is None
        assert service.call("GET", "/v1/nodes").status == 200
    assert hurried(service, "/v1/nodes") is not None


def test_a_ramdisk_s_call_counts_once(tmp_path: Path) -> None:
    service = services.start(tmp_path, ApiSettings(request_limits=RequestLimits(of_ramdisks=2)))
    try:
        found = []
        for _ in range(2):
            assert hurried(service, "/v1/lookup?addresses=52:54:00:00:00:01") is None
            found.append(service.call("GET", "/v1/lookup?addresses=52:54:00:00:00:01").status)
        # What is beyond the limit needs no thread.
        beyond = hurried(service, "/v1/lookup?addresses=52:54:00:00:00:01")
        assert beyond is not None
        assert [*found, beyond.status] == [404, 404, 503]
    finally:
        service.close()
