"""Who may do what: the policies of the bare metal API decide, in its modes of authentication."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bcrypt
import pytest

from ironic.api.app import build_app
from ironic.api.inspector.old_api import InspectorApi
from ironic.api.settings import ApiSettings
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.keystone import FOREIGN, OWNED
from ironic.tests.functional.wire.old_api.asking import ask, refused
from ironic.tests.functional.wire.service import Service

RULE = "44444444-0000-4000-8000-000000000001"
DOCUMENT = {"conditions": [], "actions": [{"action": "fail", "message": "m"}]}
INVENTORY = {"interfaces": [{"name": "eth0", "mac_address": "52:54:00:00:00:01"}]}


@pytest.fixture
def service(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[Service]:
    running = keystone.service(tmp_path, identity, conf, served=InspectorApi())
    for uuid in (OWNED, FOREIGN):
        node = running.store.nodes.get(uuid)
        running.store.inventories.put(node.id, INVENTORY, {})
        node.provision_state, node.last_error = "inspect failed", "the reason"
        running.store.nodes.save(node)
    yield running
    running.close()


def ask_as(service: Service, token: str | None, method: str, path: str, body: Any = None) -> Any:
    return ask(service, method, path, body, headers={} if token is None else {"X-Auth-Token": token})


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/"])
def test_versions_need_no_token(service: Service, path: str) -> None:
    assert ask_as(service, None, "GET", path).status == 200


def test_a_ramdisk_needs_no_token(service: Service) -> None:
    refused(ask_as(service, None, "POST", "/v1/continue", {"inventory": INVENTORY}), 404)


@pytest.mark.parametrize("token", [None, "unknown"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/introspection"),
        ("GET", f"/v1/introspection/{OWNED}"),
        ("POST", f"/v1/introspection/{OWNED}"),
        ("POST", f"/v1/introspection/{OWNED}/abort"),
        ("GET", f"/v1/introspection/{OWNED}/data"),
        ("GET", f"/v1/introspection/{OWNED}/data/unprocessed"),
        ("POST", f"/v1/introspection/{OWNED}/data/unprocessed"),
        ("GET", "/v1/rules"),
        ("POST", "/v1/rules"),
        ("DELETE", "/v1/rules"),
        ("GET", f"/v1/rules/{RULE}"),
        ("PUT", f"/v1/rules/{RULE}"),
        ("DELETE", f"/v1/rules/{RULE}"),
        ("GET", "/v1/no-such-path"),
    ],
)
def test_everything_else_needs_a_good_token(service: Service, token: str | None, method: str, path: str) -> None:
    response = ask_as(service, token, method, path)
    assert response.status == 401
    # The middleware of Keystone has this shape of its own; clients of the inspector read it alike.
    assert response.json["error"]["message"]
    assert service.conductor.asked == []


ONE, DATA = "/v1/introspection/{}", "/v1/introspection/{}/data"


@pytest.mark.parametrize(
    ("token", "method", "path", "node", "status"),
    [
        ("system-admin", "POST", ONE, FOREIGN, 202),
        ("system-reader", "POST", ONE, FOREIGN, 403),
        ("owner-member", "POST", ONE, OWNED, 202),
        ("lessee-member", "POST", ONE, OWNED, 403),
        ("lessee-admin", "POST", ONE, OWNED, 202),
        ("owner-member", "POST", ONE, FOREIGN, 404),
        ("stranger", "POST", ONE, OWNED, 404),
        ("domain-admin", "POST", ONE, FOREIGN, 403),
        ("system-reader", "GET", ONE, FOREIGN, 200),
        ("lessee-member", "GET", ONE, OWNED, 200),
        ("stranger", "GET", ONE, OWNED, 404),
        ("system-reader", "GET", DATA, FOREIGN, 200),
        ("owner-member", "GET", DATA, OWNED, 200),
        ("lessee-member", "GET", DATA, OWNED, 403),
        ("stranger", "GET", DATA, OWNED, 404),
        ("owner-member", "GET", f"{DATA}/unprocessed", OWNED, 200),
        ("lessee-member", "GET", f"{DATA}/unprocessed", OWNED, 403),
        ("lessee-admin", "POST", f"{DATA}/unprocessed", OWNED, 202),
        ("lessee-member", "POST", f"{DATA}/unprocessed", OWNED, 403),
        ("stranger", "POST", f"{DATA}/unprocessed", OWNED, 404),
        ("lessee-member", "POST", f"{ONE}/abort", OWNED, 403),
        ("stranger", "POST", f"{ONE}/abort", OWNED, 404),
    ],
)
def test_rights_are_those_of_the_bare_metal_api(
    service: Service, token: str, method: str, path: str, node: str, status: int
) -> None:
    response = ask_as(service, token, method, path.format(node))
    assert response.status == status, response.body
    if status >= 400:
        refused(response, status)
        assert service.conductor.asked == []


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/rules", 200),
        ("POST", "/v1/rules", 201),
        ("GET", f"/v1/rules/{RULE}", 200),
        ("PUT", f"/v1/rules/{RULE}", 200),
        ("DELETE", f"/v1/rules/{RULE}", 204),
        ("DELETE", "/v1/rules", 204),
    ],
)
def test_rules_are_the_administrators(service: Service, method: str, path: str, status: int) -> None:
    ask_as(service, "system-admin", "POST", "/v1/rules", DOCUMENT | {"uuid": RULE})
    before = service.contents()
    body = DOCUMENT if method in ("POST", "PUT") else None
    for token in ("owner-admin", "stranger", "nobody"):
        refused(ask_as(service, token, method, path, body), 403)
    reader = ask_as(service, "system-reader", method, path, body)
    assert reader.status == (200 if method == "GET" else 403)
    assert service.contents() == before
    assert ask_as(service, "system-admin", method, path, body).status == status


def test_a_hidden_node_and_a_missing_one_look_the_same(service: Service) -> None:
    missing = "99999999-0000-4000-8000-000000000099"
    for method, path in (("GET", ONE), ("POST", ONE), ("GET", DATA), ("POST", f"{ONE}/abort")):
        hidden = refused(ask_as(service, "stranger", method, path.format(OWNED)), 404)
        assert hidden.replace(OWNED, missing) == refused(ask_as(service, "stranger", method, path.format(missing)), 404)


@pytest.mark.parametrize(("token", "status"), [("owner-member", 202), ("lessee-admin", 403), ("system-admin", 202)])
def test_data_of_their_own_post_only_those_who_may_set_properties(service: Service, token: str, status: int) -> None:
    response = ask_as(service, token, "POST", f"{DATA.format(OWNED)}/unprocessed", {"inventory": INVENTORY})
    assert response.status == status


@pytest.mark.parametrize(
    ("token", "uuids"),
    [("system-reader", {OWNED, FOREIGN}), ("owner-member", {OWNED}), ("lessee-member", {OWNED}), ("stranger", set())],
)
def test_a_list_has_the_nodes_that_the_caller_sees(service: Service, token: str, uuids: set[str]) -> None:
    found = ask_as(service, token, "GET", "/v1/introspection").json["introspection"]
    assert {one["uuid"] for one in found} == uuids


def test_a_foreign_marker_is_as_good_as_none(service: Service) -> None:
    refused(ask_as(service, "owner-member", "GET", f"/v1/introspection?marker={FOREIGN}"), 404)


def test_who_may_not_list_nodes_is_refused(service: Service) -> None:
    refused(ask_as(service, "nobody", "GET", "/v1/introspection"), 403)


@pytest.mark.parametrize(("token", "error"), [("owner-member", "the reason"), ("lessee-member", "******")])
def test_the_error_is_hidden_where_last_error_is(service: Service, token: str, error: str) -> None:
    assert ask_as(service, token, "GET", ONE.format(OWNED)).json["error"] == error
    assert ask_as(service, token, "GET", "/v1/introspection").json["introspection"][0]["error"] == error


def test_basic_authentication_guards_it_too(tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.write_text(f"admin:{bcrypt.hashpw(b'right', bcrypt.gensalt(4)).decode()}\n")
    settings = ApiSettings(auth_strategy="http_basic", user_file=str(users), node_locked_attempts=1)
    running = services.start(tmp_path, settings, served=InspectorApi())
    try:
        for text, status in (("admin:right", 200), ("admin:wrong", 401)):
            header = {"Authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}
            assert ask(running, "GET", "/v1/introspection", headers=header).status == status
        assert ask(running, "GET", "/v1/introspection").json["error"]["message"]
        assert ask(running, "GET", "/v1").status == 200
        refused(ask(running, "POST", "/v1/continue", {"inventory": INVENTORY}), 404)
        # Another API of the process counts wrong passwords together with this one.
        wrong = {"Authorization": f"Basic {base64.b64encode(b'admin:guess').decode()}"}
        other = build_app(running.store, None, running.hash_ring, settings)  # type: ignore[arg-type]  # none is called
        bare_metal = Service(running.store, running.conductor, running.hash_ring, other, settings)
        assert [ask(running, "GET", "/v1/rules", headers=wrong).status for _ in range(9)] == [401] * 9
        assert bare_metal.call("GET", "/v1/nodes", headers=wrong).status == 429
    finally:
        running.close()
