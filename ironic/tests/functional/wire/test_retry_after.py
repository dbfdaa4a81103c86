"""A 503 after which the same request may be sent again has a Retry-After; one that may have had an effect has none."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ironic.db
import ironic.rpc.rpc_versions
from ironic.core.errors import TemporaryFailure, all_errors
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service

NODE = "11111111-0000-4000-8000-000000000001"
POWER = ("PUT", f"/v1/nodes/{NODE}/states/power", {"target": "power on"})

assert ironic.db and ironic.rpc.rpc_versions  # their errors are in the table, too

# What only plug-ins raise is in the table wherever another test has imported it.
OURS = {name: cls for name, cls in all_errors().items() if cls.__module__ != "ironic.core.plug_ins.plug_in_errors"}
TEMPORARY = {name: cls for name, cls in OURS.items() if issubclass(cls, TemporaryFailure)}
# No answer came, so the call may have begun; and what waits for the end of an upgrade, or for other options.
NOT_REPEATED = {"ConductorUnreachable", "ConductorSilent", "ConnectionBroken", "CallHeldBack", "CallRefused"}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = services.start(tmp_path)
    assert running.call("POST", "/v1/nodes", body={"driver": "fake-hardware", "uuid": NODE}).status == 201
    yield running
    running.close()


def test_every_error_of_the_table_that_is_a_503_says_whether_to_repeat() -> None:
    assert len(TEMPORARY) > 10
    assert {name for name, cls in OURS.items() if cls.status == 503} == TEMPORARY.keys()
    assert {name for name, cls in TEMPORARY.items() if cls.retry_after is None} == NOT_REPEATED


@pytest.mark.parametrize("name", sorted(TEMPORARY))
def test_the_answer_says_it(service: Service, name: str) -> None:
    method, path, body = POWER
    service.conductor.answers["change_node_power_state"] = TEMPORARY[name]()
    answer = service.call(method, path, body=body)
    expected = None if name in NOT_REPEATED else str(TEMPORARY[name].retry_after)
    assert (answer.status, answer.headers.get("Retry-After")) == (503, expected)
    assert services.VERSION_HEADER in answer.headers


def test_without_a_conductor_the_answer_says_it(service: Service) -> None:
    service.store.conductors.unregister(services.HOST)
    service.hash_ring.reset()
    body = {"resource_class": "x", "name": "a"}
    answer = service.call("POST", "/v1/allocations", body=body)
    assert (answer.status, answer.headers["Retry-After"]) == (503, "5")


def test_other_answers_have_none(service: Service) -> None:
    assert "Retry-After" not in service.call("GET", f"/v1/nodes/{NODE}").headers
    assert "Retry-After" not in service.call("GET", "/v1/nodes/there-is-none").headers


def test_an_answer_while_keystone_is_away_says_it(tmp_path: Path, conf: Callable[..., None]) -> None:
    with keystone.playing() as url:
        running = keystone.service(tmp_path, url, conf)
    try:
        answer = keystone.ask(running, "some-token", "GET", "/v1/nodes")
        assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
    finally:
        running.close()


def test_the_description_of_the_api_has_the_header(service: Service) -> None:
    components = service.call("GET", "/v1/openapi.json").json["components"]
    reference = components["responses"]["Error503"]["headers"]["Retry-After"]["$ref"]
    assert reference.rpartition("/")[2] in components["headers"]
