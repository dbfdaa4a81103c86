"""Too many requests of an address or a project, and too many nodes of a project, are refused with what to do next."""

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.api.request_limits import RequestLimits
from ironic.api.settings import ApiSettings
from ironic.core.permit import PERMIT, MustWait
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.keystone import ask
from ironic.tests.functional.wire.service import Response, Service

START = Callable[..., Service]


@pytest.fixture
def start(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[START]:
    """Start services with Keystone and settings."""
    running: list[Service] = []
    numbers = itertools.count()

    def begin(**settings: Any) -> Service:
        (directory := tmp_path / str(next(numbers))).mkdir(exist_ok=True)
        running.append(keystone.service(directory, identity, conf, **settings))
        return running[-1]

    yield begin
    for one in running:
        one.close()


def text_of(answer: Response) -> str:
    found: str = json.loads(answer.json["error_message"])["faultstring"]
    return found


def test_a_flood_of_wrong_tokens_ends_before_keystone(start: START) -> None:
    service = start(request_limits=RequestLimits(per_address=3))
    answers = [ask(service, f"wrong-{number}", "GET", "/v1/nodes") for number in range(5)]
    assert [one.status for one in answers] == [401] * 3 + [429] * 2
    assert answers[-1].headers["Retry-After"] == "20"
    assert "sends more than 3 requests per minute. Wait 20 s" in text_of(answers[-1])
    assert answers[-1].headers["openstack-request-id"].startswith("req-")
    # Another one may be a ramdisk behind the same address.
    assert service.call("GET", "/v1/lookup?addresses=52:54:00:00:00:01").status == 404
    # What needs no token counts all the same.
    assert service.call("GET", "/").status == 429


def test_a_project_has_a_limit_that_other_projects_do_not_notice(start: START) -> None:
    service = start(request_limits=RequestLimits(per_caller=2))
    found = [ask(service, token, "GET", "/v1/nodes").status for token in ("owner-admin", "owner-member", "owner-admin")]
    assert found == [200, 200, 429]
    refused = ask(service, "owner-admin", "POST", "/v1/nodes", {"driver": "fake-hardware"})
    assert (refused.status, refused.headers["Retry-After"]) == (429, "30")
    assert services.VERSION_HEADER in refused.headers
    assert ask(service, "lessee-admin", "GET", "/v1/nodes").status == 200


def test_a_get_that_is_begun_anew_in_a_thread_counts_once(tmp_path: Path) -> None:
    service = services.start(tmp_path, ApiSettings(request_limits=RequestLimits(per_address=3, at_once=1)))
    try:
        for _ in range(5):
            with pytest.raises(MustWait), PERMIT.nonblocking():
                service.call("POST", "/v1/nodes", body={"driver": "fake-hardware"})
        assert [service.call("GET", "/v1/nodes").status for _ in range(4)] == [200, 200, 200, 429]
    finally:
        service.close()


@pytest.mark.parametrize("token", ["owner-admin", "owner-service"])
def test_a_project_enrolls_up_to_its_limit(start: START, token: str) -> None:
    service = start(nodes_per_project=2)
    bodies = [{"driver": "fake-hardware", "name": f"mine-{number}"} for number in range(2)]
    # The project owns one already.
    first, second = (ask(service, token, "POST", "/v1/nodes", body) for body in bodies)
    assert (first.status, second.status) == (201, 403)
    assert "owns 2 nodes, which is the limit set by [api]nodes_per_project" in text_of(second)
    assert ask(service, "stranger", "POST", "/v1/nodes", bodies[1]).status == 201
    assert (
        ask(service, "system-admin", "POST", "/v1/nodes", {**bodies[0], "name": "a", "owner": "owners"}).status == 201
    )


MINE = {"driver": "fake-hardware"}
STEP = {"interface": "deploy", "step": "x", "args": {}, "order": 1}
OWNED: dict[str, Callable[[int], dict[str, Any]]] = {
    "allocations": lambda number: {"resource_class": "gold"},
    "runbooks": lambda number: {"name": f"CUSTOM_R{number}", "steps": [STEP]},
}
PARTS: dict[str, Callable[[int], dict[str, Any]]] = {
    "ports": lambda number: {"address": f"52:54:00:00:01:{number:02x}"},
    "portgroups": lambda number: {},
    "volume/connectors": lambda number: {"type": "iqn", "connector_id": f"iqn.{number}"},
    "volume/targets": lambda number: {"volume_type": "iscsi", "boot_index": number, "volume_id": "v"},
}


@pytest.mark.parametrize("path", OWNED)
def test_a_project_creates_rows_up_to_its_limit(start: START, path: str) -> None:
    service = start(rows_per_project=2)
    path, body = f"/v1/{path}", OWNED[path]
    answers = [ask(service, "owner-admin", "POST", path, body(number)) for number in range(3)]
    assert [one.status for one in answers] == [201, 201, 403]
    kind = path.removeprefix("/v1/")
    assert f"The project owns 2 {kind}, which is the limit set by [api]rows_per_project" in answers[-1].body.decode()
    assert ask(service, "stranger", "POST", path, body(3)).status == 201
    assert ask(service, "system-admin", "POST", path, body(4) | {"owner": "owners"}).status == 201
    assert ask(service, "owner-admin", "DELETE", f"{path}/{answers[0].json['uuid']}").status == 204
    # That of the administrator counts as well.
    assert ask(service, "owner-admin", "POST", path, body(5)).status == 403


@pytest.mark.parametrize("path", PARTS)
def test_a_project_adds_parts_to_a_node_up_to_the_limit(start: START, path: str) -> None:
    service = start(parts_per_node=2)
    nodes = [ask(service, "owner-admin", "POST", "/v1/nodes", {"driver": "fake-hardware"}).json["uuid"] for _ in "ab"]
    path, body = f"/v1/{path}", PARTS[path]
    answers = [ask(service, "owner-admin", "POST", path, body(one) | {"node_uuid": nodes[0]}) for one in range(3)]
    assert [one.status for one in answers] == [201, 201, 403]
    assert "The node has 2 " in answers[-1].body.decode()
    assert "the limit set by [api]parts_per_node" in answers[-1].body.decode()
    assert ask(service, "owner-admin", "POST", path, body(3) | {"node_uuid": nodes[1]}).status == 201
    assert ask(service, "system-admin", "POST", path, body(4) | {"node_uuid": nodes[0]}).status == 201


@pytest.mark.parametrize("path", [path for path in PARTS if path.startswith("volume")])
def test_a_project_moves_volumes_to_a_node_up_to_the_limit(start: START, path: str) -> None:
    service = start(parts_per_node=2)
    full, other = (ask(service, "owner-admin", "POST", "/v1/nodes", MINE).json["uuid"] for _ in "ab")
    for node in service.store.nodes.find(owner="owners"):
        service.store.nodes.update(node.id, {"power_state": "power off"})
    path, body = f"/v1/{path}", PARTS[path]
    for number in range(2):
        assert ask(service, "owner-admin", "POST", path, body(number) | {"node_uuid": full}).status == 201
    moving = ask(service, "owner-admin", "POST", path, body(3) | {"node_uuid": other}).json["uuid"]
    change = [{"op": "replace", "path": "/node_uuid", "value": full}]
    refused = ask(service, "owner-admin", "PATCH", f"{path}/{moving}", change)
    assert (refused.status, "the limit set by [api]parts_per_node" in text_of(refused)) == (403, True)
    # What is there already may change all the same.
    extra = [{"op": "add", "path": "/extra/a", "value": "b"}]
    for one in ask(service, "owner-admin", "GET", f"{path}?node={full}").json[path.rpartition("/")[2]]:
        assert ask(service, "owner-admin", "PATCH", f"{path}/{one['uuid']}", extra).status == 200
    assert ask(service, "system-admin", "PATCH", f"{path}/{moving}", change).status == 200


@pytest.mark.parametrize("path", ["ports", "portgroups"])
def test_the_conductor_hears_how_many_a_node_may_have_to_which_a_project_moves_one(start: START, path: str) -> None:
    service = start(parts_per_node=2)
    nodes = [ask(service, "owner-admin", "POST", "/v1/nodes", MINE).json["uuid"] for _ in "ab"]
    path, body = f"/v1/{path}", PARTS[path](1) | {"node_uuid": nodes[0]}
    uuid = ask(service, "owner-admin", "POST", path, body).json["uuid"]
    for token, heard in (("owner-admin", [2]), ("system-admin", [])):
        change = [{"op": "replace", "path": "/node_uuid", "value": nodes[1]}]
        assert ask(service, token, "PATCH", f"{path}/{uuid}", change).status == 200
        assert service.conductor.asked[-1][4:] == heard


@pytest.mark.parametrize(
    ("path", "body", "option"),
    [("nodes", MINE, "nodes_per_project"), ("runbooks", {"name": "CUSTOM_A", "steps": [STEP]}, "rows_per_project")],
)
def test_who_may_hand_rows_to_a_project_by_a_rule_about_their_own_passes_no_limit(
    start: START, tmp_path: Path, path: str, body: dict[str, Any], option: str
) -> None:
    kind = path.removesuffix("s")
    rule = f"role:admin and project_id:%({kind}.owner)s"
    rules = [f'"baremetal:{kind}:update:owner": "{rule} or system_scope:all"']
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "policy.yaml").write_text("\n".join(rules))
    service = start(**{option: 2})
    mine = ask(service, "owner-admin", "POST", f"/v1/{path}", body).json["uuid"]
    for number in range(2):
        named = {"name": f"CUSTOM_{number}"} if path == "runbooks" else {}
        assert ask(service, "stranger", "POST", f"/v1/{path}", body | named).status == 201
    change = [{"op": "add", "path": "/owner", "value": "strangers"}]
    refused = ask(service, "owner-admin", "PATCH", f"/v1/{path}/{mine}", change)
    assert (refused.status, f"the limit set by [api]{option}" in text_of(refused)) == (403, True)
    assert ask(service, "system-admin", "PATCH", f"/v1/{path}/{mine}", change).status == 200


def test_without_a_limit_a_project_enrolls_more(start: START) -> None:
    service = start()
    found = [ask(service, "owner-admin", "POST", "/v1/nodes", {"driver": "fake-hardware"}).status for _ in range(4)]
    assert found == [201] * 4
