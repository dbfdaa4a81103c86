"""Who may do what with volumes, runbooks, deploy templates and allocations, by the default access rules."""
# ruff: noqa: F811 - fixtures that are imported are named again by those who use them

from collections.abc import Callable
from typing import Any

import pytest

from ironic.core.context import RequestContext
from ironic.tests.functional.wire.service import Service
from ironic.tests.unit.api.resources.rows import add_node
from ironic.tests.unit.api.resources.test_access import (  # noqa: F401 - fixtures
    ADMIN,
    OURS,
    READER,
    STRANGER,
    SYSTEM_READER,
    THEIRS,
    as_caller,
)

MEMBER = RequestContext(project_id=OURS, roles=("reader", "member"))
MANAGER = RequestContext(project_id=OURS, roles=("reader", "member", "manager"))
SYSTEM_ADMIN = RequestContext(system_scope="all", roles=("reader", "member", "admin"))
OTHER = RequestContext(project_id="project-3", roles=("reader", "member", "manager", "admin"))

STEPS = [{"interface": "bios", "step": "x", "order": 1}]
As = Callable[[RequestContext], Service]


@pytest.fixture
def nodes(service: Service) -> dict[str, str]:
    """Return a node of ours, one of theirs, one of theirs that is lent to us; each with a connector and a target."""
    owners = {"ours": {"owner": OURS}, "theirs": {"owner": THEIRS}, "lent": {"owner": THEIRS, "lessee": OURS}}
    made = {}
    for index, (name, columns) in enumerate(owners.items()):
        node = add_node(service, name=name, power_state="power off", **columns)
        uuid = f"3333333{index}-0000-4000-8000-000000000000"
        common = {"node_id": node.id, "uuid": uuid}
        service.store.volume_connectors.create(common | {"type": "iqn", "connector_id": name})
        properties = {"target": name}
        target = {"volume_type": "iscsi", "volume_id": name, "boot_index": 0, "properties": properties}
        service.store.volume_targets.create(common | target)
        made[name] = uuid
    return made


@pytest.mark.parametrize(
    ("caller", "names"), [(READER, ["ours", "lent"]), (SYSTEM_READER, ["ours", "theirs", "lent"]), (OTHER, [])]
)
@pytest.mark.parametrize("path", ["/v1/volume/connectors", "/v1/volume/targets"])
def test_a_list_has_what_belongs_to_the_nodes_of_the_project(
    as_caller: As, nodes: dict[str, str], caller: RequestContext, names: list[str], path: str
) -> None:
    listed = as_caller(caller).call("GET", path).json[path.rpartition("/")[2]]
    assert [one["uuid"] for one in listed] == [nodes[name] for name in names]


@pytest.mark.parametrize("path", ["/v1/volume/connectors", "/v1/allocations", "/v1/runbooks", "/v1/deploy_templates"])
def test_without_a_role_there_is_no_list(as_caller: As, path: str) -> None:
    assert as_caller(STRANGER).call("GET", path).status == 403


@pytest.mark.parametrize(
    ("caller", "name", "see", "patch", "delete"),
    [
        (READER, "ours", 200, 403, 403),
        (MEMBER, "ours", 200, 200, 403),
        (MANAGER, "ours", 200, 200, 204),
        (MEMBER, "lent", 200, 403, 403),
        (MANAGER, "lent", 200, 200, 204),
        (ADMIN, "theirs", 404, 404, 404),
        (SYSTEM_READER, "theirs", 200, 403, 403),
        (SYSTEM_ADMIN, "theirs", 200, 200, 204),
    ],
)
@pytest.mark.parametrize("kind", ["connectors", "targets"])
def test_a_volume_is_judged_by_its_node(
    as_caller: As,
    nodes: dict[str, str],
    caller: RequestContext,
    name: str,
    see: int,
    patch: int,
    delete: int,
    kind: str,
) -> None:
    api, path = as_caller(caller), f"/v1/volume/{kind}/{nodes[name]}"
    change = [{"op": "add", "path": "/extra/a", "value": 1}]
    # What is not refused is done: the volume is deleted last.
    statuses = [api.call(method, path, body=body).status for method, body in (("GET", None), ("PATCH", change))]
    assert [*statuses, api.call("DELETE", path).status] == [see, patch, delete]


