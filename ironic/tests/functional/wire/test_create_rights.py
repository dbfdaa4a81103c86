"""Creating asks what a patch asks: a field that a caller might not change is not set in a new thing either."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.model.node import Node
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import FOREIGN, OWNED, ask
from ironic.tests.functional.wire.service import Service

CHASSIS = "33333333-0000-4000-8000-000000000001"
# A value for each field that a patch may change and a new node may have, other than it would have anyway.
VALUES: dict[str, Any] = {
    "automated_clean": True,
    "chassis_uuid": CHASSIS,
    "conductor_group": "",
    "description": "x",
    "disable_power_off": True,
    "driver_info": {"a": 1},
    "extra": {"a": 1},
    "instance_info": {"a": 1},
    "instance_name": "x",
    "instance_uuid": "44444444-0000-4000-8000-000000000001",
    "lessee": "lessees",
    "maintenance": True,
    "name": "x",
    "network_data": {"links": [], "networks": [], "services": []},
    "parent_node": OWNED,
    "properties": {"a": 1},
    "resource_class": "x",
    "retired": True,
    "retired_reason": "x",
    "shard": "x",
    **{f"{kind}_interface": "fake" for kind in ("bios", "boot", "console", "deploy", "inspect", "management", "power")},
    **{f"{kind}_interface": "fake" for kind in ("firmware", "raid", "rescue", "storage", "vendor")},
    "network_interface": "noop",
}
# What creating itself is about.
OF_CREATION = {"driver", "owner"}


@pytest.fixture
def service(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[Service]:
    running = keystone.service(tmp_path, identity, conf)
    running.store.chassis.create({"uuid": CHASSIS})
    # A group by default, so that to have none is a choice.
    object.__setattr__(running.settings, "default_conductor_group", "")
    yield running
    running.close()


def test_there_is_a_value_for_every_field() -> None:
    both = Node.writable("patch").keys() & Node.writable("create").keys()
    assert both == VALUES.keys() | OF_CREATION


def allowed(service: Service, token: str, method: str, path: str, body: Any) -> bool:
    answer = ask(service, token, method, path, body)
    assert answer.status in (200, 201, 400, 403, 409), answer.body
    return answer.status != 403


@pytest.mark.parametrize("name", [*VALUES, "no cleaning", "a conductor group"])
def test_a_field_of_a_new_node_is_set_by_who_might_change_it(service: Service, name: str) -> None:
    value = VALUES.get(name)
    if name == "no cleaning":
        name, value = "automated_clean", False
    if name == "a conductor group":
        name, value = "conductor_group", "rack1"
    usual = name == "conductor_group" and value == ""
    for token in ("owner-admin", "owner-service", "system-service", "system-admin"):
        own = {"owner": "owners"} if token.startswith("system") else {}
        body = {"driver": "fake-hardware", **own, name: value, **({"retired": True} if "reason" in name else {})}
        change = [{"op": "add", "path": f"/{name}", "value": value}]
        creates = allowed(service, token, "POST", "/v1/nodes", body)
        for node in service.store.nodes.find():
            if node.uuid not in (OWNED, FOREIGN) and name in ("name", "instance_uuid"):
                service.store.nodes.update(node.uuid, {name: None})
        changes = allowed(service, token, "PATCH", f"/v1/nodes/{OWNED}", change)
        assert creates == (changes or usual), token


@pytest.mark.parametrize(
    "more",
    [
        {"shard": "x"},
        {"conductor_group": "rack1"},
        {"chassis_uuid": CHASSIS},
        {"automated_clean": False},
        {"automated_clean": "off"},
        {"disable_power_off": True},
        {"parent_node": FOREIGN},
    ],
    ids=lambda more: next(iter(more)),
)
def test_a_project_sets_nothing_that_is_the_sites(service: Service, more: dict[str, Any]) -> None:
    before = service.contents()
    answer = ask(service, "owner-admin", "POST", "/v1/nodes", {"driver": "fake-hardware", **more})
    assert (answer.status, service.contents()) == (403, before)
    assert ask(service, "system-admin", "POST", "/v1/nodes", {"driver": "fake-hardware", **more}).status != 403


# Field that only a new node has, a value, and the route that changes it later.
BY_ROUTE: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "boot_mode": ("uefi", "boot_mode", {"target": "uefi"}),
    "secure_boot": (True, "secure_boot", {"target": True}),
    "console_enabled": (True, "console", {"enabled": True}),
}


@pytest.mark.parametrize("name", BY_ROUTE)
def test_a_field_without_patch_is_set_in_a_new_node_by_who_might_use_its_route(service: Service, name: str) -> None:
    value, route, later = BY_ROUTE[name]
    service.conductor.answers |= dict.fromkeys(("change_boot_mode", "change_secure_boot", "change_console"))
    for token in ("owner-admin", "owner-service", "system-service", "system-admin"):
        own = {"owner": "owners"} if token.startswith("system") else {}
        creates = allowed(service, token, "POST", "/v1/nodes", {"driver": "fake-hardware", **own, name: value})
        changes = ask(service, token, "PUT", f"/v1/nodes/{OWNED}/states/{route}", later)
        assert changes.status in (202, 403), changes.body
        assert creates == (changes.status == 202), token


def test_a_project_enrolls_a_node_with_all_that_is_its_own(service: Service) -> None:
    names = ("driver_info", "properties", "extra", "name", "resource_class", "description", "network_data", "lessee")
    body = {name: VALUES[name] for name in (*names, "automated_clean", "power_interface")}
    usual = {"conductor_group": "", "disable_power_off": False, "shard": None, "chassis_uuid": None, "owner": "owners"}
    answer = ask(service, "owner-admin", "POST", "/v1/nodes", {"driver": "fake-hardware", **body, **usual})
    assert answer.status == 201, answer.body
    assert answer.json["owner"] == "owners"


@pytest.mark.parametrize(
    ("manages_own", "owner", "status"), [(True, "others", 400), (True, None, 201), (False, "others", 201)]
)
def test_an_admin_of_a_project_enrolls_for_the_project_also_with_the_right_to_enroll_for_all(
    service: Service, tmp_path: Path, manages_own: bool, owner: str | None, status: int
) -> None:
    (tmp_path / "policy.yaml").write_text('"baremetal:node:create": "role:admin"\n')
    object.__setattr__(service.settings, "project_admin_can_manage_own_nodes", manages_own)
    body = {"driver": "fake-hardware", "owner": owner}
    answer = ask(service, "owner-admin", "POST", "/v1/nodes", body)
    assert answer.status == status
    if status == 201:
        assert answer.json["owner"] == ("owners" if manages_own else owner)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"op": "add", "path": "/properties/inspection_scope", "value": "south"}, 400),
        ({"op": "remove", "path": "/properties/inspection_scope"}, 400),
        ({"op": "replace", "path": "/properties", "value": {"cpus": 2}}, 400),
        ({"op": "remove", "path": "/properties"}, 400),
        ({"op": "replace", "path": "/properties", "value": {"inspection_scope": "north", "cpus": 2}}, 200),
        ({"op": "add", "path": "/properties/cpus", "value": 2}, 200),
    ],
)
def test_a_project_does_not_choose_the_inspection_rules_of_its_node(
    service: Service, change: dict[str, Any], status: int
) -> None:
    node = service.store.nodes.get(OWNED)
    node.properties = {"inspection_scope": "north"}
    node.save()
    refused = ask(service, "owner-admin", "PATCH", f"/v1/nodes/{OWNED}", [change])
    assert (refused.status, b"only administrators" in refused.body) == (status, status == 400)
    assert ask(service, "system-member", "PATCH", f"/v1/nodes/{OWNED}", [change]).status == 200


def test_a_project_enrolls_no_node_with_a_scope_of_inspection_rules(service: Service) -> None:
    body = {"driver": "fake-hardware", "properties": {"inspection_scope": "north"}}
    assert ask(service, "owner-admin", "POST", "/v1/nodes", body).status == 400
    assert ask(service, "system-admin", "POST", "/v1/nodes", body).status == 201


@pytest.mark.parametrize("more", [{"public": True}, {"owner": "owners"}])
def test_whose_a_runbook_is_is_said_by_who_might_change_it(service: Service, more: dict[str, Any]) -> None:
    steps = [{"interface": "bios", "step": "x", "order": 1}]
    body = {"name": "CUSTOM_X", "steps": steps, **more}
    assert ask(service, "system-service", "POST", "/v1/runbooks", body).status == 403
    assert ask(service, "system-admin", "POST", "/v1/runbooks", body).status == 201


@pytest.mark.parametrize("kind", ["ports", "portgroups"])
def test_a_part_moves_only_to_a_node_where_its_mover_might_change_it(
    service: Service, kind: str, tmp_path: Path
) -> None:
    (tmp_path / "policy.yaml").write_text(f'"baremetal:{kind[:-1]}:update": "project_id:%(node.lessee)s"\n')
    node = service.store.nodes.get(OWNED)
    values = {"node_id": node.id} | ({"address": "52:54:00:00:00:01"} if kind == "ports" else {})
    part = getattr(service.store, kind).create(values)
    service.store.nodes.update(FOREIGN, {"owner": "owners", "lessee": "strangers"})
    change = [{"op": "replace", "path": "/node_uuid", "value": FOREIGN}]
    assert ask(service, "lessee-admin", "PATCH", f"/v1/{kind}/{part.uuid}", change).status == 400
    assert service.conductor.asked == []


def test_a_node_gets_no_parent_that_its_mover_might_not_change(service: Service, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text('"baremetal:node:update:parent_node": "project_id:%(node.lessee)s"\n')
    service.store.nodes.update(FOREIGN, {"owner": "owners", "lessee": "strangers"})
    change = [{"op": "add", "path": "/parent_node", "value": FOREIGN}]
    assert ask(service, "lessee-admin", "PATCH", f"/v1/nodes/{OWNED}", change).status == 400
    service.store.nodes.update(FOREIGN, {"lessee": "lessees"})
    assert ask(service, "lessee-admin", "PATCH", f"/v1/nodes/{OWNED}", change).status == 200


def test_the_right_to_create_is_judged_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = keystone.evaluated(monkeypatch)
    assert ask(service, "system-admin", "POST", "/v1/nodes", {"driver": "fake-hardware"}).status == 201
    assert asked.count("baremetal:node:create") == 1
