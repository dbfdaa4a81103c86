"""Calls to conductors with tokens of a real Keystone."""

from collections.abc import Iterator, Mapping

import pytest
import requests

from ironic.tests.live_service import Options
from ironic.tests.scenario.access.cloud import Cloud
from ironic.tests.site import Site, eventually, site


def as_user(trust: Mapping[str, object], name: str, project: str) -> dict[str, object]:
    """Return the options of [json_rpc] with which a user of a project calls."""
    login = {key: value for key, value in trust.items() if key != "www_authenticate_uri"}
    return {"auth_strategy": "keystone", **login, "username": name, "password": name, "project_name": project}


@pytest.fixture(scope="module")
def trusting(tmp_path_factory: pytest.TempPathFactory, running: Cloud) -> Iterator[Site]:
    """Run an API and a conductor that takes calls of services only."""
    trust = running.keystone.trust()
    options: Options = {
        "json_rpc": {**as_user(trust, "ironic", "service"), "allowed_roles": "service"},
        "keystone_authtoken": trust,
    }
    with site(
        tmp_path_factory.mktemp("site"), kind="sqlite", conductors=["one"], carrier="json-rpc", options=options
    ) as found:
        yield found


def test_a_service_user_may_call(trusting: Site) -> None:
    node = trusting.create_node()
    trusting.provision(node["uuid"], "manage", "manageable")


def test_without_a_valid_token_nothing_is_read(trusting: Site) -> None:
    url = f"http://{trusting.host('one')}/"
    for headers in ({}, {"X-Auth-Token": "invented"}, {"Authorization": "Basic aTpp"}):
        assert requests.post(url, data=b"no JSON", headers=headers, timeout=30).status_code == 401


def test_a_user_without_the_role_is_refused(trusting: Site, running: Cloud) -> None:
    answer = requests.post(
        f"http://{trusting.host('one')}/",
        data=b"no JSON",
        headers={"X-Auth-Token": running.token("owner-reader")},
        timeout=30,
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, 403)
    assert "service" in answer.json()["error"]["message"]


def test_an_api_whose_user_lacks_the_role_says_so(trusting: Site, running: Cloud) -> None:
    node = trusting.create_node()
    trust = running.keystone.trust()
    trusting.api.stop()
    trusting.start_api({"json_rpc": as_user(trust, "owner-reader", "owners")}).await_ready()
    answer = trusting.ask("GET", f"/v1/nodes/{node['uuid']}/management/boot_device")
    assert (answer.status_code, "allowed_roles" in answer.text) == (503, True), answer.text
    trusting.api.stop()
    trusting.start_api({"json_rpc": as_user(trust, "ironic", "service")}).await_ready()
    eventually(lambda: trusting.ask("GET", f"/v1/nodes/{node['uuid']}/management/boot_device").status_code, 200)


def test_a_token_that_ends_is_replaced_by_a_new_one(trusting: Site, running: Cloud) -> None:
    node = trusting.create_node()
    path = f"/v1/nodes/{node['uuid']}/management/boot_device"
    assert trusting.ask("GET", path).status_code == 200
    administrator = running.keystone.administrator()
    # A changed password revokes the tokens of its user.
    user = administrator.ids("users")["ironic"]
    administrator.call("PATCH", f"/users/{user}", {"user": {"password": "ironic"}})
    trusting.conductors["one"].stop()
    trusting.start_conductor(
        "one",
        {
            "json_rpc": {**as_user(running.keystone.trust(), "ironic", "service"), "allowed_roles": "service"},
            "keystone_authtoken": running.keystone.trust(),
        },
    ).await_ready()
    eventually(lambda: trusting.ask("GET", path).status_code, 200)
