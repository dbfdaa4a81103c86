"""No command of the installed `baremetal` client goes untried; older clients get what they know, or a clear refusal."""

import json
import re

import pytest

from ironic.tests.scenario.clients import (
    test_commands_catalogue,
    test_commands_life,
    test_commands_machines,
    test_commands_nodes,
    test_commands_records,
)
from ironic.tests.scenario.clients.exercises import table
from ironic.tests.scenario.clients.lab import Lab
from ironic.tests.scenario.clients.shell import Shell, commands
from ironic.tests.scenario.command_line import Baremetal, CommandFailed

TRIED = table(
    [
        test_commands_catalogue,
        test_commands_life,
        test_commands_machines,
        test_commands_nodes,
        test_commands_records,
    ]
)

# What reads, and the first minor version of what it asks for.
READING = {
    "node list": 1,
    "node list --long": 1,
    "node list --fields uuid name": 8,
    "node show {uuid}": 1,
    "node show {name}": 5,
    "node validate {uuid}": 1,
    "node boot device show {uuid}": 1,
    "node console show {uuid}": 1,
    "node passthru list {uuid}": 1,
    "node vif list {uuid}": 28,
    "node trait list {uuid}": 37,
    "node bios setting list {uuid}": 40,
    "node history list {uuid}": 78,
    "node children list {uuid}": 83,
    "node firmware list {uuid}": 86,
    "chassis list --long": 1,
    "port list --long": 1,
    "port group list --long": 23,
    "volume connector list --long": 32,
    "volume target list --long": 32,
    "allocation list --long": 52,
    "deploy template list --long": 55,
    "runbook list --long": 92,
    "inspection rule list": 96,
    "conductor list --long": 49,
    "shard list": 82,
    "driver list": 1,
    "driver list --long": 30,
    "driver property list fake-hardware": 1,
    "driver raid property list fake-hardware": 12,
}
# What writes, and the first minor version of what it asks for; the state of the node may still forbid it.
# Not here: verbs for which clients expect the error of the state before that of the version (unhold, service).
WRITING = {
    "node create --driver fake-hardware --name other": 5,
    "node create --driver fake-hardware --network-interface noop": 20,
    "node create --driver fake-hardware --resource-class x": 21,
    "node create --driver fake-hardware --power-interface fake": 31,
    "node create --driver fake-hardware --storage-interface noop": 33,
    "node create --driver fake-hardware --rescue-interface fake": 38,
    "node create --driver fake-hardware --bios-interface fake": 40,
    "node create --driver fake-hardware --automated-clean": 47,
    "node create --driver fake-hardware --description x": 51,
    "node create --driver fake-hardware --lessee x": 65,
    "node create --driver fake-hardware --shard x": 82,
    "node create --driver fake-hardware --parent-node {uuid}": 83,
    "node create --driver fake-hardware --firmware-interface fake": 86,
    "node create --driver fake-hardware --disable-power-off": 95,
    "node create --driver fake-hardware --instance-name x": 104,
    "node set {uuid} --owner x": 50,
    "node set {uuid} --retired": 61,
    "node manage {uuid}": 4,
    "node inspect {uuid}": 6,
    "node abort {uuid}": 13,
    "node clean {uuid} --clean-steps []": 15,
    "node adopt {uuid}": 17,
    "node power off {uuid} --soft": 27,
    "node rescue {uuid} --rescue-password x": 38,
    "node unrescue {uuid}": 38,
    "node vif attach {uuid} x": 28,
    "node inject nmi {uuid}": 29,
    "node trait add {uuid} CUSTOM_A": 37,
    "node boot mode set {uuid} uefi": 76,
    "node secure boot on {uuid}": 76,
    "port group create --node {uuid}": 23,
    "port create {mac} --node {uuid} --pxe-enabled false": 19,
    "port create {mac} --node {uuid} --physical-network x": 34,
    "port create {mac} --node {uuid} --is-smartnic": 53,
    "port create {mac} --node {uuid} --name x": 88,
    "port create {mac} --node {uuid} --description x": 97,
    "port create {mac} --node {uuid} --vendor x": 100,
    "port create {mac} --node {uuid} --category x": 101,
    "volume connector create --node {uuid} --type ip --connector-id x": 32,
    "allocation create --resource-class x": 52,
    "allocation set x --name y": 57,
    "allocation create --resource-class x --owner y": 60,
    "deploy template create CUSTOM_A --steps []": 55,
    "runbook create --name CUSTOM_A --steps []": 92,
    "inspection rule create --actions []": 96,
}
VERSIONS = ("1.1", "1.8", "1.31", "1.58", "1.83", "1.104", "latest")
TOO_OLD = re.compile("needs API version|not supported by the server")


