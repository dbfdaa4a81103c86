"""What tempest's plugin asks: most of it without naming a version, which means the oldest one there is.

Its tests speak through a REST client of their own, which says nothing about versions unless a test wants a newer one,
and reads errors from `error_message`, JSON inside of JSON.
"""

import json
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from ironic.api import version_negotiation
from ironic.tests.scenario.clients.lab import Lab

MAC = "52:54:00:00:aa:01"


@dataclass(frozen=True)
class Rest:
    """A client without a version."""

    lab: Lab

    def __call__(self, method: str, path: str, status: int, body: Any = None, minor: int | None = None) -> Any:
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if minor:
            headers["X-OpenStack-Ironic-API-Version"] = f"1.{minor}"
        data = None if body is None else json.dumps(body)
        answer = requests.request(method, f"{self.lab.url}/v1/{path}", data=data, headers=headers, timeout=30)
        assert answer.status_code == status, answer.text
        if status >= 400:
            return json.loads(answer.json()["error_message"])["faultstring"]
        return answer.json() if answer.content else None


@pytest.fixture
def rest(lab: Lab) -> Rest:
    return Rest(lab)


@pytest.fixture
def chassis(rest: Rest) -> str:
    """Make a chassis."""
    return str(rest("POST", "chassis", 201, {"description": "test", "extra": {}})["uuid"])


@pytest.fixture
def node(rest: Rest, chassis: str) -> str:
    """Make a node as the plugin does."""
    properties = {"cpu_arch": "x86_64", "cpus": 8, "local_gb": 10, "memory_mb": 4096}
    body = {"chassis_uuid": chassis, "driver": "fake-hardware", "properties": properties}
    return str(rest("POST", "nodes", 201, body)["uuid"])


def change(path: str, value: object) -> list[dict[str, object]]:
    return [{"op": "replace", "path": path, "value": value}]


def test_discovery(lab: Lab) -> None:
    root = requests.get(f"{lab.url}/", timeout=30).json()
    assert "v1" in {version["id"] for version in root["versions"]}
    assert root["default_version"]["links"][0]["href"].startswith(lab.url)
    first = requests.get(f"{lab.url}/v1/", timeout=30)
    assert {"id", "links", "media_types", "nodes", "ports", "chassis", "drivers"} <= first.json().keys()
    ranges = [first.headers[f"X-OpenStack-Ironic-API-{name}-Version"] for name in ("Minimum", "Maximum")]
    assert ranges == [
        version_negotiation.TEXTS[version_negotiation.MINIMUM],
        version_negotiation.TEXTS[version_negotiation.MAXIMUM],
    ]


def test_a_chassis(rest: Rest, chassis: str) -> None:
    assert rest("GET", f"chassis/{chassis}", 200)["description"] == "test"
    assert [one["uuid"] for one in rest("GET", "chassis", 200)["chassis"]] == [chassis]
    assert rest("PATCH", f"chassis/{chassis}", 200, change("/description", "new"))["description"] == "new"
    assert rest("GET", f"chassis/{chassis}/nodes", 200)["nodes"] == []
    rest("DELETE", f"chassis/{chassis}", 204)
    assert chassis in rest("GET", f"chassis/{chassis}", 404)
    rest("POST", "chassis", 400, {"description": "x" * 256})


def test_a_node(rest: Rest, node: str, chassis: str) -> None:
    shown = rest("GET", f"nodes/{node}", 200)
    # What is available had no name in the beginning.
    assert (shown["provision_state"], shown["driver"], shown["chassis_uuid"]) == (None, "fake-hardware", chassis)
    assert "name" not in shown
    for path in ("nodes", "nodes/detail", f"chassis/{chassis}/nodes", "nodes?associated=false", "nodes?maintenance=no"):
        assert [one["uuid"] for one in rest("GET", path, 200)["nodes"]] == [node], path
    assert rest("PATCH", f"nodes/{node}", 200, change("/properties/cpus", 16))["properties"]["cpus"] == 16
    rest("PATCH", f"nodes/{node}", 400, change("/properties/none", 1))
    instance = "11111111-2222-4333-8444-555555555555"
    rest("PATCH", f"nodes/{node}", 200, [{"op": "add", "path": "/instance_uuid", "value": instance}])
    assert [one["uuid"] for one in rest("GET", f"nodes?instance_uuid={instance}", 200)["nodes"]] == [node]
    rest("PATCH", f"nodes/{node}", 200, [{"op": "remove", "path": "/instance_uuid"}])
    rest("DELETE", f"nodes/{node}", 204)
    assert f"There is no node {node}" in rest("GET", f"nodes/{node}", 404)


