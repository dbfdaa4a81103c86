"""Commands that write, list and describe nodes, and what is kept of them."""

import json
from typing import Any

import pytest

from ironic.tests.scenario.clients.exercises import exercises
from ironic.tests.scenario.clients.lab import Lab, eventually
from ironic.tests.scenario.clients.shell import Shell
from ironic.tests.scenario.command_line import CommandFailed

INSTANCE = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def node(lab: Lab) -> str:
    """Enroll a machine."""
    return lab.enroll("machine", "manageable")


def names(rows: list[dict[str, Any]]) -> set[str]:
    return {row["name"] for row in rows}


@pytest.mark.demand("S36")
@exercises("node create", "node show", "node delete")
def test_every_field_is_given_at_creation(lab: Lab, baremetal: Shell) -> None:
    interfaces = ["bios", "boot", "console", "deploy", "firmware", "inspect", "power", "raid", "rescue", "vendor"]
    words = [word for name in interfaces for word in (f"--{name}-interface", "fake")]
    words += ["--management-interface", "noop", "--network-interface", "noop", "--storage-interface", "fake"]
    chassis = baremetal.json("chassis", "create")["uuid"]
    parent = lab.enroll("parent")
    made = baremetal.json(
        "node", "create", "--driver", "fake-hardware", "--name", "full", *words, "--chassis-uuid", chassis,
        "--driver-info", "password=s3cret", "--driver-info", "a=1", "--property", "cpus=8", "--extra", "b=2",
        "--instance-name", "web", "--resource-class", "large", "--no-automated-clean",
        "--lessee", "l", "--description", "all of it", "--shard", "left", "--parent-node", parent,
        "--disable-power-off", "--network-data", json.dumps({"links": [], "networks": [], "services": []}),
    )  # fmt: skip
    full = lab.shown(f"nodes/{made['uuid']}")
    expected = {
        "chassis_uuid": chassis,
        "driver_info": {"password": "******", "a": 1},
        "properties": {"cpus": 8},
        "extra": {"b": 2},
        "instance_name": "web",
        "resource_class": "large",
        "automated_clean": False,
        "lessee": "l",
        "description": "all of it",
        "shard": "left",
        "parent_node": parent,
        "disable_power_off": True,
        "network_data": {"links": [], "networks": [], "services": []},
        "management_interface": "noop",
        "storage_interface": "fake",
        **{f"{name}_interface": "fake" for name in interfaces},
    }
    assert {name: full[name] for name in expected} == expected
    assert baremetal.json("node", "show", "full", "--fields", "name", "uuid") == {"name": "full", "uuid": made["uuid"]}
    with pytest.raises(CommandFailed, match="already used"):
        baremetal("node", "create", "--driver", "fake-hardware", "--name", "full")
    with pytest.raises(CommandFailed, match="no-such-driver"):
        baremetal("node", "create", "--driver", "no-such-driver")
    baremetal("node", "delete", "full", "parent")
    assert lab.call("GET", f"nodes/{made['uuid']}").status_code == 404


@exercises("node set", "node unset", "node show")
def test_fields_are_set_and_unset(lab: Lab, baremetal: Shell, node: str) -> None:
    baremetal(
        "node", "set", "machine", "--name", "renamed", "--instance-uuid", INSTANCE, "--instance-name", "web",
        "--property", "cpus=8", "--property", "capabilities=boot_mode:uefi", "--extra", "list=[1, 2]",
        "--driver-info", "password=s3cret", "--instance-info", "image_source=http://image", "--owner", "o",
        "--lessee", "l", "--description", "d", "--shard", "s", "--resource-class", "large", "--automated-clean",
        "--retired", "--retired-reason", "old",
        "--raid-interface", "no-raid", "--reset-boot-interface", "--disable-power-off", "--conductor-group", "",
    )  # fmt: skip
    shown = lab.shown(f"nodes/{node}")
    assert (shown["name"], shown["instance_uuid"], shown["raid_interface"]) == ("renamed", INSTANCE, "no-raid")
    assert (shown["extra"], shown["instance_info"]) == ({"list": [1, 2]}, {"image_source": "http://image"})
    assert (shown["retired_reason"], shown["disable_power_off"]) == ("old", True)
    assert baremetal.json("node", "show", "--instance", INSTANCE)["uuid"] == node
    goal = {"logical_disks": [{"size_gb": 100, "raid_level": "1"}]}
    baremetal("node", "set", node, "--reset-raid-interface")
    baremetal("node", "set", node, "--target-raid-config", json.dumps(goal))
    assert lab.shown(f"nodes/{node}")["target_raid_config"] == goal
    baremetal(
        "node", "unset", node, "--instance-uuid", "--instance-name", "--name", "--property", "cpus", "--extra", "list",
        "--driver-info", "password", "--instance-info", "image_source", "--owner", "--lessee", "--description",
        "--shard", "--resource-class", "--automated-clean", "--retired", "--target-raid-config",
        "--inspect-interface", "--conductor-group",
    )  # fmt: skip
    shown = lab.shown(f"nodes/{node}")
    gone = ("name", "instance_uuid", "owner", "lessee", "description", "shard", "resource_class", "retired_reason")
    assert [shown[name] for name in (*gone, "automated_clean")] == [None] * 9
    assert [shown[name] for name in ("extra", "driver_info", "instance_info", "target_raid_config")] == [{}] * 4
    assert shown["properties"] == {"capabilities": "boot_mode:uefi"}


