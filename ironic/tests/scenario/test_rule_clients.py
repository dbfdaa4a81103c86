"""Inspection rules through the stock command line and SDK, against a running service; and no secret gets out of it."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openstack
import pytest
import requests
import yaml
from openstack import exceptions

from ironic.tests.live_service import Options, Service, all_in_one, free_port, write_options
from ironic.tests.repository import tool
from ironic.tests.scenario.clients.shell import Shell
from ironic.tests.scenario.command_line import Baremetal, CommandFailed

REPORT = json.loads((Path(__file__).parents[1] / "data" / "agent-inspection.json").read_text())
ACTIONS = [{"op": "set-attribute", "args": {"path": "/extra/a", "value": "b"}}]
CONDITIONS = [{"op": "!eq", "args": {"values": ["{inventory[cpu][count]}", 8]}}]
BUILT_IN = "00000000-0000-0000-0000-000000000001"
HEADERS = {"X-OpenStack-Ironic-API-Version": "1.115"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run the service as `make run` configures it, with a built-in rule and everything logged, notifications too."""
    directory, port = tmp_path_factory.mktemp("rules"), free_port()
    rules = directory / "rules.yaml"
    rules.write_text(yaml.safe_dump([{"description": "built in", "priority": -1, "actions": ACTIONS}]))
    options: Options = {
        "DEFAULT": {"debug": True, "notification_level": "debug"},
        "oslo_messaging_notifications": {"driver": "log"},
        "inspection_rules": {"built_in": str(rules)},
    }
    more = write_options(directory / "more.conf", options)
    configuration = tool("run").configure(directory / "service", port)
    with all_in_one([configuration, more], directory / "service" / "ironic.log", port) as running:
        yield running


@pytest.fixture
def baremetal(service: Service) -> Iterator[Baremetal]:
    yield Shell(service.url)
    requests.delete(f"{service.url}/v1/inspection_rules", headers=HEADERS, timeout=30)


def column(baremetal: Baremetal, name: str, *options: str) -> list[Any]:
    """Return one column of the list; the client is of two minds about capital letters in their names."""
    rules = baremetal.json("inspection", "rule", "list", *options)
    return [{key.lower(): value for key, value in rule.items()}[name] for rule in rules]


def listed(baremetal: Baremetal) -> list[str]:
    return column(baremetal, "uuid")


@pytest.mark.demand("S161")
def test_the_command_line_creates_shows_lists_and_deletes(baremetal: Baremetal) -> None:
    rule = baremetal.json(
        "inspection", "rule", "create", "--actions", json.dumps(ACTIONS), "--conditions", json.dumps(CONDITIONS),
        "--description", "First", "--priority", "7", "--sensitive", "true",
        "--uuid", "9c3fb1d5-4f5a-4a52-9b7d-0e6a8d8d3f10",
    )  # fmt: skip
    assert (rule["uuid"], rule["priority"]) == ("9c3fb1d5-4f5a-4a52-9b7d-0e6a8d8d3f10", 7)
    assert (rule["actions"], rule["conditions"]) == (None, None)
    other = baremetal.json("inspection", "rule", "create", "--actions", json.dumps(ACTIONS))
    shown = baremetal.json("inspection", "rule", "show", other["uuid"])
    assert (shown["actions"], shown["conditions"], shown["phase"]) == (ACTIONS, [], "main")
    assert listed(baremetal) == [rule["uuid"], other["uuid"], BUILT_IN]
    assert column(baremetal, "description", "--long") == ["First", None, "built in"]
    assert column(baremetal, "actions", "--long") == [None, ACTIONS, ACTIONS]
    with pytest.raises(CommandFailed, match="built in"):
        baremetal("inspection", "rule", "delete", BUILT_IN)
    baremetal("inspection", "rule", "delete", other["uuid"])
    assert listed(baremetal) == [rule["uuid"], BUILT_IN]
    baremetal("inspection", "rule", "delete", "all")
    assert listed(baremetal) == [BUILT_IN]