@pytest.mark.parametrize(
    ("caller", "name", "status"),
    [
        (MANAGER, "ours", 201),
        (MANAGER, "lent", 201),
        (MEMBER, "ours", 403),
        (MANAGER, "theirs", 403),
        (SYSTEM_ADMIN, "theirs", 201),
    ],
)
def test_a_volume_is_added_to_nodes_one_may_set_up(
    as_caller: As, service: Service, nodes: dict[str, str], caller: RequestContext, name: str, status: int
) -> None:
    body = {"node_uuid": service.store.nodes.get(name).uuid, "type": "ip", "connector_id": "x"}
    assert as_caller(caller).call("POST", "/v1/volume/connectors", body=body).status == status


@pytest.mark.parametrize(
    ("caller", "shown"), [(MANAGER, False), (ADMIN, True), (SYSTEM_READER, True), (SYSTEM_ADMIN, True)]
)
def test_properties_of_a_target_take_a_right_of_their_own(
    as_caller: As, nodes: dict[str, str], caller: RequestContext, shown: bool
) -> None:
    api = as_caller(caller)
    one = api.call("GET", f"/v1/volume/targets/{nodes['ours']}").json
    listed = api.call("GET", "/v1/volume/targets?detail=true").json["targets"][0]
    for found in (one, listed):
        assert (found["properties"] == {"target": "ours"}) is shown
        assert ("target" in found["properties"]) is shown


# Moves

# A login stays a login of its owner, so properties with and without one are alike.
LOGIN = {"auth_username": "u", "auth_password": "p"}


@pytest.mark.parametrize("caller", [MANAGER, SYSTEM_ADMIN])
@pytest.mark.parametrize(("kind", "login"), [("connectors", {}), ("targets", {}), ("targets", LOGIN)])
def test_a_volume_moves_to_no_node_of_another_owner(
    as_caller: As, nodes: dict[str, str], caller: RequestContext, kind: str, login: dict[str, str]
) -> None:
    api, rows = as_caller(caller), getattr(as_caller(caller).store, f"volume_{kind}")
    if login:
        rows.update(nodes["ours"], {"properties": login})
    # A lessee of both, and it belongs to others now.
    other = add_node(api, name="also-lent", power_state="power off", owner="project-4", lessee=OURS)
    same = add_node(api, name="also-ours", power_state="power off", owner=OURS)
    path = f"/v1/volume/{kind}/{nodes['ours']}"

    def moved_to(uuid: str) -> int:
        return api.call("PATCH", path, body=[{"op": "replace", "path": "/node_uuid", "value": uuid}]).status

    before = rows.get(nodes["ours"]).node_id
    assert moved_to(other.uuid) == 400
    assert rows.get(nodes["ours"]).node_id == before
    assert moved_to(same.uuid) == 200
    assert rows.get(nodes["ours"]).node_id == same.id


@pytest.fixture
def books(service: Service) -> None:
    owners: dict[str, dict[str, Any]] = {
        "ours": {"owner": OURS},
        "theirs": {"owner": THEIRS},
        "public": {"public": True},
    }
    for name, values in owners.items():
        book = service.store.runbooks.create_with({"name": name} | values, STEPS)
        service.store.runbooks.traits.add(book.id, "CUSTOM_A")


@pytest.mark.parametrize(
    ("caller", "query", "names"),
    [
        (READER, "", ["ours", "public"]),
        (READER, "?project=true", ["ours"]),
        (READER, "?project=false", ["ours", "public"]),
        (SYSTEM_READER, "", ["ours", "theirs", "public"]),
        (OTHER, "", ["public"]),
    ],
)
def test_runbooks_are_seen_by_their_project_or_by_all(
    as_caller: As, books: None, caller: RequestContext, query: str, names: list[str]
) -> None:
    listed = as_caller(caller).call("GET", f"/v1/runbooks{query}").json["runbooks"]
    assert [book["name"] for book in listed] == names


