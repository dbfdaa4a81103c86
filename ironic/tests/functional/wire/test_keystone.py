"""Who may do what when Keystone says who is there: real middleware and rules, and a server that plays Keystone."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.flows import states
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import ACTIVE, FOREIGN, OWNED, ask
from ironic.tests.functional.wire.service import Service


@pytest.fixture
def service(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[Service]:
    running = keystone.service(tmp_path, identity, conf)
    running.conductor.answers["validate_interfaces"] = {}
    yield running
    running.close()


@pytest.mark.parametrize("token", [None, "unknown"])
def test_a_request_without_a_good_token_is_401_in_the_middlewares_shape(service: Service, token: str | None) -> None:
    response = ask(service, token, "GET", "/v1/nodes")
    assert response.status == 401
    assert response.json["error"]["code"] == 401
    assert response.headers["WWW-Authenticate"].startswith("Keystone uri=")
    assert "openstack-request-id" in response.headers
    assert "X-OpenStack-Ironic-API-Version" not in response.headers


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/", "/v1/openapi.json"])
def test_public_routes_need_no_token(service: Service, path: str) -> None:
    assert ask(service, None, "GET", path).status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/lookup", 400),
        ("POST", "/v1/continue_inspection", 400),
        ("POST", f"/v1/heartbeat/{OWNED}", 400),
        ("POST", "/v1/heartbeat/some-node", 400),
        ("POST", "/v1/heartbeat/Some-node", 401),
        ("POST", "/v1/heartbeat/some_node", 401),
        ("POST", "/v1/heartbeat", 401),
    ],
)
def test_ramdisks_need_no_token_where_they_name_nodes_plainly(
    service: Service, method: str, path: str, status: int
) -> None:
    assert ask(service, None, method, path, {}).status == status


PATCH_EXTRA = [{"op": "add", "path": "/extra/a", "value": 1}]
PATCH_OWNER = [{"op": "add", "path": "/owner", "value": "x"}]
NO_CLEANING = [{"op": "add", "path": "/automated_clean", "value": False}]
# Fields by who may change them, each with a value that a node of the service takes.
VALUES: dict[str, Any] = {
    "driver_info": {"a": 1},
    "properties": {"a": 1},
    "instance_info": {"a": 1},
    "name": "other",
    "retired": True,
    "network_data": {},
    "lessee": "others",
    "shard": "s",
    "chassis_uuid": None,
    "conductor_group": "",
    "parent_node": None,
    "disable_power_off": True,
    "power_interface": "fake",
    "instance_uuid": "11111111-0000-4000-8000-00000000000a",
}
MEMBERS_OF_OWNER = (
    "driver_info",
    "properties",
    "instance_info",
    "name",
    "retired",
    "network_data",
    "lessee",
    "instance_uuid",
)
NOT_FOR_MEMBERS = ("shard", "chassis_uuid", "conductor_group", "parent_node", "disable_power_off", "power_interface")
OWNERS_ONLY = (*MEMBERS_OF_OWNER, *NOT_FOR_MEMBERS)


def patch_of(name: str) -> list[dict[str, Any]]:
    return [{"op": "add", "path": f"/{name}", "value": VALUES[name]}]


def no_cleaning(word: Any) -> list[dict[str, Any]]:
    return [{"op": "replace", "path": "/automated_clean", "value": word}]


CLEAN = {"target": "clean", "clean_steps": [{"interface": "deploy", "step": "x"}]}


@pytest.mark.parametrize(
    ("token", "method", "path", "body", "status"),
    [
        ("system-admin", "GET", f"/v1/nodes/{FOREIGN}", None, 200),
        ("system-reader", "GET", f"/v1/nodes/{FOREIGN}", None, 200),
        ("owner-member", "GET", f"/v1/nodes/{OWNED}", None, 200),
        ("lessee-member", "GET", f"/v1/nodes/{OWNED}", None, 200),
        ("owner-member", "GET", f"/v1/nodes/{FOREIGN}", None, 404),
        ("stranger", "GET", f"/v1/nodes/{OWNED}", None, 404),
        ("nobody", "GET", "/v1/nodes", None, 403),
        ("system-reader", "PATCH", f"/v1/nodes/{OWNED}", PATCH_EXTRA, 403),
        ("owner-member", "PATCH", f"/v1/nodes/{OWNED}", PATCH_EXTRA, 200),
        ("lessee-member", "PATCH", f"/v1/nodes/{OWNED}", PATCH_EXTRA, 200),
        ("stranger", "PATCH", f"/v1/nodes/{OWNED}", PATCH_EXTRA, 404),
        ("owner-admin", "PATCH", f"/v1/nodes/{OWNED}", PATCH_OWNER, 403),
        ("system-admin", "PATCH", f"/v1/nodes/{OWNED}", PATCH_OWNER, 200),
        ("owner-admin", "PATCH", f"/v1/nodes/{OWNED}", NO_CLEANING, 403),
        ("system-admin", "PATCH", f"/v1/nodes/{OWNED}", NO_CLEANING, 200),
        *(
            ("owner-admin", "PATCH", f"/v1/nodes/{OWNED}", no_cleaning(word), 403)
            for word in ("False", "off", "N", "0")
        ),
        *(("owner-admin", "PATCH", f"/v1/nodes/{OWNED}", no_cleaning(word), 200) for word in (None, True, "yes")),
        *(("lessee-member", "PATCH", f"/v1/nodes/{OWNED}", patch_of(one), 403) for one in OWNERS_ONLY),
        *(("owner-member", "PATCH", f"/v1/nodes/{OWNED}", patch_of(one), 200) for one in MEMBERS_OF_OWNER),
        *(("owner-member", "PATCH", f"/v1/nodes/{OWNED}", patch_of(one), 403) for one in NOT_FOR_MEMBERS),
        *(("system-admin", "PATCH", f"/v1/nodes/{OWNED}", patch_of(one), 200) for one in OWNERS_ONLY),
        ("lessee-member", "PATCH", f"/v1/nodes/{OWNED}", [*PATCH_EXTRA, *patch_of("properties")], 403),
        ("system-admin", "PATCH", f"/v1/nodes/{ACTIVE}", PATCH_OWNER, 200),
        ("owner-admin", "PATCH", f"/v1/nodes/{ACTIVE}", PATCH_OWNER, 404),
        ("stranger", "PATCH", f"/v1/nodes/{OWNED}", [], 404),
        ("stranger", "PATCH", "/v1/nodes/owned", [], 404),
        ("owner-member", "DELETE", f"/v1/nodes/{OWNED}", None, 403),
        ("owner-admin", "DELETE", f"/v1/nodes/{OWNED}", None, 204),
        ("system-admin", "DELETE", f"/v1/nodes/{FOREIGN}", None, 204),
        ("owner-member", "PUT", f"/v1/nodes/{OWNED}/states/provision", {"target": "provide"}, 202),
        ("lessee-member", "PUT", f"/v1/nodes/{OWNED}/states/provision", {"target": "provide"}, 403),
        ("owner-member", "PUT", f"/v1/nodes/{OWNED}/states/provision", CLEAN, 202),
        ("lessee-member", "PUT", f"/v1/nodes/{OWNED}/states/power", {"target": "power on"}, 202),
        ("stranger", "PUT", f"/v1/nodes/{OWNED}/states/power", {"target": "power on"}, 404),
        ("system-reader", "PUT", f"/v1/nodes/{OWNED}/maintenance", None, 403),
        ("owner-member", "POST", "/v1/nodes", {"driver": "fake-hardware"}, 403),
        ("owner-admin", "POST", "/v1/nodes", {"driver": "fake-hardware"}, 201),
        ("owner-admin", "POST", "/v1/nodes", {"driver": "fake-hardware", "owner": "others"}, 400),
        ("system-admin", "POST", "/v1/nodes", {"driver": "fake-hardware", "owner": "others"}, 201),
        ("system-reader", "GET", "/v1/conductors", None, 200),
        ("stranger", "GET", "/v1/conductors", None, 403),
        ("stranger", "GET", "/v1/drivers", None, 403),
        ("system-reader", "GET", "/v1/chassis", None, 200),
        ("stranger", "GET", "/v1/chassis", None, 403),
        ("system-reader", "POST", "/v1/chassis", {}, 403),
        ("system-admin", "POST", "/v1/chassis", {}, 201),
        ("system-reader", "GET", "/v1/shards", None, 200),
        ("owner-admin", "GET", "/v1/shards", None, 403),
        ("owner-admin", "POST", "/v1/events", {"events": []}, 403),
        ("lessee-member", "GET", f"/v1/nodes/{OWNED}/traits", None, 200),
        ("stranger", "GET", f"/v1/nodes/{OWNED}/traits", None, 404),
        ("owner-admin", "PUT", f"/v1/nodes/{OWNED}/traits/CUSTOM_A", None, 204),
        ("owner-member", "PUT", f"/v1/nodes/{OWNED}/traits/CUSTOM_A", None, 403),
        ("owner-member", "DELETE", f"/v1/nodes/{OWNED}/traits", None, 403),
        ("owner-member", "GET", f"/v1/nodes/{OWNED}/history", None, 200),
        ("lessee-member", "GET", f"/v1/nodes/{OWNED}/history", None, 403),
        ("stranger", "GET", f"/v1/nodes/{OWNED}/history", None, 404),
        ("owner-member", "GET", "/v1/portgroups", None, 200),
        ("nobody", "GET", "/v1/portgroups", None, 403),
        ("owner-admin", "POST", "/v1/portgroups", {"node_uuid": OWNED}, 201),
        ("owner-member", "POST", "/v1/portgroups", {"node_uuid": OWNED}, 403),
        ("stranger", "POST", "/v1/portgroups", {"node_uuid": OWNED}, 403),
        ("stranger", "GET", "/v1/openapi.json", None, 200),
        ("owner-member", "GET", f"/v1/nodes/validate?node={OWNED}", None, 200),
        ("owner-member", "GET", "/v1/nodes/validate?node=owned", None, 200),
        ("lessee-member", "GET", f"/v1/nodes/validate?node={OWNED}", None, 403),
        ("stranger", "GET", f"/v1/nodes/validate?node={OWNED}", None, 404),
        ("stranger", "GET", "/v1/nodes/validate?node=nobody", None, 404),
        ("owner-member", "GET", "/v1/nodes?project=owners", None, 200),
        ("owner-member", "GET", "/v1/nodes?project=lessees", None, 403),
        ("system-reader", "GET", "/v1/nodes?project=lessees", None, 200),
        *(
            (token, "GET", f"/v1/{kind}?node={name}", None, status)
            for kind in ("ports", "portgroups", "volume/connectors", "volume/targets")
            for token, name, status in (
                ("owner-member", "owned", 200),
                ("owner-member", "foreign", 404),
                ("system-reader", "foreign", 200),
            )
        ),
        ("owner-member", "GET", "/v1/allocations?node=owned", None, 200),
        ("owner-member", "GET", "/v1/allocations?node=foreign", None, 400),
        # Nodes without an owner do not belong to callers without a project.
        ("domain-admin", "GET", "/v1/nodes", None, 403),
        ("domain-admin", "GET", f"/v1/nodes/{FOREIGN}", None, 403),
        ("domain-admin", "DELETE", f"/v1/nodes/{FOREIGN}", None, 403),
        ("domain-admin", "PUT", f"/v1/nodes/{FOREIGN}/traits/CUSTOM_A", None, 403),
        ("domain-admin", "POST", "/v1/allocations", {"resource_class": "x"}, 403),
        ("domain-admin", "POST", "/v1/nodes", {"driver": "fake-hardware"}, 403),
        ("stranger", "GET", f"/v1/nodes/{OWNED}/volume/connectors", None, 404),
        ("lessee-member", "GET", f"/v1/nodes/{OWNED}/volume/connectors", None, 200),
        ("system-reader", "GET", f"/v1/nodes/{OWNED}/volume/targets", None, 200),
    ],
)
def test_rules_decide(service: Service, token: str, method: str, path: str, body: Any, status: int) -> None:
    response = ask(service, token, method, path, body)
    assert response.status == status, response.body


@pytest.mark.parametrize(
    ("token", "names"),
    [
        ("system-reader", ["owned", "foreign", "active"]),
        ("owner-member", ["owned"]),
        ("lessee-member", ["owned"]),
        ("stranger", []),
    ],
)
def test_a_list_shows_what_the_caller_may_see(service: Service, token: str, names: list[str]) -> None:
    response = ask(service, token, "GET", "/v1/nodes")
    assert [node["name"] for node in response.json["nodes"]] == names


def test_what_may_not_be_seen_is_missing_by_its_own_name(service: Service) -> None:
    node = service.store.nodes.get(OWNED)
    service.store.portgroups.create({"node_id": node.id, "name": "bond0"})
    for path in ("/v1/portgroups/bond0", "/v1/portgroups/bond0/ports"):
        answer = ask(service, "stranger", "GET", path)
        assert (answer.status, b"no port group bond0" in answer.body) == (404, True)


def test_a_project_gets_the_nodes_it_enrolls(service: Service) -> None:
    response = ask(service, "owner-admin", "POST", "/v1/nodes", {"driver": "fake-hardware"})
    assert response.json["owner"] == "owners"


def test_a_token_for_a_domain_opens_nothing_and_shows_nothing(service: Service) -> None:
    for path in (f"/v1/nodes/{OWNED}", "/v1/nodes/missing", "/v1/nodes/validate?node=owned", "/v1/runbooks/missing"):
        answer = ask(service, "domain-admin", "GET", path)
        assert (answer.status, b"Use one for a project" in answer.body) == (403, True)
    assert ask(service, "domain-admin", "GET", "/v1").status == 200


def test_who_may_not_change_a_node_is_not_told_that_it_is_held(service: Service) -> None:
    node = service.store.nodes.get(OWNED)
    node.reservation = "another-host"
    node.save()
    statuses = [
        ask(service, token, "PATCH", f"/v1/nodes/{OWNED}", patch_of("properties")).status
        for token in ("owner-member", "lessee-member", "stranger")
    ]
    assert statuses == [409, 403, 404]


def test_children_are_told_of_to_who_may_see_them(service: Service) -> None:
    common = {"driver": "fake-hardware", "provision_state": "enroll", "owner": "owners", "parent_node": OWNED}
    service.store.nodes.create(common | {"name": "kept"})
    lent = service.store.nodes.create(common | {"name": "lent", "lessee": "lessees"})
    told = {
        token: ask(service, token, "GET", f"/v1/nodes/{OWNED}/children").json["children"]
        for token in ("owner-member", "lessee-member")
    }
    assert (len(told["owner-member"]), told["lessee-member"]) == (2, [lent.uuid])


def test_a_sites_rules_decide(tmp_path: Path, identity: str, conf: Callable[..., None]) -> None:
    rules = {
        "baremetal:node:create": "role:member",
        "baremetal:port:list": "!",
        "baremetal:node:delete": "project_domain_id:default and user_domain_id:default and is_admin_project:True",
    }
    (tmp_path / "policy.json").write_text(json.dumps(rules))
    running = keystone.service(tmp_path, identity, conf, file="policy.json")
    node = running.store.nodes.get(OWNED)
    running.store.portgroups.create({"node_id": node.id, "name": "bond0"})
    body = {"driver": "fake-hardware", "owner": "others"}
    created = ask(running, "owner-member", "POST", "/v1/nodes", body)
    assert (created.status, created.json["owner"]) == (201, "others")
    assert ask(running, "owner-member", "GET", "/v1/portgroups/bond0").status == 200
    assert ask(running, "owner-member", "GET", "/v1/portgroups/bond0/ports").status == 403
    assert ask(running, "system-reader", "GET", "/v1/portgroups/bond0/ports").status == 200
    assert ask(running, "lessee-member", "DELETE", f"/v1/nodes/{OWNED}").status == 204
    running.close()


def test_identity_headers_of_a_caller_are_not_believed(service: Service) -> None:
    forged = {"X-Roles": "admin", "OpenStack-System-Scope": "all", "X-Identity-Status": "Confirmed"}
    assert service.call("GET", "/v1/nodes", headers=forged).status == 401
    assert service.call("GET", "/v1/nodes", headers=forged | {"X-Auth-Token": "stranger"}).json == {"nodes": []}


@pytest.mark.demand("S56")
@pytest.mark.parametrize(
    ("token", "status"),
    [
        ("system-admin", 202),
        ("system-reader", 403),
        ("system-service", 403),
        ("owner-admin", 403),
        ("owner-manager", 403),
        ("owner-member", 403),
        ("owner-service", 403),
        ("lessee-admin", 403),
        ("stranger", 404),
    ],
)
def test_only_system_administrators_may_skip_cleaning(service: Service, token: str, status: int) -> None:
    service.store.nodes.update(OWNED, {"provision_state": states.CLEANFAIL})
    path = f"/v1/nodes/{OWNED}/states/provision"
    assert ask(service, token, "PUT", path, {"target": "available"}).status == status
    asked = [call for call in service.conductor.asked if call[0] == "change_provision_state"]
    assert len(asked) == (status == 202)
    if token in ("owner-admin", "owner-member"):
        # The right to clean is another one.
        assert ask(service, token, "PUT", path, {"target": "provide"}).status == 202


@pytest.mark.parametrize(
    ("token", "service_token", "names"),
    [
        ("owner-admin", "system-service", {"owned"}),
        ("owner-admin", "owner-service", {"owned"}),
        ("system-reader", "owner-service", {"owned", "foreign", "active"}),
        ("system-reader", "system-service", {"owned", "foreign", "active"}),
    ],
)
def test_the_token_of_a_service_lends_its_scope_to_no_user(
    service: Service, token: str, service_token: str, names: set[str]
) -> None:
    headers = {"X-Auth-Token": token, "X-Service-Token": service_token}
    answer = service.call("GET", "/v1/nodes", headers=headers)
    assert (answer.status, {node["name"] for node in answer.json["nodes"]}) == (200, names)
