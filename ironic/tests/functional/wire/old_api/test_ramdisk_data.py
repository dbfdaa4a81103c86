"""`/v1/continue`, reached without credentials: one answer for all data that no node waits for, and limits."""

from pathlib import Path
from typing import Any

import pytest

from ironic.api.inspector.old_api import InspectorApi
from ironic.api.rate_limit import TokenBuckets
from ironic.api.request_limits import RequestLimits
from ironic.api.settings import ApiSettings
from ironic.core.errors import NodeLocked, NoValidHost
from ironic.core.flows import states
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.old_api.asking import MAC, MISSING, NODE, ask, refused, set_node
from ironic.tests.functional.wire.service import Service

INVENTORY = {"interfaces": [{"name": "eth0", "mac_address": MAC}]}
REPORT = {"inventory": INVENTORY, "root_disk": {"name": "sda"}}


@pytest.mark.parametrize("version", ["1.0", "1.18", None])
def test_data_of_a_waiting_node_are_passed_on(service: Service, version: str | None) -> None:
    set_node(service, provision_state=states.INSPECTWAIT)
    response = ask(service, "POST", "/v1/continue", REPORT, version=version)
    assert (response.status, response.json) == (200, {"uuid": NODE})
    assert service.conductor.asked == [["continue_inspection", NODE, INVENTORY, {"root_disk": {"name": "sda"}}]]


@pytest.mark.parametrize("query", ["", f"?node_uuid={MISSING}", f"?node_uuid={NODE}", "?boot_token=x"])
@pytest.mark.parametrize("mac", [MAC, "52:54:00:00:00:99"])
@pytest.mark.parametrize("state", [states.MANAGEABLE, states.ACTIVE, states.INSPECTFAIL])
def test_every_failed_match_has_the_same_answer(service: Service, query: str, mac: str, state: str) -> None:
    set_node(service, provision_state=state)
    before = service.contents()
    body = {"inventory": {"interfaces": [{"mac_address": mac}]}}
    assert refused(ask(service, "POST", f"/v1/continue{query}", body), 404) == "No node waits for this inspection data."
    assert service.contents() == before
    assert service.conductor.asked == []


def test_a_wrong_boot_token_has_that_answer_too(service: Service) -> None:
    set_node(service, provision_state=states.INSPECTWAIT, driver_internal_info={"inspection_boot_token": "right"})
    wrong = ask(service, "POST", "/v1/continue?boot_token=wrong", REPORT)
    assert refused(wrong, 404) == "No node waits for this inspection data."
    assert ask(service, "POST", "/v1/continue?boot_token=right", REPORT).status == 200


@pytest.mark.parametrize(
    "body",
    [None, [], "x", {}, {"inventory": []}, {"inventory": {}}, {"inventory": {"interfaces": []}}],
)
def test_malformed_data_are_refused(service: Service, body: Any) -> None:
    refused(ask(service, "POST", "/v1/continue", body), 400)
    assert service.conductor.asked == []


@pytest.mark.parametrize("query", ["?node_uuid=first", "?colour=1", "?node_uuid=%00"])
def test_malformed_parameters_are_refused(service: Service, query: str) -> None:
    refused(ask(service, "POST", f"/v1/continue{query}", REPORT), 400)


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b'{"inventory": ', 400),
        (b"[" * 100_000, 400),
        (b'{"inventory": {"interfaces": [' + b"1," * 300_000 + b"1]}}", 400),
        (b'{"inventory": "' + b"x" * (17 * 1024 * 1024) + b'"}', 413),
    ],
)
def test_bodies_over_a_limit_are_refused_before_they_are_parsed(service: Service, raw: bytes, status: int) -> None:
    refused(ask(service, "POST", "/v1/continue", raw=raw), status)
    assert service.conductor.asked == []


@pytest.mark.parametrize(
    ("error", "status"), [(NodeLocked(node=NODE, host="secret-host", purpose="x"), 409), (NoValidHost(reason="y"), 400)]
)
def test_what_a_conductor_refuses_says_nothing_of_the_node(service: Service, error: Exception, status: int) -> None:
    set_node(service, provision_state=states.INSPECTWAIT)
    service.conductor.answers = {"continue_inspection": error}
    reason = refused(ask(service, "POST", "/v1/continue", REPORT), status)
    assert NODE not in reason and "secret-host" not in reason


@pytest.fixture
def strict(tmp_path: Path) -> Any:
    running = services.start(
        tmp_path,
        ApiSettings(request_limits=RequestLimits(of_ramdisks=100), report_limit=TokenBuckets(3)),
        served=InspectorApi(),
    )
    yield running
    running.close()


def test_an_address_that_posts_too_often_shall_come_again(strict: Service) -> None:
    assert [ask(strict, "POST", "/v1/continue", REPORT).status for _ in range(3)] == [404] * 3
    response = ask(strict, "POST", "/v1/continue", REPORT)
    refused(response, 503)
    assert response.headers["Retry-After"]


def test_the_endpoint_can_be_switched_off(tmp_path: Path) -> None:
    running = services.start(tmp_path, ApiSettings(enable_ramdisk_endpoints=False), served=InspectorApi())
    refused(ask(running, "POST", "/v1/continue", REPORT), 403)
    running.close()
