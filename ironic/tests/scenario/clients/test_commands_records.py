"""Commands around what belongs to nodes: what they write is what the API shows."""

import json

import pytest

from ironic.tests.scenario.clients.exercises import exercises
from ironic.tests.scenario.clients.lab import Lab
from ironic.tests.scenario.clients.shell import Shell
from ironic.tests.scenario.command_line import CommandFailed


@pytest.fixture
def node(lab: Lab) -> str:
    """Enroll a machine."""
    uuid = lab.enroll("records", "manageable", shard="left")
    lab.power(uuid, "power off")
    return uuid


@exercises("chassis create", "chassis list", "chassis show", "chassis set", "chassis unset", "chassis delete")
def test_chassis(lab: Lab, baremetal: Shell) -> None:
    made = baremetal.json("chassis", "create", "--description", "row 5", "--extra", "a=1", "--extra", "b=two")
    path = f"chassis/{made['uuid']}"
    assert lab.shown(path)["extra"] == {"a": 1, "b": "two"}
    assert baremetal.rows("chassis", "list", "--fields", "uuid") == [{"uuid": made["uuid"]}]
    assert baremetal.rows("chassis", "list", "--long")[0]["description"] == "row 5"
    baremetal("chassis", "set", made["uuid"], "--description", "row 6", "--extra", "c=3")
    baremetal("chassis", "unset", made["uuid"], "--extra", "a")
    shown = baremetal.json("chassis", "show", made["uuid"])
    assert (shown["description"], shown["extra"]) == ("row 6", {"b": "two", "c": 3})
    baremetal("chassis", "unset", made["uuid"], "--description")
    assert lab.shown(path)["description"] is None
    baremetal("chassis", "delete", made["uuid"])
    assert lab.call("GET", path).status_code == 404


@exercises("port create", "port list", "port show", "port set", "port unset", "port delete")
def test_ports(lab: Lab, baremetal: Shell, node: str) -> None:
    link = ["--local-link-connection", "switch_id=0a:1b:2c:3d:4e:5f", "--local-link-connection", "port_id=Eth1"]
    made = baremetal.json(
        "port", "create", "52:54:00:00:aa:01", "--node", node, "--name", "first", "--description", "left of two",
        "--pxe-enabled", "false", "--physical-network", "physnet1", "--vendor", "acme", "--category", "fast",
        "--is-smartnic", "--extra", "a=1", *link,
    )  # fmt: skip
    path = f"ports/{made['uuid']}"
    port = lab.shown(path)
    assert port["local_link_connection"] == {"switch_id": "0a:1b:2c:3d:4e:5f", "port_id": "Eth1"}
    told = ("name", "description", "pxe_enabled", "physical_network", "vendor", "category", "is_smartnic", "node_uuid")
    expected = ["first", "left of two", False, "physnet1", "acme", "fast", True, node]
    assert [port[name] for name in told] == expected
    other = baremetal.json("port", "create", "52:54:00:00:aa:02", "--node", node)
    assert {row["uuid"] for row in baremetal.rows("port", "list", "--node", "records")} == {made["uuid"], other["uuid"]}
    assert [row["name"] for row in baremetal.rows("port", "list", "--address", made["address"], "--long")] == ["first"]
    assert baremetal.json("port", "show", "--address", made["address"])["uuid"] == made["uuid"]
    baremetal(
        "port", "set", made["uuid"], "--address", "52:54:00:00:aa:03", "--pxe-enabled", "--name", "second",
        "--description", "right", "--vendor", "other", "--category", "slow", "--extra", "b=2", "--extra", "a=3",
    )  # fmt: skip
    port = lab.shown(path)
    assert (port["address"], port["pxe_enabled"], port["extra"]) == ("52:54:00:00:aa:03", True, {"a": 3, "b": 2})
    baremetal(
        "port", "unset", made["uuid"], "--extra", "a", "--name", "--description", "--vendor", "--category",
        "--physical-network", "--is-smartnic", "--local-link-connection", "port_id",
        "--local-link-connection", "switch_id",
    )  # fmt: skip
    port = lab.shown(path)
    assert [port[name] for name in told] == [None, None, True, None, None, None, False, node]
    assert (port["extra"], port["local_link_connection"]) == ({"b": 2}, {})
    baremetal("port", "delete", made["uuid"], other["uuid"])
    assert lab.shown(f"nodes/{node}/ports")["ports"] == []