def test_states(rest: Rest, node: str) -> None:
    states = rest("GET", f"nodes/{node}/states", 200)
    assert {"power_state", "provision_state", "target_power_state", "last_error", "console_enabled"} <= states.keys()
    for target in ("power on", "power off", "rebooting"):
        rest("PUT", f"nodes/{node}/states/power", 202, {"target": target})
        reached = "power off" if target == "power off" else "power on"
        rest.lab.wait_for(node, power_state=reached, target_power_state=None)
    for verb, state in (("active", "active"), ("deleted", "available")):
        rest("PUT", f"nodes/{node}/states/provision", 202, {"target": verb})
        rest.lab.wait_for(node, provision_state=state)
    rest("PUT", f"nodes/{node}/states/provision", 400, {"target": "nonsense"})
    rest("PUT", f"nodes/{node}/states/power", 400, {"target": "nonsense"})


def test_management_and_validation(rest: Rest, node: str) -> None:
    rest("PUT", f"nodes/{node}/management/boot_device", 204, {"boot_device": "pxe", "persistent": True})
    assert rest("GET", f"nodes/{node}/management/boot_device", 200) == {"boot_device": "pxe", "persistent": True}
    assert "pxe" in rest("GET", f"nodes/{node}/management/boot_device/supported", 200)["supported_boot_devices"]
    assert rest("GET", f"nodes/{node}/validate", 200)["deploy"]["result"] is True
    assert rest("GET", f"nodes/validate?node_uuid={node}", 200)["power"]["result"] is True
    rest("PUT", f"nodes/{node}/maintenance", 202, {"reason": "x"})
    assert rest("GET", f"nodes/{node}", 200)["maintenance"] is True
    rest("DELETE", f"nodes/{node}/maintenance", 202)
    rest("PUT", f"nodes/{node}/states/console", 202, {"enabled": True})
    rest.lab.wait_for(node, console_enabled=True)
    assert rest("GET", f"nodes/{node}/states/console", 200)["console_enabled"] is True
    assert "B1" in rest("GET", "drivers/fake-hardware/properties", 200)
    assert rest("GET", "drivers/fake-hardware", 200)["name"] == "fake-hardware"


def test_ports(rest: Rest, node: str) -> None:
    made = rest("POST", "ports", 201, {"node_uuid": node, "address": MAC, "extra": {"a": 1, "b": {"c": [1]}}})
    uuid = made["uuid"]
    assert rest("GET", f"ports/{uuid}", 200) == made
    for path in (f"nodes/{node}/ports", f"ports?node={node}", f"ports/?address={MAC}", "ports/detail"):
        assert [one["uuid"] for one in rest("GET", path, 200)["ports"]] == [uuid], path
    assert MAC in rest("POST", "ports", 409, {"node_uuid": node, "address": MAC})
    rest("POST", "ports", 400, {"node_uuid": node, "address": "malformed:mac"})
    rest("POST", "ports", 400, {"address": MAC})
    rest("POST", "ports", 400, {"node_uuid": "00000000-0000-0000-0000-000000000000", "address": MAC})
    assert rest("PATCH", f"ports/{uuid}", 200, change("/extra/a", 2))["extra"]["a"] == 2
    for patch in (change("/extra", 0.1), change("/node_uuid", "malformed"), change("/nonexistent", 1)):
        rest("PATCH", f"ports/{uuid}", 400, patch)
    rest("DELETE", f"ports/{uuid}", 204)
    rest("GET", f"ports/{uuid}", 404)


@pytest.mark.parametrize(
    "minor, method, path, body, status",
    [
        (5, "GET", "nodes/machine", None, 200),
        (31, "GET", "drivers?type=dynamic", None, 200),
        (36, "GET", "nodes/machine/traits", None, 406),
        (37, "PUT", "nodes/machine/traits", {"traits": ["CUSTOM_A"]}, 204),
        (28, "POST", "nodes/machine/vifs", {"id": "aaaaaaaa-2222-4333-8444-555555555555"}, 204),
        (52, "POST", "allocations", {"name": "a", "resource_class": "x"}, 201),
        (55, "POST", "deploy_templates", {"name": "bad name", "steps": []}, 400),
        (77, "GET", "drivers?fields=name", None, 200),
        (82, "GET", "shards", None, 200),
        (96, "GET", "inspection_rules", None, 200),
    ],
)
def test_tests_that_name_a_version(rest: Rest, minor: int, method: str, path: str, body: Any, status: int) -> None:
    rest.lab.enroll("machine")
    rest(method, path, status, body, minor)
