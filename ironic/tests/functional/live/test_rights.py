"""Rights of projects on a running service: real tokens of a server that plays Keystone, real conductor, real steps."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.core.flows import states
from ironic.core.hardware_interfaces import KINDS
from ironic.tests.functional.wire import keystone
from ironic.tests.live_service import Service, all_in_one, free_port, write_options

PATIENCE = 60
RULES = """\
"baremetal:step:execute:bios.factory_reset": "role:admin"
"""
TRAIT = "CUSTOM_RIGHTS"
RESET = {"interface": "bios", "step": "factory_reset"}
APPLY = {"interface": "bios", "step": "apply_configuration", "args": {"settings": [{"name": "a", "value": "1"}]}}


class Cloud:
    """A running service and who calls it."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def call(self, token: str, method: str, path: str, body: Any = None) -> requests.Response:
        headers = {"X-OpenStack-Ironic-API-Version": "1.115", "X-Auth-Token": token}
        return requests.request(method, f"{self._service.url}{path}", json=body, headers=headers, timeout=30)

    def node(self, name: str, state: str = states.MANAGEABLE, **values: Any) -> str:
        """Enroll a node as the site's administrator, and bring it into a state."""
        body = {"driver": "fake-hardware", "name": name, "automated_clean": False, **values}
        answer = self.call("system-admin", "POST", "/v1/nodes", body)
        assert answer.status_code == 201, answer.text
        for verb in ["manage"] if state == states.MANAGEABLE else ["manage", "provide"]:
            assert self.verb("system-admin", name, verb) == 202
            self.settled(name)
        uuid: str = answer.json()["uuid"]
        return uuid

    def verb(self, token: str, node: str, verb: str, **arguments: Any) -> int:
        path = f"/v1/nodes/{node}/states/provision"
        return self.call(token, "PUT", path, {"target": verb, **arguments}).status_code

    def settled(self, node: str) -> dict[str, Any]:
        """Look at a node until it is at rest; return the last look."""
        deadline = time.monotonic() + PATIENCE
        while True:
            found: dict[str, Any] = self.call("system-admin", "GET", f"/v1/nodes/{node}").json()
            if found["provision_state"] not in states.WORKING and found["reservation"] is None:
                return found
            assert time.monotonic() < deadline, found
            time.sleep(0.05)

    def touched(self, node: str) -> bool:
        """Return whether any step has begun on a node."""
        history = self.call("system-admin", "GET", f"/v1/nodes/{node}/history").json()["history"]
        return any(" step " in entry["event"] for entry in history)


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    directory, port = tmp_path_factory.mktemp("rights"), free_port()
    with keystone.playing() as url, all_in_one([configured(directory, url, port)], directory / "log", port) as running:
        yield Cloud(running)


def configured(directory: Path, url: str, port: int) -> Path:
    (directory / "policy.yaml").write_text(RULES)
    trust = {"www_authenticate_uri": url, "auth_type": "admin_token", "endpoint": f"{url}/v3", "token": "ours"}
    interfaces = {kind: "noop" if kind in ("network", "storage") else "fake" for kind in KINDS}
    return write_options(
        directory / "ironic.conf",
        {
            "DEFAULT": {
                "auth_strategy": "keystone",
                "rpc_transport": "none",
                "host": "conductor-1",
                "state_path": directory,
                "log_file": directory / "log",
                "enabled_hardware_types": "fake-hardware",
                **{f"enabled_{kind}_interfaces": name for kind, name in interfaces.items()},
            },
            "api": {"host_ip": "127.0.0.1", "port": port},
            "database": {"connection": f"sqlite:///{directory}/service.sqlite"},
            "keystone_authtoken": trust,
            "oslo_policy": {"policy_file": directory / "policy.yaml"},
        },
    )


def test_a_lessee_of_the_parent_has_nothing_done_to_children_of_others(cloud: Cloud) -> None:
    parent = cloud.node("chassis-1", owner="owners", lessee="lessees")
    lent, others = (
        cloud.node(f"card-{lessee}", owner="owners", lessee=lessee, parent_node=parent)
        for lessee in ("lessees", "strangers")
    )
    step = {**APPLY, "execute_on_child_nodes": True}
    named = {**step, "limit_child_node_execution": [others]}
    assert cloud.verb("lessee-admin", parent, "clean", clean_steps=[named]) == 404
    assert cloud.verb("lessee-admin", parent, "clean", clean_steps=[step]) == 202
    assert cloud.settled(parent)["provision_state"] == states.MANAGEABLE
    assert (cloud.touched(lent), cloud.touched(others)) == (True, False)