@pytest.mark.demand("S161", "S162")
def test_the_command_line_changes_rules(baremetal: Baremetal) -> None:
    uuid = baremetal.json("inspection", "rule", "create", "--actions", json.dumps(ACTIONS))["uuid"]
    other = [{"op": "fail", "args": {"msg": "no"}}]
    baremetal(
        "inspection", "rule", "set", uuid, "--actions", json.dumps(other), "--conditions", json.dumps(CONDITIONS),
        "--description", "changed", "--priority", "3", "--phase", "preprocess",
    )  # fmt: skip
    shown = baremetal.json("inspection", "rule", "show", uuid)
    assert (shown["actions"], shown["conditions"], shown["priority"]) == (other, CONDITIONS, 3)
    assert (shown["description"], shown["phase"]) == ("changed", "preprocess")
    baremetal("inspection", "rule", "unset", uuid, "--description", "--priority", "--phase")
    shown = baremetal.json("inspection", "rule", "show", uuid)
    assert (shown["description"], shown["priority"], shown["phase"]) == (None, 0, "main")
    with pytest.raises(CommandFailed, match="no operator"):
        bad = json.dumps([{"op": "odd", "args": {}}])
        baremetal("inspection", "rule", "create", "--actions", json.dumps(ACTIONS), "--conditions", bad)


# The library warns of what it will remove from itself.
@pytest.mark.filterwarnings("ignore::openstack.warnings.RemovedInSDK60Warning")
@pytest.mark.filterwarnings("ignore::openstack.warnings.RemovedInSDK50Warning")
@pytest.mark.demand("S164")
def test_the_sdk_creates_lists_patches_and_deletes(service: Service, baremetal: Baremetal) -> None:
    cloud = openstack.connect(auth_type="none", endpoint=service.url, load_envvars=False, load_yaml_config=False)
    sdk: Any = cloud.baremetal
    rule = sdk.create_inspection_rule(actions=ACTIONS, conditions=CONDITIONS, description="sdk", priority=5)
    assert (rule.actions, rule.conditions, rule.priority) == (ACTIONS, CONDITIONS, 5)
    assert [one.id for one in sdk.inspection_rules()] == [rule.id, BUILT_IN]
    assert next(iter(sdk.inspection_rules(detail=True))).actions == ACTIONS
    assert sdk.get_inspection_rule(rule.id).description == "sdk"
    patched = sdk.patch_inspection_rule(rule.id, [{"op": "replace", "path": "/priority", "value": 6}])
    assert patched.priority == 6
    updated = sdk.update_inspection_rule(rule.id, description="again", sensitive=True)
    assert (updated.description, updated.actions) == ("again", None)
    sdk.delete_inspection_rule(rule.id)
    sdk.delete_inspection_rule(rule.id, ignore_missing=True)
    with pytest.raises(exceptions.NotFoundException):
        sdk.delete_inspection_rule(rule.id, ignore_missing=False)
    with pytest.raises(exceptions.NotFoundException):
        sdk.get_inspection_rule(rule.id)
    cloud.close()


@pytest.mark.filterwarnings("ignore::openstack.warnings.RemovedInSDK60Warning")
@pytest.mark.filterwarnings("ignore::openstack.warnings.RemovedInSDK50Warning")
@pytest.mark.demand("S109", "S110")
def test_the_stock_clients_read_inventories(service: Service, baremetal: Baremetal, tmp_path: Path) -> None:
    report = report_of("52:54:00:00:0d:01")
    inspected(service, baremetal, "looked-at", report)
    baremetal("node", "inventory", "save", "--file", str(tmp_path / "saved"), "looked-at")
    saved = json.loads((tmp_path / "saved").read_text())
    assert saved["inventory"] == report["inventory"]
    assert saved["plugin_data"]["vault"] == report["vault"]
    cloud = openstack.connect(auth_type="none", endpoint=service.url, load_envvars=False, load_yaml_config=False)
    sdk: Any = cloud.baremetal
    found = sdk.get_node_inventory(service.get("/v1/nodes/looked-at").json()["uuid"])
    assert (found["inventory"], found["plugin_data"]) == (saved["inventory"], saved["plugin_data"])
    cloud.close()


# Forty secrets: at every depth and in everything rules may look at.
KEYS = [
    "password",
    "ipmi_password",
    "auth_token",
    "bmc_password",
    "snmp_auth_key",
    "secret",
    "private_key",
    "credential",
]
PLACES = ["node", "node-deep", "inventory", "inventory-deep", "plugin-data"]


def canaries(place: str) -> dict[str, str]:
    return {key: f"canary-{place}-{key}" for key in KEYS}


SNOOPING = [
    {"op": "log", "args": ["{node}{ports}{inventory}{plugin_data}"]},
    {"op": "log", "args": ["{item}", "debug"], "loop": "{plugin_data[vault]}"},
    {"op": "set-attribute", "args": ["/extra/stolen", ["{node}", "{ports}", "{inventory}", "{plugin_data}"]]},
    {"op": "set-attribute", "args": ["/description", "{node.driver_info[password]}{inventory[vault][0][x][secret]}"]},
    {"op": "set-plugin-data", "args": ["stolen", "{node.driver_info}"]},
]
LOOKING = [{"op": "!is-none", "args": [one]} for one in ("{node}", "{inventory}", "{plugin_data}", "{ports}")]


