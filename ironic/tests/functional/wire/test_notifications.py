"""What the API tells listeners: each change it makes, with what was and what is; nothing of what it refuses."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.api.resources import ROUTES
from ironic.api.telling import TOLD
from ironic.core.errors import NodeLocked
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


def test_every_route_that_is_told_exists() -> None:
    assert TOLD.keys() <= {(route.method, route.path) for route in ROUTES}


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


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/nodes", {"driver": "nobody-has-it"}, 400),
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
    service.store.nodes.reserve(node["uuid"], "somebody")
    service.conductor.fails_with = NodeLocked(node=node["uuid"], host="somebody")
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