def test_a_child_that_is_lent_to_others_while_the_list_runs_is_left_alone(cloud: Cloud) -> None:
    parent = cloud.node("chassis-2", owner="owners", lessee="lessees")
    child = cloud.node("card-2", owner="owners", lessee="lessees", parent_node=parent)
    steps = [{"interface": "deploy", "step": "hold"}, {**APPLY, "execute_on_child_nodes": True}]
    assert cloud.verb("lessee-admin", parent, "clean", clean_steps=steps) == 202
    assert cloud.settled(parent)["provision_state"] == states.CLEANHOLD
    later = cloud.node("card-3", owner="owners", lessee="strangers", parent_node=parent)
    lend = [{"op": "add", "path": "/lessee", "value": "strangers"}]
    assert cloud.call("system-admin", "PATCH", f"/v1/nodes/{child}", lend).status_code == 200
    assert cloud.verb("lessee-admin", parent, "unhold") == 202
    found = cloud.settled(parent)
    assert found["provision_state"] == states.CLEANFAIL
    assert "another owner or lessee" in found["last_error"]
    assert (cloud.touched(child), cloud.touched(later)) == (False, False)


def test_no_way_to_have_a_step_run_passes_over_its_rule(cloud: Cloud) -> None:
    node = cloud.node("guarded", owner="owners")
    assert cloud.call("system-admin", "PUT", f"/v1/nodes/{node}/traits/{TRAIT}").status_code == 204
    assert cloud.verb("owner-member", node, "clean", clean_steps=[RESET]) == 403
    book = {"name": TRAIT, "public": True, "steps": [{**RESET, "order": 1}]}
    assert cloud.call("owner-manager", "POST", "/v1/runbooks", book | {"public": False}).status_code == 403
    assert cloud.call("system-admin", "POST", "/v1/runbooks", book).status_code == 201
    assert cloud.call("system-admin", "PUT", f"/v1/runbooks/{TRAIT}/traits/{TRAIT}").status_code == 204
    assert cloud.verb("owner-member", node, "clean", runbook=TRAIT) == 403
    template = {"name": TRAIT, "steps": [{**RESET, "args": {}, "priority": 150}]}
    assert cloud.call("system-admin", "POST", "/v1/deploy_templates", template).status_code == 201
    assert cloud.verb("system-admin", node, "provide") == 202
    cloud.settled(node)
    wish = [{"op": "add", "path": "/instance_info/traits", "value": [TRAIT]}]
    assert cloud.call("owner-member", "PATCH", f"/v1/nodes/{node}", wish).status_code == 200
    assert cloud.verb("owner-member", node, "active") == 403
    assert not cloud.touched(node)
    assert cloud.verb("owner-admin", node, "active") == 202
    assert cloud.settled(node)["provision_state"] == states.ACTIVE
    assert cloud.touched(node)


@pytest.mark.parametrize(
    "more",
    [{"shard": "s"}, {"conductor_group": "g"}, {"automated_clean": False}, {"disable_power_off": True}],
    ids=lambda more: next(iter(more)),
)
def test_a_new_node_of_a_project_has_nothing_that_is_the_sites(cloud: Cloud, more: dict[str, Any]) -> None:
    body = {"driver": "fake-hardware", "driver_info": {"a": 1}, "properties": {"b": 2}, "resource_class": "x"}
    assert cloud.call("owner-admin", "POST", "/v1/nodes", body | more).status_code == 403
    assert cloud.call("owner-admin", "POST", "/v1/nodes", body).status_code == 201


def test_a_project_does_not_have_the_password_of_a_bmc_sent_to_itself(cloud: Cloud) -> None:
    stored = {"redfish_address": "https://10.0.0.1", "redfish_username": "root", "redfish_password": "secret-1"}
    node = cloud.node("prey", owner="owners", driver_info=stored)
    away = {"op": "replace", "path": "/driver_info/redfish_address", "value": "http://127.0.0.1:1"}
    shown = cloud.call("owner-admin", "GET", f"/v1/nodes/{node}").json()["driver_info"]
    whole = {"op": "replace", "path": "/driver_info", "value": shown | {"redfish_address": "http://127.0.0.1:1"}}
    for patch in ([away], [whole], [{"op": "remove", "path": "/driver_info/redfish_address"}]):
        answer = cloud.call("owner-admin", "PATCH", f"/v1/nodes/{node}", patch)
        assert answer.status_code == 400
        assert "redfish_password" in answer.text
        assert "secret-1" not in answer.text
    brought = {"op": "replace", "path": "/driver_info/redfish_password", "value": "secret-1"}
    assert cloud.call("owner-admin", "PATCH", f"/v1/nodes/{node}", [away, brought]).status_code == 200
    assert cloud.call("system-admin", "PATCH", f"/v1/nodes/{node}", [away]).status_code == 200
