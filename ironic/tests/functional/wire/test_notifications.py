"""Notifications of the API: each change it makes, with what was and what is; nothing of what it refuses."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic import db
from ironic.api.crud_notifications import CREATE, DELETE, OTHERS, UPDATE, notification_of
from ironic.api.inspector.old_api import InspectorApi
from ironic.api.resources import ROUTES
from ironic.core.errors import NodeLocked
from ironic.rpc.notifications.notifier import Notification
from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire import service as wire
from ironic.tests.listening import Listener, listening


@pytest.fixture
def service(tmp_path: Path) -> Iterator[wire.Service]:
    started = wire.start(tmp_path)
    yield started
    started.close()


@pytest.fixture
def listener(service: wire.Service) -> Iterator[Listener]:
    with listening() as made:
        yield made


def created(service: wire.Service, path: str, **body: Any) -> dict[str, Any]:
    answer = service.call("POST", path, body=body)
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.json
    return made


def replace(path: str, value: Any) -> list[dict[str, Any]]:
    return [{"op": "replace", "path": path, "value": value}]


COLLECTIONS = {
    "/v1/nodes": "node",
    "/v1/ports": "port",
    "/v1/portgroups": "portgroup",
    "/v1/chassis": "chassis",
    "/v1/volume/connectors": "volumeconnector",
    "/v1/volume/targets": "volumetarget",
    "/v1/allocations": "allocation",
    "/v1/deploy_templates": "deploytemplate",
    "/v1/runbooks": "runbook",
    "/v1/inspection_rules": "inspectionrule",
}


def test_whatever_is_created_changed_and_deleted_is_told() -> None:
    routes = {(route.method, re.sub(r"/\{\w+\}$", "/", route.path)): route for route in ROUTES}
    expected = {
        place: (kind, action)
        for path, kind in COLLECTIONS.items()
        for place, action in (
            (("POST", path), CREATE),
            (("PATCH", f"{path}/"), UPDATE),
            (("DELETE", f"{path}/"), DELETE),
        )
    }
    told = {
        place: notification_of(route) for place, route in routes.items() if (route.method, route.path) not in OTHERS
    }
    assert {place: (one.subject.kind, one.action) for place, one in told.items() if one} == expected
    assert OTHERS.keys() <= {(route.method, route.path) for route in (*ROUTES, *InspectorApi.rows)}


def test_a_node_from_creation_to_deletion(service: wire.Service, listener: Listener) -> None:
    node = created(service, "/v1/nodes", driver="fake-hardware", name="n1", driver_info={"redfish_password": "canary"})
    assert listener.events == ["node.create.start", "node.create.end"]
    assert listener.data("node.create.end")["uuid"] == node["uuid"]

    assert service.call("PATCH", "/v1/nodes/n1", body=replace("/name", "n2")).status == 200
    assert listener.events[2:] == ["node.update.start", "node.update.end"]
    assert [listener.data(f"node.update.{status}")["name"] for status in ("start", "end")] == ["n1", "n2"]

    assert service.call("PUT", "/v1/nodes/n2/maintenance", body={"reason": "hot"}).status == 202
    assert service.call("DELETE", "/v1/nodes/n2/maintenance").status == 202
    assert listener.events[4:] == ["node.maintenance_set.start", "node.maintenance_set.end"] * 2
    assert listener.heard[5].payload["ironic_object.data"]["maintenance_reason"] == "hot"

    assert service.call("DELETE", "/v1/nodes/n2").status == 204
    assert listener.events[8:] == ["node.delete.start", "node.delete.end"]
    assert listener.data("node.delete.end")["uuid"] == node["uuid"]
    assert {each.publisher for each in listener.heard} == {"ironic-api.h1"}
    assert "canary" not in str(listener.heard)


def test_what_belongs_to_nodes(service: wire.Service, listener: Listener) -> None:
    node = created(service, "/v1/nodes", driver="fake-hardware")["uuid"]
    chassis = created(service, "/v1/chassis", description="rack")["uuid"]
    port = created(service, "/v1/ports", node_uuid=node, address="52:54:00:00:00:01")["uuid"]
    group = created(service, "/v1/portgroups", node_uuid=node)["uuid"]
    rule = created(service, "/v1/inspection_rules", actions=[{"op": "fail", "args": {"msg": "no"}}])["uuid"]
    for path, uuid in (("chassis", chassis), ("ports", port), ("portgroups", group)):
        answer = service.call("PATCH", f"/v1/{path}/{uuid}", body=replace("/extra", {"rack": "7"}))
        assert answer.status == 200, answer.body
    assert service.call("DELETE", f"/v1/inspection_rules/{rule}").status == 204
    assert listener.events == [
        f"{event}.{status}"
        for event in (
            "node.create",
            "chassis.create",
            "port.create",
            "portgroup.create",
            "inspectionrule.create",
            "chassis.update",
            "port.update",
            "portgroup.update",
            "inspectionrule.delete",
        )
        for status in ("start", "end")
    ]
    assert listener.data("port.create.end")["node_uuid"] == node


def test_traits_are_part_of_their_node(service: wire.Service, listener: Listener) -> None:
    created(service, "/v1/nodes", driver="fake-hardware", name="n1")
    for method, path, body in (
        ("PUT", "/v1/nodes/n1/traits", {"traits": ["CUSTOM_A", "CUSTOM_B"]}),
        ("PUT", "/v1/nodes/n1/traits/CUSTOM_C", None),
        ("DELETE", "/v1/nodes/n1/traits/CUSTOM_A", None),
        ("DELETE", "/v1/nodes/n1/traits", None),
    ):
        assert service.call(method, path, body=body).status == 204
    assert listener.events[2:] == ["node.update.start", "node.update.end"] * 4
    traits = [each.payload["ironic_object.data"]["traits"] for each in listener.heard[2:]]
    assert [sorted(each) for each in traits[1::2]] == [
        ["CUSTOM_A", "CUSTOM_B"],
        ["CUSTOM_A", "CUSTOM_B", "CUSTOM_C"],
        ["CUSTOM_B", "CUSTOM_C"],
        [],
    ]


def test_every_rule_that_goes_with_all_of_them_is_told(service: wire.Service, listener: Listener) -> None:
    rules = [
        created(service, "/v1/inspection_rules", actions=[{"op": "fail", "args": {"msg": "no"}}])["uuid"]
        for _ in range(2)
    ]
    assert service.call("DELETE", "/v1/inspection_rules").status == 204
    assert listener.events[4:] == ["inspectionrule.delete.start"] * 2 + ["inspectionrule.delete.end"] * 2
    told = [each.payload["ironic_object.data"]["uuid"] for each in listener.heard[4:]]
    assert sorted(told[:2]) == sorted(rules) and told[:2] == told[2:]


def test_the_allocation_of_a_node_is_told_like_any_other(service: wire.Service, listener: Listener) -> None:
    node = created(service, "/v1/nodes", driver="fake-hardware", resource_class="rack")["uuid"]
    made = service.store.allocations.create({"state": "active", "node_id": 1, "resource_class": "rack"})
    service.store.nodes.update(node, {"allocation_id": made.id, "instance_uuid": made.uuid})
    assert service.call("DELETE", f"/v1/nodes/{node}/allocation").status == 204
    assert listener.events[2:] == ["allocation.delete.start", "allocation.delete.end"]
    assert listener.data("allocation.delete.start")["uuid"] == made.uuid


def test_the_start_is_told_before_others_can_see_the_change(service: wire.Service) -> None:
    seen: list[tuple[str, list[str | None]]] = []
    other = db.connect(str(service.store.engine.url))
    with listening() as listener:
        put = listener.put

        def note(notification: Notification) -> None:
            put(notification)
            seen.append((notification.event_type.rpartition(".")[2], [node.name for node in other.nodes.find()]))

        listener.put = note  # type: ignore[method-assign]
        created(service, "/v1/nodes", driver="fake-hardware", name="n1")
        assert service.call("PATCH", "/v1/nodes/n1", body=replace("/name", "n2")).status == 200
    other.close()
    assert seen == [("start", []), ("end", ["n1"]), ("start", ["n1"]), ("end", ["n2"])]
    assert listener.data("node.create.start")["name"] == "n1"


def test_a_conductor_is_asked_after_the_start_was_told(service: wire.Service, listener: Listener) -> None:
    created(service, "/v1/nodes", driver="fake-hardware", name="n1")
    service.conductor.answers["destroy_node"] = NodeLocked(node="n1", host="another-host")
    assert service.call("DELETE", "/v1/nodes/n1").status == 409
    assert listener.events[2:] == ["node.delete.start", "node.delete.error"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/nodes", {"driver": "unknown-driver"}, 400),
        ("PUT", "/v1/nodes/n1/traits/bad", None, 400),
        ("DELETE", "/v1/nodes/n1/allocation", None, 404),
        ("PATCH", "/v1/nodes/n1", [{"op": "replace", "path": "/nothing", "value": 1}], 400),
        ("PATCH", "/v1/nodes/absent", [], 404),
        ("DELETE", "/v1/nodes/absent", None, 404),
        ("DELETE", "/v1/ports/not-a-uuid", None, 400),
        ("GET", "/v1/nodes/n1", None, 200),
        ("OPTIONS", "/v1/nodes", None, 200),
    ],
)
def test_what_changes_nothing_is_nobodys_news(
    service: wire.Service, method: str, path: str, body: Any, status: int
) -> None:
    created(service, "/v1/nodes", driver="fake-hardware", name="n1")
    with listening() as listener:
        answer = service.call(method, path, body=body)
    assert answer.status == status, answer.body
    assert listener.events == []


def test_what_failed_is_told(service: wire.Service, listener: Listener) -> None:
    node = created(service, "/v1/nodes", driver="fake-hardware", name="n1")
    service.store.nodes.reserve(node["uuid"], "another-host")
    assert service.call("PATCH", "/v1/nodes/n1", body=replace("/name", "n2")).status == 409
    assert listener.events[2:] == ["node.update.start", "node.update.error"]
    assert listener.heard[-1].level == "error"
    assert listener.data("node.update.error")["name"] == "n1"


def test_when_nobody_listens_nothing_is_read_for_it(service: wire.Service) -> None:
    created(service, "/v1/nodes", driver="fake-hardware", name="n1")

    def statements() -> int:
        with counting_statements(service.store) as seen:
            assert service.call("PUT", "/v1/nodes/n1/maintenance", body={}).status == 202
        return seen.selects

    silent = statements()
    with listening():
        assert statements() > silent
    assert statements() == silent
