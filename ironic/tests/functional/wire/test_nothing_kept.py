"""Requests with any choice of fields make no types, no classes and no garbage."""

import gc
import io
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import wsme.types

from ironic.api.request import Request
from ironic.core.values.value_types import ValueType
from ironic.tests.functional.wire import every_route
from ironic.tests.functional.wire.service import Service
from ironic.tests.random_requests import Drawn, RandomRequests

WSGI = "wsgi.input"

# A round asks each operation once.
ROUNDS = 3

# The types of values that were made so far. Python can't take the method off the class again, and it does no harm.
MADE: list[type] = []


def _noted(cls: Any, *_: Any, **__: Any) -> Any:
    MADE.append(cls)
    return object.__new__(cls)


type.__setattr__(ValueType, "__new__", _noted)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = every_route.start(tmp_path_factory.mktemp("service"))
    yield running
    running.close()


def send(service: Service, drawn: Iterator[Drawn], number: int) -> Counter[int]:
    """Send so many requests and return how they were answered."""
    found = Counter(
        service.call(method, path, raw=body or b"").status for method, path, body in itertools.islice(drawn, number)
    )
    service.conductor.asked.clear()
    return found


@pytest.mark.parametrize("minor", [1, 60, 115])
def test_no_request_makes_a_type(service: Service, minor: int) -> None:
    requests = RandomRequests(minor, 1, every_route.THERE)
    size, drawn = len(requests), iter(requests)
    send(service, drawn, size)
    MADE.clear()
    classes = len(list(wsme.types.registry.complex_types))
    statuses = send(service, drawn, ROUNDS * size)
    assert MADE == []
    assert len(list(wsme.types.registry.complex_types)) == classes
    # They are requests that have something to say, not all refused at the door.
    assert sum(number for status, number in statuses.items() if status < 300) > size


def left(service: Service, one: Drawn) -> set[str]:
    """Return what of a request only the collector of garbage frees: itself, its body or what was made of that."""
    gc.collect(1)
    send(service, iter([one]), 1)
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect(1)
        return {
            type(each).__name__
            for each in gc.garbage
            if isinstance(each, (Request, io.BytesIO)) or (isinstance(each, dict) and ("logs" in each or WSGI in each))
        }
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


def test_a_request_goes_with_its_body_at_once(service: Service) -> None:
    """Whether it is answered or refused: a body has many MiB, and garbage is collected when Python likes."""
    drawn = list(itertools.islice(RandomRequests(115, 2, every_route.THERE), 260))
    report = b'{"inventory": {"interfaces": [{"mac_address": "52:54:00:00:00:99"}]}, "logs": "x"}'
    drawn += [
        Drawn("POST", "/v1/continue_inspection", report),
        Drawn("POST", "/v1/continue_inspection", b'{"inventory": 7, "logs": "x"}'),
        Drawn("POST", "/v1/nodes", b'{"no_such_field": 1, "logs": "x"}'),
        Drawn("POST", "/v1/nodes", b"{"),
        Drawn("GET", "/v1/nodes/no-such-node", None),
        Drawn("GET", "/v1/nothing", None),
    ]
    gc.disable()
    try:
        assert {one: found for one in drawn if (found := left(service, one))} == {}
    finally:
        gc.enable()