def inspected(service: Service, baremetal: Baremetal, name: str, report: dict[str, Any]) -> None:
    """Enroll a node, inspect it, report for it, and wait for the end."""
    secrets = json.dumps(canaries("node") | {"deep": [{"er": canaries("node-deep")}]})
    node = {"driver": "fake-hardware", "name": name, "driver_info": json.loads(secrets), "inspect_interface": "agent"}
    created = requests.post(f"{service.url}/v1/nodes", json=node, headers=HEADERS, timeout=30)
    assert created.status_code == 201, created.text
    baremetal("node", "manage", name, "--wait", "30")
    baremetal("node", "inspect", name)
    _await(service, name, "inspect wait")
    posted = requests.post(
        f"{service.url}/v1/continue_inspection?node_uuid={created.json()['uuid']}",
        json=report, headers=HEADERS, timeout=30,
    )  # fmt: skip
    assert posted.status_code in (200, 202), posted.text
    _await(service, name, "manageable", "inspect failed")


def _await(service: Service, name: str, *states: str) -> None:
    deadline = time.monotonic() + 90
    while (state := service.get(f"/v1/nodes/{name}").json()["provision_state"]) not in states:
        assert time.monotonic() < deadline, state
        time.sleep(0.05)


def report_of(mac: str) -> dict[str, Any]:
    inventory = REPORT["inventory"] | {"interfaces": [REPORT["inventory"]["interfaces"][0] | {"mac_address": mac}]}
    inventory |= canaries("inventory") | {"vault": [{"x": canaries("inventory-deep")}], "bmc_address": None}
    return {"inventory": inventory, "vault": [[canaries("plugin-data")], canaries("plugin-data")]}


@pytest.mark.demand("S119", "S120", "S131", "S168")
def test_no_secret_gets_out_through_rules(service: Service, baremetal: Baremetal) -> None:
    fail = {"op": "fail", "args": ["{plugin_data}{node}{inventory}"]}
    hidden = {"op": "fail", "args": ["canary-in-a-sensitive-rule"]}
    texts = []
    for number, (sensitive, more) in enumerate([(False, []), (True, []), (False, [fail]), (True, [hidden])]):
        rule = {"conditions": LOOKING, "actions": [*SNOOPING, *more], "sensitive": sensitive}
        made = requests.post(f"{service.url}/v1/inspection_rules", json=rule, headers=HEADERS, timeout=30)
        assert made.status_code == 201, made.text
        name = f"n{number}"
        inspected(service, baremetal, name, report_of(f"52:54:00:00:0c:0{number}"))
        assert (service.get(f"/v1/nodes/{name}").json()["last_error"] is not None) is bool(more)
        hits = service.get(f"/v1/inspection_rules/{made.json()['uuid']}").json()["hits"]
        assert (hits["evaluated"], hits["matched"], hits["failed"]) == (1, 1, len(more))
        paths = [f"nodes/{name}", f"nodes/{name}/history?detail=true", f"nodes/{name}/inspection_rules", "nodes/detail"]
        texts += [service.get(f"/v1/{path}").text for path in (*paths, "inspection_rules?detail=true", "ports/detail")]
        for body in ({"node": name}, {"inventory": report_of("x")["inventory"], "plugin_data": {}}):
            tried = requests.post(f"{service.url}/v1/inspection_rules/evaluate", json=body, headers=HEADERS, timeout=30)
            assert tried.status_code == 200, tried.text
            texts.append(tried.text)
        if not more:
            # What the machine reported is kept as it came; what rules made of it is not.
            texts.append(json.dumps(service.get(f"/v1/nodes/{name}/inventory").json()["plugin_data"].get("stolen")))
        requests.delete(f"{service.url}/v1/inspection_rules", headers=HEADERS, timeout=30)
    sinks = "\n".join([*texts, service.log])
    for event in ("node.create.end", "node.provision_set.error", "node.provision_set.end", "inspectionrule.create.end"):
        assert f"baremetal.{event}" in service.log  # notifications are among what is looked at
    leaked = [secret for place in PLACES for secret in canaries(place).values() if secret in sinks]
    assert leaked == []
    assert "canary-in-a-sensitive-rule" not in sinks
    assert "FailRequested (the rule is sensitive)" in sinks
    assert "******" in sinks