def _patch(field: str, value: Any) -> list[dict[str, Any]]:
    return [{"op": "replace", "path": f"/{field}", "value": value}]


@pytest.mark.parametrize(
    ("caller", "method", "path", "body", "status"),
    [
        (READER, "GET", "ours", None, 200),
        (READER, "GET", "public", None, 200),
        (READER, "GET", "public/traits", None, 200),
        (READER, "GET", "theirs", None, 404),
        (READER, "PATCH", "ours", _patch("disable_ramdisk", True), 403),
        (MANAGER, "PATCH", "ours", _patch("disable_ramdisk", True), 200),
        (MANAGER, "PATCH", "ours", _patch("public", True), 403),
        (MANAGER, "PATCH", "ours", _patch("owner", THEIRS), 403),
        (MANAGER, "PATCH", "public", _patch("disable_ramdisk", True), 403),
        (MANAGER, "PATCH", "theirs", _patch("disable_ramdisk", True), 404),
        (MANAGER, "PUT", "ours/traits/CUSTOM_B", None, 204),
        (MANAGER, "PUT", "public/traits/CUSTOM_B", None, 403),
        (MANAGER, "DELETE", "ours", None, 204),
        (MANAGER, "DELETE", "theirs", None, 404),
        (MANAGER, "DELETE", "public", None, 403),
        (SYSTEM_ADMIN, "PATCH", "theirs", _patch("public", True), 200),
        (SYSTEM_ADMIN, "DELETE", "public", None, 204),
    ],
)
def test_a_runbook_is_judged_by_its_owner(
    as_caller: As, books: None, caller: RequestContext, method: str, path: str, body: Any, status: int
) -> None:
    assert as_caller(caller).call(method, f"/v1/runbooks/{path}", body=body).status == status


@pytest.mark.parametrize(
    ("caller", "values", "status", "owner"),
    [
        (MANAGER, {}, 201, OURS),
        (MANAGER, {"owner": OURS}, 201, OURS),
        (MANAGER, {"owner": THEIRS}, 400, None),
        (MANAGER, {"public": True}, 400, None),
        (MEMBER, {}, 403, None),
        (SYSTEM_ADMIN, {}, 201, None),
        (SYSTEM_ADMIN, {"owner": THEIRS}, 201, THEIRS),
    ],
)
def test_a_runbook_is_made_for_the_own_project(
    as_caller: As, caller: RequestContext, values: dict[str, Any], status: int, owner: str | None
) -> None:
    response = as_caller(caller).call("POST", "/v1/runbooks", body={"name": "new", "steps": STEPS} | values)
    assert response.status == status
    if status == 201:
        assert response.json["owner"] == owner


@pytest.mark.parametrize(
    ("caller", "runbook", "status"),
    [(MANAGER, "ours", 202), (MANAGER, "public", 202), (MANAGER, "theirs", 404), (MEMBER, "ours", 403)],
)
def test_a_runbook_is_used_by_those_it_is_for(
    as_caller: As, service: Service, books: None, caller: RequestContext, runbook: str, status: int
) -> None:
    node = add_node(service, name="n", owner=OURS, provision_state="manageable")
    service.store.traits.add(node.id, "CUSTOM_A")
    body = {"target": "clean", "runbook": runbook}
    assert as_caller(caller).call("PUT", "/v1/nodes/n/states/provision", body=body).status == status


@pytest.mark.parametrize(
    ("caller", "method", "status"),
    [(SYSTEM_READER, "GET", 200), (SYSTEM_READER, "DELETE", 403), (ADMIN, "GET", 403), (SYSTEM_ADMIN, "DELETE", 204)],
)
def test_deploy_templates_are_the_operators(
    as_caller: As, service: Service, caller: RequestContext, method: str, status: int
) -> None:
    steps = [{"interface": "bios", "step": "x", "args": {}, "priority": 1}]
    service.store.deploy_templates.create_with({"name": "CUSTOM_A"}, steps)
    assert as_caller(caller).call(method, "/v1/deploy_templates/CUSTOM_A").status == status