@exercises(
    "port group create", "port group list", "port group show", "port group set", "port group unset", "port group delete"
)
def test_port_groups(lab: Lab, baremetal: Shell, node: str) -> None:
    made = baremetal.json(
        "port", "group", "create", "--node", node, "--name", "bond", "--address", "52:54:00:00:bb:01",
        "--mode", "802.3ad", "--property", "miimon=100", "--property", "lacp_rate=fast", "--extra", "a=1",
        "--unsupport-standalone-ports", "--physical-network", "physnet1", "--category", "fast",
    )  # fmt: skip
    path = f"portgroups/{made['uuid']}"
    group = lab.shown(path)
    assert (group["mode"], group["properties"]) == ("802.3ad", {"miimon": 100, "lacp_rate": "fast"})
    assert (group["standalone_ports_supported"], group["node_uuid"]) == (False, node)
    member = ["--node", node, "--port-group", made["uuid"], "--pxe-enabled", "false", "--physical-network", "physnet1"]
    port = baremetal.json("port", "create", "52:54:00:00:bb:02", *member)
    assert [row["uuid"] for row in baremetal.rows("port", "list", "--port-group", "bond")] == [port["uuid"]]
    baremetal("port", "unset", port["uuid"], "--port-group")
    assert baremetal.rows("port", "list", "--port-group", "bond") == []
    for chosen in (["--node", "records"], ["--address", made["address"]], ["--shards", "left", "right"]):
        assert [row["name"] for row in baremetal.rows("port", "group", "list", *chosen)] == ["bond"]
    assert baremetal.rows("port", "group", "list", "--shards", "right") == []
    baremetal(
        "port", "group", "set", "bond", "--name", "team", "--mode", "active-backup", "--support-standalone-ports",
        "--extra", "b=2", "--property", "miimon=50",
    )  # fmt: skip
    shown = baremetal.json("port", "group", "show", "team")
    assert (shown["mode"], shown["standalone_ports_supported"]) == ("active-backup", True)
    assert (shown["extra"], shown["properties"]["miimon"]) == ({"a": 1, "b": 2}, 50)
    assert baremetal.json("port", "group", "show", "--address", made["address"])["uuid"] == made["uuid"]
    baremetal(
        "port", "group", "unset", "team", "--name", "--address", "--extra", "a", "--property", "lacp_rate",
        "--physical-network", "--category",
    )  # fmt: skip
    group = lab.shown(path)
    assert [group[name] for name in ("name", "address", "physical_network", "category")] == [None] * 4
    assert (group["extra"], group["properties"]) == ({"b": 2}, {"miimon": 50})
    baremetal("port", "group", "delete", made["uuid"])
    assert lab.shown("portgroups")["portgroups"] == []


@exercises(
    "volume connector create", "volume connector list", "volume connector show", "volume connector set",
    "volume connector unset", "volume connector delete",
)  # fmt: skip
def test_volume_connectors(lab: Lab, baremetal: Shell, node: str) -> None:
    iqn = "iqn.2026-11.example:first"
    command = ("volume", "connector")
    made = baremetal.json(*command, "create", "--node", node, "--type", "iqn", "--connector-id", iqn, "--extra", "a=1")
    path = f"volume/connectors/{made['uuid']}"
    assert lab.shown(path)["connector_id"] == iqn
    assert [row["uuid"] for row in baremetal.rows(*command, "list", "--node", "records")] == [made["uuid"]]
    baremetal(*command, "set", made["uuid"], "--type", "mac", "--connector-id", "52:54:00:00:cc:01", "--extra", "b=2")
    shown = baremetal.json(*command, "show", made["uuid"])
    assert (shown["type"], shown["connector_id"], shown["extra"]) == ("mac", "52:54:00:00:cc:01", {"a": 1, "b": 2})
    baremetal(*command, "unset", made["uuid"], "--extra", "a")
    assert lab.shown(path)["extra"] == {"b": 2}
    baremetal(*command, "delete", made["uuid"])
    assert lab.shown("volume/connectors")["connectors"] == []


@exercises(
    "volume target create", "volume target list", "volume target show", "volume target set", "volume target unset",
    "volume target delete",
)  # fmt: skip
def test_volume_targets(lab: Lab, baremetal: Shell, node: str) -> None:
    command = ("volume", "target")
    made = baremetal.json(
        *command, "create", "--node", node, "--type", "iscsi", "--boot-index", "0", "--volume-id", "v1",
        "--property", "target_iqn=iqn.x", "--extra", "a=1",
    )  # fmt: skip
    path = f"volume/targets/{made['uuid']}"
    assert lab.shown(path)["properties"] == {"target_iqn": "iqn.x"}
    assert baremetal.rows(*command, "list", "--node", "records", "--long")[0]["volume_id"] == "v1"
    baremetal(
        *command, "set", made["uuid"], "--boot-index", "1", "--volume-id", "v2", "--type", "fibre_channel",
        "--property", "lun=7", "--extra", "b=2",
    )  # fmt: skip
    shown = baremetal.json(*command, "show", made["uuid"])
    assert (shown["boot_index"], shown["volume_id"], shown["volume_type"]) == (1, "v2", "fibre_channel")
    baremetal(*command, "unset", made["uuid"], "--property", "target_iqn", "--extra", "a")
    target = lab.shown(path)
    assert (target["properties"], target["extra"]) == ({"lun": 7}, {"b": 2})
    baremetal(*command, "delete", made["uuid"])
    assert lab.shown("volume/targets")["targets"] == []


@exercises("create")
def test_resources_from_files(lab: Lab, baremetal: Shell, tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.mktemp("files")
    port = {"address": "52:54:00:00:dd:01"}
    grouped = {"address": "52:54:00:00:dd:02"}
    group = {"name": "bulk-group", "ports": [grouped]}
    node = {"driver": "fake-hardware", "name": "bulk-one", "ports": [port], "portgroups": [group]}
    (directory / "one.json").write_text(json.dumps({"chassis": [{"description": "bulk", "nodes": [node]}]}))
    (directory / "two.yaml").write_text("nodes:\n- {driver: fake-hardware, name: bulk-two}\n")
    baremetal("create", str(directory / "one.json"), str(directory / "two.yaml"))
    one = lab.shown("nodes/bulk-one")
    assert lab.shown("nodes/bulk-two")["provision_state"] == "enroll"
    chassis = lab.shown(f"chassis/{one['chassis_uuid']}")
    assert chassis["description"] == "bulk"
    assert {found["address"] for found in lab.shown("nodes/bulk-one/ports")["ports"]} == {
        port["address"],
        grouped["address"],
    }
    assert [found["address"] for found in lab.shown("portgroups/bulk-group/ports")["ports"]] == [grouped["address"]]
    (directory / "three.json").write_text(json.dumps({"nodes": [{"driver": "fake-hardware", "nam": "x"}]}))
    with pytest.raises(CommandFailed, match="nam"):
        baremetal("create", str(directory / "three.json"))
