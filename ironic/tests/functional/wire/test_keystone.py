"""Who may do what when Keystone says who is there: real middleware and rules, and a server that plays Keystone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1 import loading
from keystonemiddleware import auth_token
from oslo_policy import opts as policy_opts

from ironic.api.settings import ApiSettings
from ironic.conf import CONF
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Response, Service

OWNED = "11111111-0000-4000-8000-000000000001"
FOREIGN = "11111111-0000-4000-8000-000000000002"


@pytest.fixture(scope="module")
def identity() -> Iterator[str]:
    with keystone.playing() as url:
        yield url


@pytest.fixture
def service(tmp_path: Path, identity: str, conf: Callable[..., None]) -> Iterator[Service]:
    _register()
    conf(
        auth_strategy="keystone",
        keystone_authtoken__www_authenticate_uri=identity,
        keystone_authtoken__auth_type="admin_token",
        keystone_authtoken__endpoint=f"{identity}/v3",
        keystone_authtoken__token="ours",
        oslo_policy__policy_file=str(tmp_path / "policy.yaml"),
    )
    running = services.start(tmp_path, ApiSettings(auth_strategy="keystone", node_locked_attempts=1), CONF)
    common = {f"{kind}_interface": names[0] for kind, names in services.SERVED["fake-hardware"].items()}
    common |= {"driver": "fake-hardware", "provision_state": "manageable"}
    running.store.nodes.create(common | {"uuid": OWNED, "name": "owned", "owner": "owners", "lessee": "lessees"})
    running.store.nodes.create(common | {"uuid": FOREIGN, "name": "foreign"})
    yield running
    running.close()


def _register() -> None:
    # oslo.policy looks for its file beside the configuration, so there has to have been one.
    CONF([], default_config_files=[], default_config_dirs=[])
    policy_opts.set_defaults(CONF)
    for group, options in auth_token.list_opts():
        CONF.register_opts(options, group=group)
    CONF.register_opts(loading.get_auth_common_conf_options(), group="keystone_authtoken")
    CONF.register_opts(loading.get_auth_plugin_conf_options("admin_token"), group="keystone_authtoken")


def ask(service: Service, token: str | None, method: str, path: str, body: Any = None) -> Response:
    return service.call(method, path, body=body, headers={} if token is None else {"X-Auth-Token": token})


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


PATCH_EXTRA = [{"op": "add", "path": "/extra/a", "value": 1}]
PATCH_OWNER = [{"op": "add", "path": "/owner", "value": "x"}]
NO_CLEANING = [{"op": "add", "path": "/automated_clean", "value": False}]
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
        ("stranger", "POST", "/v1/portgroups", {"node_uuid": OWNED}, 404),
        ("stranger", "GET", "/v1/openapi.json", None, 200),
    ],
)
def test_rules_decide(service: Service, token: str, method: str, path: str, body: Any, status: int) -> None:
    response = ask(service, token, method, path, body)
    assert response.status == status, response.body


@pytest.mark.parametrize(
    ("token", "names"),
    [
        ("system-reader", ["owned", "foreign"]),
        ("owner-member", ["owned"]),
        ("lessee-member", ["owned"]),
        ("stranger", []),
    ],
)
def test_a_list_shows_what_the_caller_may_see(service: Service, token: str, names: list[str]) -> None:
    response = ask(service, token, "GET", "/v1/nodes")
    assert [node["name"] for node in response.json["nodes"]] == names


def test_a_project_gets_the_nodes_it_enrolls(service: Service) -> None:
    response = ask(service, "owner-admin", "POST", "/v1/nodes", {"driver": "fake-hardware"})
    assert response.json["owner"] == "owners"


def test_identity_headers_of_a_caller_are_not_believed(service: Service) -> None:
    forged = {"X-Roles": "admin", "OpenStack-System-Scope": "all", "X-Identity-Status": "Confirmed"}
    assert service.call("GET", "/v1/nodes", headers=forged).status == 401
    assert service.call("GET", "/v1/nodes", headers=forged | {"X-Auth-Token": "stranger"}).json == {"nodes": []}