@exercises("node list")
def test_lists_are_filtered_sorted_and_paged(lab: Lab, baremetal: Shell) -> None:
    chassis = baremetal.json("chassis", "create")["uuid"]
    one = lab.enroll("one", "manageable", resource_class="large", shard="left", chassis_uuid=chassis)
    lab.enroll("two", description="the second one", lessee="l", instance_name="web", retired=True)
    lab.enroll("three", parent_node=one, instance_uuid=INSTANCE)
    baremetal("node", "set", "one", "--owner", "o")
    baremetal("node", "maintenance", "set", "two")
    cases = {
        "--maintenance": {"two"},
        "--no-maintenance": {"one"},
        "--retired": {"two"},
        "--no-retired": {"one"},
        "--unassociated": {"one", "two"},
        "--associated --include-children": {"three"},
        "--provision-state manageable": {"one"},
        "--driver fake-hardware": {"one", "two"},
        "--resource-class large": {"one"},
        "--conductor localhost": {"one", "two"},
        f"--chassis {chassis}": {"one"},
        "--owner o": {"one"},
        "--lessee l": {"two"},
        "--description-contains second": {"two"},
        "--instance-name web": {"two"},
        "--sharded": {"one"},
        "--unsharded": {"two"},
        "--shards left right": {"one"},
        "--include-children": {"one", "two", "three"},
        f"--parent-node {one}": {"three"},
    }
    for words, expected in cases.items():
        assert names(baremetal.rows("node", "list", *words.split())) == expected, words
    assert baremetal.rows("node", "list", "--fault", "power failure") == []
    everything = ["node", "list", "--include-children"]
    assert [row["name"] for row in baremetal.rows(*everything, "--sort", "name:desc")] == ["two", "three", "one"]
    assert [row["name"] for row in baremetal.rows(*everything, "--limit", "1")] == ["one"]
    assert [row["name"] for row in baremetal.rows(*everything, "--limit", "0", "--marker", one)] == ["two", "three"]
    longer = baremetal.rows("node", "list", "--long")
    assert {row["resource_class"] for row in longer} == {"large", None}
    assert baremetal.rows("node", "list", "--fields", "uuid", "owner", "--shards", "left") == [
        {"uuid": one, "owner": "o"}
    ]


@exercises("node list")
def test_long_lists_come_as_a_whole_when_asked_for(lab: Lab, baremetal: Shell) -> None:
    expected = {f"machine-{number}" for number in range(25)}
    for name in expected:
        lab.enroll(name)
    assert len(baremetal.rows("node", "list")) == 20
    assert len(baremetal.rows("node", "list", "--limit", "7")) == 7
    assert names(baremetal.rows("node", "list", "--limit", "0")) == expected
    assert names(baremetal.rows("node", "list", "--limit", "0", "--long")) == expected
    assert len(baremetal.rows("node", "list", "--limit", "0", "--fields", "uuid", "--provision-state", "enroll")) == 25


@exercises("node add trait", "node trait add", "node trait list", "node trait remove", "node remove trait")
def test_traits(lab: Lab, baremetal: Shell, node: str) -> None:
    baremetal("node", "add", "trait", "machine", "CUSTOM_A")
    baremetal("node", "trait", "add", "machine", "CUSTOM_B", "HW_CPU_X86_VMX")
    listed = {row["traits"] for row in baremetal.rows("node", "trait", "list", "machine")}
    assert listed == {"CUSTOM_A", "CUSTOM_B", "HW_CPU_X86_VMX"}
    baremetal("node", "remove", "trait", "machine", "CUSTOM_A")
    assert lab.shown(f"nodes/{node}/traits")["traits"] == ["CUSTOM_B", "HW_CPU_X86_VMX"]
    with pytest.raises(CommandFailed, match="CUSTOM_A"):
        baremetal("node", "trait", "remove", "machine", "CUSTOM_A")
    baremetal("node", "trait", "remove", "machine", "--all")
    assert lab.shown(f"nodes/{node}/traits")["traits"] == []


