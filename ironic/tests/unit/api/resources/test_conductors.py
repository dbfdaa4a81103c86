from collections.abc import Callable
from datetime import timedelta

import pytest

from ironic.rpc.client import ConductorClients
from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire.service import HOST, Service


def is_alive(service: Service) -> bool:
    one = service.call("GET", f"/v1/conductors/{HOST}").json["alive"]
    (listed,) = service.call("GET", "/v1/conductors").json["conductors"]
    assert listed["alive"] is one
    return bool(one)


@pytest.mark.parametrize("age, alive", [(0, True), (25, True), (35, False)])
def test_a_conductor_is_alive_as_long_as_its_heartbeat_is_young(
    start: Callable[..., Service], age: int, alive: bool
) -> None:
    service = start(conductor_heartbeat_timeout=30)
    service.store.conductors.update(HOST, {"updated_at": service.store.clock.now() - timedelta(seconds=age)})
    assert is_alive(service) is alive


@pytest.mark.parametrize("missed, age, alive", [(5, 10, False), (10, 5, True), (None, 10, True)])
def test_one_that_took_no_call_is_dead_until_its_next_heartbeat(
    start: Callable[..., Service], monkeypatch: pytest.MonkeyPatch, missed: int | None, age: int, alive: bool
) -> None:
    monkeypatch.setattr(ConductorClients, "seconds_since_missed", lambda self, hostname: missed)
    service = start(conductor_heartbeat_timeout=30)
    service.store.conductors.update(HOST, {"updated_at": service.store.clock.now() - timedelta(seconds=age)})
    assert is_alive(service) is alive


def test_a_conductor_that_has_gone_is_shown_and_not_alive(service: Service) -> None:
    service.store.conductors.unregister(HOST)
    assert is_alive(service) is False


@pytest.mark.parametrize("path", ["/v1/conductors", "/v1/conductors?detail=true", f"/v1/conductors/{HOST}"])
def test_conductors_are_one_statement(service: Service, path: str) -> None:
    with counting_statements(service.store) as sent:
        assert service.call("GET", path).status == 200
    assert sent.selects == 1
