"""Commands for what is stored once and used for many nodes: templates, runbooks, rules, drivers, allocations."""

import json

import pytest

from ironic.tests.scenario.clients.exercises import exercises
from ironic.tests.scenario.clients.lab import Lab, eventually
from ironic.tests.scenario.clients.shell import Shell
from ironic.tests.scenario.command_line import CommandFailed

STEP = {"interface": "bios", "step": "apply_configuration", "args": {"settings": []}}
ACTIONS = [{"op": "set-attribute", "args": {"path": "/extra/rack", "value": "r1"}}]


@pytest.fixture
def available(lab: Lab) -> str:
    """Offer a machine of a class of its own."""
    uuid = lab.enroll("offered", "available", resource_class="large")
    # Only a node whose power is known is given away.
    lab.power(uuid, "power off")
    return uuid


@exercises(
    "deploy template create", "deploy template list", "deploy template show", "deploy template set",
    "deploy template unset", "deploy template delete",
)  # fmt: skip
def test_deploy_templates(lab: Lab, baremetal: Shell, tmp_path_factory: pytest.TempPathFactory) -> None:
    command = ("deploy", "template")
    steps = [STEP | {"priority": 150}]
    made = baremetal.json(*command, "create", "CUSTOM_FAST", "--steps", json.dumps(steps), "--extra", "a=1")
    assert lab.shown("deploy_templates/CUSTOM_FAST")["steps"] == steps
    assert baremetal.rows(*command, "list") == [{"uuid": made["uuid"], "name": "CUSTOM_FAST"}]
    file = tmp_path_factory.mktemp("steps") / "steps.yaml"
    file.write_text("- {interface: raid, step: apply_configuration, args: {}, priority: 0}\n")
    baremetal(*command, "set", "CUSTOM_FAST", "--name", "CUSTOM_SAFE", "--steps", str(file), "--extra", "b=2")
    baremetal(*command, "unset", "CUSTOM_SAFE", "--extra", "a")
    shown = baremetal.json(*command, "show", made["uuid"])
    assert (shown["name"], shown["extra"], shown["steps"][0]["interface"]) == ("CUSTOM_SAFE", {"b": 2}, "raid")
    baremetal(*command, "delete", "CUSTOM_SAFE")
    assert lab.shown("deploy_templates")["deploy_templates"] == []


@exercises(
    "runbook create", "runbook list", "runbook show", "runbook set", "runbook unset", "runbook delete",
    "runbook trait add", "runbook trait list", "runbook trait remove",
)  # fmt: skip
def test_runbooks(lab: Lab, baremetal: Shell) -> None:
    steps = [STEP | {"order": 1}]
    made = baremetal.json(
        "runbook", "create", "--name", "CUSTOM_TIDY", "--steps", json.dumps(steps), "--description", "tidy up",
        "--extra", "a=1", "--owner", "p1", "--disable-ramdisk",
    )  # fmt: skip
    path = f"runbooks/{made['uuid']}"
    book = lab.shown(path)
    assert (book["steps"], book["description"], book["owner"], book["disable_ramdisk"]) == (
        steps, "tidy up", "p1", True,
    )  # fmt: skip
    assert [row["name"] for row in baremetal.rows("runbook", "list")] == ["CUSTOM_TIDY"]
    baremetal("runbook", "set", "CUSTOM_TIDY", "--name", "CUSTOM_CLEAN", "--description", "new", "--extra", "b=2")
    baremetal("runbook", "set", "CUSTOM_CLEAN", "--public", "true")
    shown = baremetal.json("runbook", "show", "CUSTOM_CLEAN")
    assert (shown["description"], shown["extra"], shown["public"]) == ("new", {"a": 1, "b": 2}, True)
    baremetal("runbook", "unset", "CUSTOM_CLEAN", "--description", "--extra", "a", "--public", "--disable-ramdisk")
    book = lab.shown(path)
    assert (book["description"], book["extra"], book["public"], book["disable_ramdisk"]) == (
        None, {"b": 2}, False, False,
    )  # fmt: skip
    baremetal("runbook", "trait", "add", "CUSTOM_CLEAN", "CUSTOM_ONE", "CUSTOM_TWO")
    traits = {"CUSTOM_ONE", "CUSTOM_TWO"}
    assert traits <= {row["traits"] for row in baremetal.rows("runbook", "trait", "list", "CUSTOM_CLEAN")}
    baremetal("runbook", "trait", "remove", "CUSTOM_CLEAN", "CUSTOM_ONE")
    assert traits & set(lab.shown(f"{path}/traits")["traits"]) == {"CUSTOM_TWO"}
    baremetal("runbook", "trait", "remove", "CUSTOM_CLEAN", "--all")
    assert baremetal.rows("runbook", "trait", "list", "CUSTOM_CLEAN") == []
    baremetal("runbook", "delete", "CUSTOM_CLEAN")
    assert lab.shown("runbooks")["runbooks"] == []