@exercises("node maintenance set", "node maintenance unset")
def test_maintenance(lab: Lab, baremetal: Shell, node: str) -> None:
    baremetal("node", "maintenance", "set", "machine", "--reason", "a new fan")
    shown = lab.shown(f"nodes/{node}")
    assert (shown["maintenance"], shown["maintenance_reason"]) == (True, "a new fan")
    baremetal("node", "maintenance", "unset", "machine")
    shown = lab.shown(f"nodes/{node}")
    assert (shown["maintenance"], shown["maintenance_reason"]) == (False, None)


@exercises("node validate")
def test_validation(lab: Lab, baremetal: Shell) -> None:
    lab.enroll("unsound", power_interface="redfish", management_interface="redfish")
    rows = {row["interface"]: row for row in baremetal.rows("node", "validate", "unsound")}
    assert (rows["power"]["result"], "redfish_address" in rows["power"]["reason"]) == (False, True)
    assert rows["deploy"]["result"] is True


@exercises("node vif attach", "node vif list", "node vif detach")
def test_vifs(lab: Lab, baremetal: Shell) -> None:
    node = lab.enroll("machine", "manageable", "lab")
    port = baremetal.json("port", "create", "52:54:00:00:ee:01", "--node", node)["uuid"]
    vif = "aaaaaaaa-2222-4333-8444-555555555555"
    baremetal("node", "vif", "attach", "machine", vif, "--port-uuid", port, "--vif-info", "a=1")
    assert baremetal.rows("node", "vif", "list", "machine") == [{"id": vif}]
    assert lab.shown(f"nodes/{node}")["extra"]["vifs"] == {vif: {"id": vif, "port_uuid": port, "a": 1}}
    with pytest.raises(CommandFailed, match="HTTP 409"):
        baremetal("node", "vif", "attach", "machine", vif)
    baremetal("node", "vif", "detach", "machine", vif)
    assert lab.shown(f"nodes/{node}/vifs")["vifs"] == []


@exercises("node children list")
def test_children(lab: Lab, baremetal: Shell, node: str) -> None:
    child = lab.enroll("child", parent_node=node)
    assert child in baremetal("node", "children", "list", "machine", "-f", "json")


@exercises("node history list", "node history get")
def test_history(lab: Lab, baremetal: Shell, node: str) -> None:
    baremetal("node", "boot", "mode", "set", "machine", "uefi")
    (event,) = eventually(lambda: baremetal.rows("node", "history", "list", "machine"))
    assert (event["severity"], "boot mode" in event["event"]) == ("ERROR", True)
    (longer,) = baremetal.rows("node", "history", "list", "machine", "--long")
    assert longer["conductor"] == "localhost"
    assert baremetal.json("node", "history", "get", "machine", event["uuid"])["event"] == event["event"]


@exercises("node clean", "node bios setting list", "node bios setting show")
def test_bios_settings(lab: Lab, baremetal: Shell, node: str) -> None:
    clean(lab, baremetal, node, "bios", "apply_configuration", {"settings": [{"name": "virt", "value": "on"}]})
    assert baremetal.rows("node", "bios", "setting", "list", "machine") == [{"name": "virt", "value": "on"}]
    (longer,) = baremetal.rows("node", "bios", "setting", "list", "machine", "--long")
    assert (longer["value"], longer["read_only"]) == ("on", None)
    assert baremetal.json("node", "bios", "setting", "show", "machine", "virt")["value"] == "on"
    with pytest.raises(CommandFailed, match=f"{node} has no BIOS setting sgx"):
        baremetal("node", "bios", "setting", "show", "machine", "sgx")


@exercises("node clean", "node firmware list")
def test_firmware(lab: Lab, baremetal: Shell, node: str) -> None:
    update = {"component": "bmc", "url": "http://127.0.0.1/bmc-1.2"}
    clean(lab, baremetal, node, "firmware", "update", {"settings": [update]})
    (row,) = baremetal.rows("node", "firmware", "list", "machine")
    assert (row["component"], row["current_version"]) == ("bmc", "bmc-1.2")


def clean(lab: Lab, baremetal: Shell, node: str, interface: str, step: str, args: dict[str, Any]) -> None:
    """Run one clean step and wait for its end."""
    steps = [{"interface": interface, "step": step, "args": args}]
    baremetal("node", "clean", node, "--clean-steps", json.dumps(steps))
    lab.wait_for(node, provision_state="manageable")