def test_every_command_is_tried() -> None:
    assert TRIED.keys() == commands()


def test_clients_read_from_the_first_version_on_that_has_it(lab: Lab, baremetal: Shell) -> None:
    names = {"uuid": lab.enroll("machine", "manageable"), "name": "machine"}
    for words, since in READING.items():
        typed = words.format(**names).split()
        for version in (f"1.{since}", "latest"):
            baremetal("--os-baremetal-api-version", version, *typed)
        if since > 1:
            # Before nodes had names, a name was no way to find one.
            with pytest.raises(CommandFailed, match="There is no" if "{name}" in words else TOO_OLD):
                baremetal("--os-baremetal-api-version", f"1.{since - 1}", *typed)


def test_clients_write_from_the_first_version_on_that_has_it(lab: Lab, baremetal: Shell) -> None:
    node = lab.enroll("machine")
    for number, (words, since) in enumerate(WRITING.items()):
        typed = words.format(uuid=node, mac=f"52:54:00:00:aa:{number:02x}").split()
        with pytest.raises(CommandFailed, match=TOO_OLD):
            baremetal("--os-baremetal-api-version", f"1.{since - 1}", *typed)
        try:
            baremetal("--os-baremetal-api-version", f"1.{since}", *typed)
        except CommandFailed as other:
            assert not TOO_OLD.search(str(other)), other


@pytest.mark.parametrize("version", VERSIONS)
def test_a_client_of_any_version_brings_a_node_to_use_and_back(lab: Lab, baremetal: Shell, version: str) -> None:
    def run(*words: str) -> str:
        return baremetal("--os-baremetal-api-version", version, *words)

    made = json.loads(run("node", "create", "--driver", "fake-hardware", "--extra", "a=1", "-f", "json"))
    node = made["uuid"]
    # Before 1.2 what is "available" had no name yet, and before 1.11 new nodes were so at once.
    old = version in ("1.1", "1.8")
    assert lab.shown(f"nodes/{node}")["provision_state"] == ("available" if old else "enroll")
    run("node", "set", node, "--extra", "b=2", "--property", "cpus=8")
    run("node", "power", "on", node)
    lab.wait_for(node, power_state="power on")
    if not old:
        run("node", "manage", node)
        lab.wait_for(node, provision_state="manageable")
        run("node", "provide", node)
        lab.wait_for(node, provision_state="available")
    run("node", "deploy", node)
    lab.wait_for(node, provision_state="active")
    assert json.loads(run("node", "show", node, "-f", "json"))["extra"] == {"a": 1, "b": 2}
    run("node", "undeploy", node)
    lab.wait_for(node, provision_state="available")
    run("node", "maintenance", "set", node)
    run("node", "delete", node)
    assert lab.call("GET", f"nodes/{node}").status_code == 404


def test_real_processes_do_the_same(lab: Lab) -> None:
    baremetal = Baremetal(lab.url)
    made = baremetal.json("node", "create", "--driver", "fake-hardware", "--name", "machine")
    baremetal("node", "manage", "machine", "--wait", "60")
    assert baremetal.json("node", "show", "machine", "--fields", "provision_state") == {"provision_state": "manageable"}
    with pytest.raises(CommandFailed, match="HTTP 404"):
        baremetal("node", "show", "nobody")
    baremetal("node", "delete", made["uuid"])
    assert lab.shown("nodes")["nodes"] == []