@pytest.fixture
def wishes(service: Service) -> None:
    for name, owner in {"ours": OURS, "theirs": THEIRS, "nobodys": None}.items():
        service.store.allocations.create({"name": name, "owner": owner, "state": "error", "resource_class": "x"})


@pytest.mark.parametrize(
    ("caller", "query", "status", "names"),
    [
        (READER, "", 200, ["ours"]),
        (READER, f"?owner={OURS}", 200, ["ours"]),
        (READER, f"?owner={THEIRS}", 403, []),
        (SYSTEM_READER, "", 200, ["ours", "theirs", "nobodys"]),
        (SYSTEM_READER, f"?owner={THEIRS}", 200, ["theirs"]),
    ],
)
def test_allocations_are_listed_by_project(
    as_caller: As, wishes: None, caller: RequestContext, query: str, status: int, names: list[str]
) -> None:
    response = as_caller(caller).call("GET", f"/v1/allocations{query}")
    assert response.status == status
    if status == 200:
        assert [one["name"] for one in response.json["allocations"]] == names


@pytest.mark.parametrize(
    ("caller", "name", "see", "patch", "delete"),
    [
        (READER, "ours", 200, 403, 403),
        (MEMBER, "ours", 200, 200, 204),
        (MEMBER, "theirs", 404, 404, 404),
        (MEMBER, "nobodys", 404, 404, 404),
        (SYSTEM_READER, "nobodys", 200, 403, 403),
        (SYSTEM_ADMIN, "theirs", 200, 200, 204),
    ],
)
def test_an_allocation_is_judged_by_its_owner(
    as_caller: As, wishes: None, caller: RequestContext, name: str, see: int, patch: int, delete: int
) -> None:
    api, path = as_caller(caller), f"/v1/allocations/{name}"
    assert api.call("GET", path).status == see
    assert api.call("PATCH", path, body=[{"op": "add", "path": "/extra/a", "value": 1}]).status == patch
    assert api.call("DELETE", path).status == delete


@pytest.mark.parametrize(
    ("caller", "values", "status", "owner"),
    [
        (MEMBER, {}, 201, OURS),
        (MEMBER, {"owner": OURS}, 201, OURS),
        (MEMBER, {"owner": THEIRS}, 403, None),
        (MEMBER, {"candidate_nodes": ["ours", "lent"]}, 201, OURS),
        (MEMBER, {"candidate_nodes": ["theirs"]}, 400, None),
        (MEMBER, {"node": "theirs"}, 400, None),
        (READER, {}, 403, None),
        (SYSTEM_ADMIN, {"candidate_nodes": ["theirs"]}, 201, None),
        (SYSTEM_ADMIN, {"owner": THEIRS}, 201, THEIRS),
    ],
)
def test_an_allocation_is_made_for_the_own_project(
    as_caller: As,
    nodes: dict[str, str],
    caller: RequestContext,
    values: dict[str, Any],
    status: int,
    owner: str | None,
) -> None:
    response = as_caller(caller).call("POST", "/v1/allocations", body={"resource_class": "x"} | values)
    assert response.status == status, response.body
    if status == 201:
        assert response.json["owner"] == owner


@pytest.mark.parametrize(
    ("caller", "see", "end"),
    [(MEMBER, 200, 204), (READER, 200, 403), (OTHER, 404, 404), (SYSTEM_READER, 200, 403), (SYSTEM_ADMIN, 200, 204)],
)
def test_the_allocation_of_a_node_is_judged_by_both(
    as_caller: As, service: Service, caller: RequestContext, see: int, end: int
) -> None:
    node = add_node(service, name="n", owner=OURS)
    made = service.store.allocations.create({"state": "active", "owner": OURS, "node_id": node.id})
    service.store.nodes.update(node.id, {"allocation_id": made.id, "instance_uuid": made.uuid})
    api = as_caller(caller)
    assert api.call("GET", "/v1/nodes/n/allocation").status == see
    assert api.call("DELETE", "/v1/nodes/n/allocation").status == end


def test_a_reader_of_everything_makes_no_allocation(as_caller: As) -> None:
    assert as_caller(SYSTEM_READER).call("POST", "/v1/allocations", body={"resource_class": "x"}).status == 403
