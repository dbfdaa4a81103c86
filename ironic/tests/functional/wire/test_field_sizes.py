"""Fields that clients write freely have a greatest size; a larger value from before can be read, and can shrink."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.api.resources import ROUTES
from ironic.api.settings import ApiSettings
from ironic.core.model.fields import Field, Resource
from ironic.core.model.node import Node
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service

MOST = 2000
NODE = "11111111-0000-4000-8000-000000000001"
RESOURCES = {route.of.resource for route in ROUTES if route.of is not None}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = services.start(tmp_path, ApiSettings(largest_field=MOST, node_locked_attempts=1))
    running.store.nodes.create({"uuid": NODE, "driver": "fake-hardware", "power_state": "power off"})
    yield running
    running.close()


def value(size: int) -> dict[str, str]:
    return {"a": "x" * (size - len('{"a":""}'))}


def action(size: int) -> list[dict[str, Any]]:
    return [{"op": "set-attribute", "args": {"path": "/extra/a", "value": "x" * size}}]


def steps(size: int, place: str) -> list[dict[str, Any]]:
    return [{"interface": "deploy", "step": "x", "args": {"a": "x" * size}, place: 1}]


# By kind: what a new one needs, and its limited field with a small and a large value.
KINDS: dict[str, tuple[dict[str, Any], str, Any, Any]] = {
    "chassis": ({}, "extra", value(MOST), value(MOST + 1)),
    "nodes": ({"driver": "fake-hardware"}, "properties", value(MOST), value(MOST + 1)),
    "ports": ({"node_uuid": NODE, "address": "52:54:00:00:00:01"}, "extra", value(MOST), value(MOST + 1)),
    "portgroups": ({"node_uuid": NODE}, "properties", value(MOST), value(MOST + 1)),
    "volume/connectors": ({"node_uuid": NODE, "type": "iqn", "connector_id": "i"}, "extra", value(9), value(MOST + 1)),
    "volume/targets": (
        {"node_uuid": NODE, "volume_type": "iscsi", "boot_index": 0, "volume_id": "v"},
        "properties",
        value(MOST),
        value(MOST + 1),
    ),
    "allocations": ({"resource_class": "gold"}, "extra", value(MOST), value(MOST + 1)),
    "deploy_templates": ({"name": "CUSTOM_T"}, "steps", steps(9, "priority"), steps(MOST, "priority")),
    "runbooks": ({"name": "CUSTOM_R"}, "steps", steps(9, "order"), steps(MOST, "order")),
    "inspection_rules": ({}, "actions", action(9), action(MOST)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_larger_value_is_refused_in_a_new_row_and_in_a_patch(service: Service, kind: str) -> None:
    body, field, small, large = KINDS[kind]
    refused = service.call("POST", f"/v1/{kind}", body=body | {field: large})
    assert refused.status == 400, refused.body
    assert f"{field} has " in refused.body.decode()
    assert f"more than the {MOST} that [api]largest_json_field allows" in refused.body.decode()
    made = service.call("POST", f"/v1/{kind}", body=body | {field: small})
    assert made.status == 201, made.body
    path = f"/v1/{kind}/{made.json['uuid']}"
    change = [{"op": "replace", "path": f"/{field}", "value": large}]
    refused = service.call("PATCH", path, body=change)
    assert refused.status == 400, refused.body
    assert "[api]largest_json_field" in refused.body.decode()
    assert service.call("GET", path).json == made.json | {"updated_at": service.call("GET", path).json["updated_at"]}


@pytest.mark.parametrize(
    "route, body",
    [("maintenance", {"reason": "r" * MOST}), ("states/raid", {"logical_disks": [{"size_gb": 1, "x": "y" * MOST}]})],
)
def test_a_route_of_its_own_takes_no_larger_value(service: Service, route: str, body: dict[str, Any]) -> None:
    before = service.call("GET", f"/v1/nodes/{NODE}").json
    refused = service.call("PUT", f"/v1/nodes/{NODE}/{route}", body=body)
    assert refused.status == 400, refused.body
    assert "[api]largest_json_field" in refused.body.decode()
    assert service.call("GET", f"/v1/nodes/{NODE}").json == before


def test_a_larger_value_from_before_may_shrink_and_does_not_hold_up_other_fields(service: Service) -> None:
    before = {"a": "x" * MOST, "b": "y" * MOST}
    uuid = service.store.allocations.create({"state": "error", "extra": before}).uuid
    path = f"/v1/allocations/{uuid}"
    assert service.call("GET", path).json["extra"] == before
    assert service.call("PATCH", path, body=[{"op": "add", "path": "/name", "value": "n"}]).status == 200
    grown = service.call("PATCH", path, body=[{"op": "add", "path": "/extra/c", "value": "z"}])
    assert grown.status == 400
    same = [{"op": "replace", "path": "/extra/b", "value": "z" * MOST}]
    assert service.call("PATCH", path, body=same).status == 400
    shrunk = service.call("PATCH", path, body=[{"op": "remove", "path": "/extra/a"}])
    assert (shrunk.status, shrunk.json["extra"]) == (200, {"b": "y" * MOST})


def test_config_drives_are_exempt(service: Service) -> None:
    body = {"driver": "fake-hardware", "instance_info": {"configdrive": "x" * MOST}}
    made = service.call("POST", "/v1/nodes", body=body)
    assert made.status == 201
    path = f"/v1/nodes/{made.json['uuid']}"
    other = [{"op": "add", "path": "/instance_info/configdrive", "value": {"user_data": "y" * MOST}}]
    assert service.call("PATCH", path, body=other).status == 200


def test_nothing_else_of_instance_info_is_exempt(service: Service) -> None:
    body = {"driver": "fake-hardware", "instance_info": {"configdrive": "x" * MOST, "a": "y" * MOST}}
    refused = service.call("POST", "/v1/nodes", body=body)
    assert refused.status == 400
    assert "instance_info without configdrive has " in refused.body.decode()
    path, large = f"/v1/nodes/{NODE}", {"a": "y" * MOST}
    change = [{"op": "add", "path": "/instance_info/a", "value": "y" * MOST}]
    assert service.call("PATCH", path, body=change).status == 400
    # A value from before stays, and does not hold up a config drive.
    service.store.nodes.update(service.store.nodes.get(NODE).id, {"instance_info": large})
    drive = [{"op": "add", "path": "/instance_info/configdrive", "value": "x" * MOST}]
    assert service.call("PATCH", path, body=drive).status == 200
    assert service.call("PATCH", path, body=[{"op": "add", "path": "/instance_info/b", "value": 1}]).status == 400
    assert service.call("PATCH", path, body=[{"op": "remove", "path": "/instance_info/a"}]).status == 200


def test_bytes_count_and_not_characters(service: Service) -> None:
    body = {"resource_class": "gold", "extra": {"a": "\u00e4" * (MOST // 2)}}
    assert service.call("POST", "/v1/allocations", body=body).status == 400


def endless(resource: type[Resource]) -> dict[str, Field]:
    fields = resource.writable("create") | resource.writable("patch")
    return {name: one for name, one in fields.items() if one.type.is_endless}


def test_every_field_without_a_limit_of_its_own_has_this_one() -> None:
    exempt = {(one.collection, name): field.exempt_key for one in RESOURCES for name, field in endless(one).items()}
    assert {name: key for name, key in exempt.items() if key} == {(Node.collection, "instance_info"): "configdrive"}
    limited = {one.collection for one in RESOURCES if endless(one)}
    assert limited == {kind.rpartition("/")[2] for kind in KINDS}
    for one in RESOURCES:
        for name, field in (one.writable("create") | one.writable("patch")).items():
            # A type that takes text of any length has to say so.
            text = "x" * 100_000
            try:
                field.type.validate(text)
            except (ValueError, TypeError):
                continue
            assert field.type.is_endless, (one, name)