@exercises(
    "inspection rule create", "inspection rule list", "inspection rule show", "inspection rule set",
    "inspection rule unset", "inspection rule delete",
)  # fmt: skip
def test_inspection_rules(lab: Lab, baremetal: Shell) -> None:
    command = ("inspection", "rule")
    made = baremetal.json(*command, "create", "--actions", json.dumps(ACTIONS), "--priority", "5", "--phase", "main")
    path = f"inspection_rules/{made['uuid']}"
    assert (lab.shown(path)["actions"], lab.shown(path)["priority"]) == (ACTIONS, 5)
    assert [row["uuid"] for row in baremetal.rows(*command, "list")] == [made["uuid"]]
    conditions = [{"op": "is-true", "args": {"value": "{node.extra[x]}"}}]
    baremetal(*command, "set", made["uuid"], "--description", "new", "--conditions", json.dumps(conditions))
    shown = baremetal.json(*command, "show", made["uuid"])
    assert (shown["description"], shown["conditions"]) == ("new", conditions)
    baremetal(*command, "unset", made["uuid"], "--description", "--priority", "--phase")
    rule = lab.shown(path)
    assert (rule["description"], rule["priority"], rule["phase"], rule["conditions"]) == (None, 0, "main", conditions)
    # The client asks for the removal of /condition/0, and there is no such field; the answer says so.
    with pytest.raises(CommandFailed, match="condition can't be changed"):
        baremetal(*command, "unset", made["uuid"], "--condition", "0")
    baremetal(*command, "delete", made["uuid"])
    assert lab.shown("inspection_rules")["inspection_rules"] == []


@pytest.mark.demand("S36")
@exercises(
    "driver list", "driver show", "driver property list", "driver raid property list", "driver passthru list",
    "driver passthru call",
)  # fmt: skip
def test_drivers(lab: Lab, baremetal: Shell) -> None:
    assert [row["name"] for row in baremetal.rows("driver", "list")] == ["fake-hardware", "lab", "redfish"]
    assert baremetal.rows("driver", "list", "--type", "classic") == []
    (longer,) = [row for row in baremetal.rows("driver", "list", "--long") if row["name"] == "lab"]
    assert (longer["type"], longer["default_vendor_interface"]) == ("dynamic", "lab")
    assert [row["name"] for row in baremetal.rows("driver", "list", "--type", "dynamic")] == [
        "fake-hardware",
        "lab",
        "redfish",
    ]
    shown = baremetal.json("driver", "show", "fake-hardware")
    assert (shown["default_deploy_interface"], shown["enabled_raid_interfaces"]) == ("fake", "fake, no-raid, agent")
    assert "B1" in {row["property"] for row in baremetal.rows("driver", "property", "list", "fake-hardware")}
    sizes = {row["property"] for row in baremetal.rows("driver", "raid", "property", "list", "fake-hardware")}
    assert {"size_gb", "raid_level"} <= sizes
    assert {row["name"] for row in baremetal.rows("driver", "passthru", "list", "lab")} == {"announce", "hot_line"}
    baremetal("driver", "passthru", "call", "lab", "announce", "--arg", "words=the client speaks")
    eventually(lambda: "Everybody listen: the client speaks" in lab.service.log)
    with pytest.raises(CommandFailed, match="hot_line"):
        baremetal("driver", "passthru", "call", "lab", "cold_line")


@exercises("conductor list", "conductor show")
def test_conductors(lab: Lab, baremetal: Shell) -> None:
    (row,) = baremetal.rows("conductor", "list")
    assert (row["hostname"], row["alive"]) == ("localhost", True)
    assert sorted(baremetal.json("conductor", "show", "localhost")["drivers"]) == ["fake-hardware", "lab", "redfish"]
    with pytest.raises(CommandFailed, match="nowhere"):
        baremetal("conductor", "show", "nowhere")


@exercises("shard list")
def test_shards(lab: Lab, baremetal: Shell) -> None:
    for number, shard in enumerate(("left", "right", "left")):
        lab.enroll(f"sharded-{number}", shard=shard)
    assert {row["name"]: row["count"] for row in baremetal.rows("shard", "list")} == {"left": 2, "right": 1}


@exercises(
    "allocation create", "allocation list", "allocation show", "allocation set", "allocation unset", "allocation delete"
)
def test_allocations(lab: Lab, baremetal: Shell, available: str) -> None:
    made = baremetal.json("allocation", "create", "--resource-class", "large", "--name", "order-1", "--extra", "a=1")
    eventually(lambda: lab.shown("allocations/order-1")["state"] == "active")
    assert lab.shown(f"nodes/{available}")["instance_uuid"] == made["uuid"]
    for chosen in (["--node", "offered"], ["--state", "active"], ["--resource-class", "large"]):
        assert [row["name"] for row in baremetal.rows("allocation", "list", *chosen)] == ["order-1"]
    assert baremetal.rows("allocation", "list", "--owner", "nobody") == []
    baremetal("allocation", "set", "order-1", "--name", "order-2", "--extra", "b=2")
    baremetal("allocation", "unset", "order-2", "--extra", "a")
    shown = baremetal.json("allocation", "show", "order-2")
    assert (shown["node_uuid"], shown["extra"]) == (available, {"b": 2})
    baremetal("allocation", "unset", "order-2", "--name")
    assert lab.shown(f"allocations/{made['uuid']}")["name"] is None
    baremetal("allocation", "delete", made["uuid"])
    assert lab.shown(f"nodes/{available}")["instance_uuid"] is None


def test_an_allocation_that_nothing_fits_says_so(lab: Lab, baremetal: Shell) -> None:
    with pytest.raises(CommandFailed, match="huge"):
        baremetal("allocation", "create", "--resource-class", "huge", "--name", "order-3", "--wait", "30")
    assert lab.shown("allocations/order-3")["state"] == "error"
