"""`/v1/introspection`: start, show, list and abort."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from ironic.core.errors import NodeLocked
from ironic.core.flows import states
from ironic.core.memory import introspection
from ironic.tests.functional.wire.old_api.asking import MISSING, NAME, NODE, ask, refused, set_node
from ironic.tests.functional.wire.service import BASE, Service

BEGAN = datetime(2026, 11, 22, 10, 0, 0)
ENDED = BEGAN + timedelta(minutes=5)


@pytest.mark.parametrize("version", ["1.0", "1.13", "1.18", None])
@pytest.mark.parametrize("ident", [NODE, NAME])
def test_a_start_is_the_verb_inspect(service: Service, ident: str, version: str | None) -> None:
    response = ask(service, "POST", f"/v1/introspection/{ident}", version=version)
    assert (response.status, response.body) == (202, b"")
    assert service.conductor.asked == [["change_provision_state", NODE, "inspect", {}]]


@pytest.mark.parametrize("word", ["1", "true", "True"])
def test_a_start_may_ask_for_managed_boot(service: Service, word: str) -> None:
    assert ask(service, "POST", f"/v1/introspection/{NODE}?manage_boot={word}").status == 202
    assert service.conductor.asked == [["change_provision_state", NODE, "inspect", {}]]


@pytest.mark.parametrize("word", ["0", "false", "False"])
def test_a_start_may_leave_the_boot_to_others(service: Service, word: str) -> None:
    assert ask(service, "POST", f"/v1/introspection/{NODE}?manage_boot={word}").status == 202
    assert service.conductor.asked == [["await_inspection_data", NODE]]


@pytest.mark.parametrize(
    ("path", "status", "part"),
    [
        (f"{NODE}?manage_boot=perhaps", 400, "manage_boot"),
        (f"{NODE}?new_ipmi_password=x", 400, "new_ipmi_password"),
        (MISSING, 404, MISSING),
        ("second", 404, "second"),
    ],
)
def test_a_start_that_is_refused_asks_no_conductor(service: Service, path: str, status: int, part: str) -> None:
    assert part in refused(ask(service, "POST", f"/v1/introspection/{path}"), status)
    assert service.conductor.asked == []


@pytest.mark.parametrize("state", [states.ENROLL, states.AVAILABLE, states.ACTIVE, states.INSPECTWAIT])
def test_a_start_in_another_state_is_refused(service: Service, state: str) -> None:
    set_node(service, provision_state=state)
    assert state in refused(ask(service, "POST", f"/v1/introspection/{NODE}"), 400)
    assert service.conductor.asked == []


def test_a_locked_node_is_a_409(service: Service) -> None:
    service.conductor.answers = {"change_provision_state": NodeLocked(node=NODE, host="h", purpose="x")}
    refused(ask(service, "POST", f"/v1/introspection/{NODE}"), 409)


def test_a_node_that_was_not_inspected_has_no_introspection(service: Service) -> None:
    refused(ask(service, "GET", f"/v1/introspection/{NODE}"), 404)
    assert ask(service, "GET", "/v1/introspection").json == {"introspection": []}


def info(stage: str) -> dict[str, Any]:
    return {"introspection": {"started_at": "2026-11-22T10:00:00.000000+00:00", "stage": stage, "boots_itself": False}}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "waiting": (
        {"provision_state": states.INSPECTWAIT, "inspection_started_at": BEGAN, "last_error": "of before"},
        {"state": "waiting", "finished": False, "finished_at": None, "error": None},
    ),
    "starting": (
        {"provision_state": states.INSPECTING, "inspection_started_at": BEGAN},
        {"state": "starting", "finished": False, "finished_at": None, "error": None},
    ),
    "processing": (
        {
            "provision_state": states.INSPECTING,
            "inspection_started_at": BEGAN,
            "driver_internal_info": info(introspection.PROCESSING),
        },
        {"state": "processing", "finished": False, "finished_at": None, "error": None},
    ),
    "reapplying": (
        {
            "provision_state": states.INSPECTING,
            "inspection_started_at": BEGAN,
            "driver_internal_info": info(introspection.REAPPLYING),
        },
        {"state": "reapplying", "finished": False, "finished_at": None, "error": None},
    ),
    "finished": (
        {
            "provision_state": states.ACTIVE,
            "inspection_finished_at": ENDED,
            "driver_internal_info": info(introspection.PROCESSING),
            "last_error": "of a later operation",
        },
        {"state": "finished", "finished": True, "finished_at": "2026-11-22T10:05:00.000000+00:00", "error": None},
    ),
    "error": (
        {
            "provision_state": states.INSPECTFAIL,
            "provision_updated_at": ENDED,
            "driver_internal_info": info(introspection.STARTING),
            "last_error": "no data; password=hunter2",
        },
        {"state": "error", "finished": True, "finished_at": "2026-11-22T10:05:00.000000+00:00"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_state_follows_from_the_node(service: Service, name: str) -> None:
    columns, shown = CASES[name]
    set_node(service, **columns)
    found = ask(service, "GET", f"/v1/introspection/{NAME}", version="1.0").json
    assert found.keys() == {"uuid", "state", "finished", "error", "started_at", "finished_at", "links"}
    assert {key: found[key] for key in shown} == shown
    assert found["uuid"] == NODE
    assert found["started_at"] == "2026-11-22T10:00:00.000000+00:00"
    assert found["links"] == [{"href": f"{BASE}/v1/introspection/{NODE}", "rel": "self"}]
    assert ask(service, "GET", "/v1/introspection").json["introspection"] == [found]
    assert ask(service, "GET", f"/v1/introspection?state=waiting,{name}").json["introspection"] == [found]
    other = "finished" if name != "finished" else "error"
    assert ask(service, "GET", f"/v1/introspection?state={other}").json["introspection"] == []


def test_an_error_is_shown_without_secrets(service: Service) -> None:
    set_node(service, **CASES["error"][0])
    error = ask(service, "GET", f"/v1/introspection/{NODE}").json["error"]
    assert error.startswith("no data")
    assert "hunter2" not in error


@pytest.mark.parametrize(
    ("discovered", "shown"),
    [({}, "starting"), ({"last_error": "x"}, "error"), ({"inspection_finished_at": ENDED}, "finished")],
)
def test_a_discovered_node_has_an_introspection(service: Service, discovered: dict[str, Any], shown: str) -> None:
    set_node(service, provision_state=states.ENROLL, auto_discovered=True, **discovered)
    assert ask(service, "GET", f"/v1/introspection/{NODE}").json["state"] == shown


@pytest.fixture
def many(service: Service) -> list[str]:
    """Store nodes that were inspected one after another; return their UUIDs, the newest first."""
    uuids = []
    for number in range(7):
        uuid = f"33333333-0000-4000-8000-{number:012}"
        # Two of them at the same moment.
        when = BEGAN + timedelta(seconds=min(number, 5))
        service.store.nodes.create(
            {"uuid": uuid, "driver": "fake-hardware", "inspection_finished_at": when, "provision_state": "available"}
        )
        uuids.append(uuid)
    return uuids[::-1]


def test_a_list_is_read_page_by_page_the_newest_first(service: Service, many: list[str]) -> None:
    seen: list[str] = []
    while page := ask(
        service, "GET", f"/v1/introspection?limit=3{f'&marker={seen[-1]}' if seen else ''}", version="1.0"
    ).json["introspection"]:
        assert len(page) <= 3
        seen += [one["uuid"] for one in page]
    assert seen == many


def test_one_statement_reads_a_page(service: Service, many: list[str]) -> None:
    assert [one["uuid"] for one in ask(service, "GET", "/v1/introspection").json["introspection"]] == many
    assert len(ask(service, "GET", "/v1/introspection?limit=0").json["introspection"]) == 7


@pytest.mark.parametrize(
    "query", ["limit=-1", "limit=x", "marker=first", "state=asleep", "limit=1&limit=2", "colour=1"]
)
def test_a_list_refuses_what_it_can_not_read(service: Service, many: list[str], query: str) -> None:
    refused(ask(service, "GET", f"/v1/introspection?{query}"), 400)


def test_a_page_after_an_unknown_node_is_refused(service: Service, many: list[str]) -> None:
    status = ask(service, "GET", f"/v1/introspection?marker={MISSING}").status
    assert MISSING in refused(ask(service, "GET", f"/v1/introspection?marker={MISSING}"), 404), status
    refused(ask(service, "GET", f"/v1/introspection?marker={NODE}"), 404)


def test_a_wait_can_be_aborted(service: Service) -> None:
    set_node(service, provision_state=states.INSPECTWAIT)
    response = ask(service, "POST", f"/v1/introspection/{NAME}/abort", version="1.3")
    assert (response.status, response.body) == (202, b"")
    assert service.conductor.asked == [["change_provision_state", NODE, "abort", {}]]


@pytest.mark.parametrize("state", [states.CLEANWAIT, states.DEPLOYWAIT, states.MANAGEABLE, states.INSPECTING])
def test_no_other_operation_is_aborted(service: Service, state: str) -> None:
    set_node(service, provision_state=state)
    refused(ask(service, "POST", f"/v1/introspection/{NODE}/abort"), 400)
    assert service.conductor.asked == []
