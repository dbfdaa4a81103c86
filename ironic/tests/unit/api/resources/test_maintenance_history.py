"""Who has set and who has cleared the maintenance of a node stays in its history."""

from typing import Any

import pytest

from ironic.core.context import RequestContext
from ironic.services import node_changes
from ironic.services.node_changes import LockRetries
from ironic.tests.conftest import Setter
from ironic.tests.functional.wire.service import Service
from ironic.tests.unit.api.resources.rows import add_node

MAINTENANCE = "/v1/nodes/n/maintenance"
FLAG = {"op": "replace", "path": "/maintenance"}


@pytest.fixture(autouse=True)
def node(service: Service) -> None:
    add_node(service, name="n", provision_state="active")


def entries(service: Service) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = service.call("GET", "/v1/nodes/n/history?detail=true").json["history"]
    return found


def events(service: Service) -> list[str]:
    return [entry["event"] for entry in entries(service)]


def test_entries_name_the_caller_and_the_state_of_the_node(service: Service) -> None:
    caller = RequestContext(user_id="ann", project_id="p")
    node_changes.set_maintenance(service.store, caller, "n", LockRetries(1, 0), on=True, reason="a fan is broken")
    (entry,) = entries(service)
    seen = {name: entry[name] for name in ("event_type", "severity", "user", "project", "state", "conductor")}
    assert seen == {
        "event_type": "maintenance", "severity": "INFO", "user": "ann", "project": "p", "state": "active",
        "conductor": None,
    }  # fmt: skip
    assert entry["event"] == "Maintenance was set: a fan is broken"


def test_calls_leave_the_reasons(service: Service) -> None:
    for reason in ("a fan is broken", "a fan is broken", "and a disk"):
        assert service.call("PUT", MAINTENANCE, body={"reason": reason}).status == 202
    assert [service.call("DELETE", MAINTENANCE).status for _ in range(2)] == [202, 202]
    assert events(service) == [
        "Maintenance was set: a fan is broken",
        "Maintenance was set again, with another reason: and a disk",
        "Maintenance was cleared; it had been set, with the reason: and a disk",
    ]


def test_patches_leave_them_too_and_other_patches_do_not(service: Service) -> None:
    for patch in ([FLAG | {"value": True}], [{"op": "add", "path": "/extra/a", "value": 1}], [FLAG | {"value": False}]):
        assert service.call("PATCH", "/v1/nodes/n", body=patch).status == 200
    assert events(service) == [
        "Maintenance was set: no reason was given",
        "Maintenance was cleared; it had been set, with the reason: none",
    ]


def test_the_fault_that_a_clearing_ended_is_named(service: Service) -> None:
    node_id = service.store.nodes.get("n").id
    broken = {"maintenance": True, "maintenance_reason": "it broke", "fault": "clean failure"}
    service.store.nodes.update(node_id, broken)
    assert service.call("DELETE", MAINTENANCE).status == 202
    assert "because of the fault 'clean failure'" in events(service)[0]


def test_a_refused_patch_leaves_nothing(service: Service) -> None:
    patch = [FLAG | {"value": True}, {"op": "replace", "path": "/driver", "value": "none-such"}]
    assert service.call("PATCH", "/v1/nodes/n", body=patch).status == 400
    assert events(service) == []


def test_nothing_is_kept_without_node_history(service: Service, conf: Setter) -> None:
    conf(conductor__node_history=False)
    assert service.call("PUT", MAINTENANCE, body={"reason": "why"}).status == 202
    assert events(service) == []
