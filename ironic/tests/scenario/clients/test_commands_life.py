"""Commands that move a node through its life; each is followed to the state it ends in."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.scenario.clients.exercises import exercises
from ironic.tests.scenario.clients.lab import Lab
from ironic.tests.scenario.clients.shell import Shell
from ironic.tests.scenario.command_line import CommandFailed

RESET = [{"interface": "bios", "step": "factory_reset"}]
HOLD = {"interface": "deploy", "step": "hold"}


def steps(*more: dict[str, Any]) -> str:
    return json.dumps([*RESET, *more])


@exercises("node manage", "node inspect", "node provide", "node deploy", "node undeploy")
def test_from_enroll_to_active_and_back(lab: Lab, baremetal: Shell) -> None:
    node = lab.enroll("machine")
    wait = ("machine", "--wait", "60")
    assert "manageable" in baremetal("node", "manage", *wait)
    assert lab.shown(f"nodes/{node}")["provision_state"] == "manageable"
    baremetal("node", "inspect", *wait)
    assert lab.shown(f"nodes/{node}")["inspection_finished_at"] is not None
    baremetal("node", "provide", *wait)
    baremetal("node", "deploy", *wait)
    assert lab.shown(f"nodes/{node}")["provision_state"] == "active"
    with pytest.raises(CommandFailed, match="not possible"):
        baremetal("node", "provide", "machine")
    baremetal("node", "undeploy", *wait)
    assert lab.shown(f"nodes/{node}")["provision_state"] == "available"


@exercises("node manage", "node clean")
def test_waiting_for_what_fails_ends_with_the_reason(lab: Lab, baremetal: Shell) -> None:
    node = lab.enroll("machine", power_interface="redfish")
    with pytest.raises(CommandFailed, match="redfish_address|stable state enroll"):
        baremetal("node", "manage", "machine", "--wait", "60")
    assert "redfish_address" in lab.wait_for(node, provision_state="enroll")["last_error"]
    lab.enroll("other", "manageable")
    bad = json.dumps([{"interface": "bios", "step": "unheard_of"}])
    with pytest.raises(CommandFailed, match="unheard_of"):
        baremetal("node", "clean", "other", "--wait", "60", "--clean-steps", bad)
    baremetal("node", "manage", "other", "--wait", "60")
    baremetal("node", "clean", "other", "--wait", "60", "--clean-steps", steps())


@exercises("node deploy", "node rebuild")
def test_config_drives_and_deploy_steps(lab: Lab, baremetal: Shell, tmp_path: Path) -> None:
    node = lab.enroll("machine", "available")
    drive = json.dumps({"meta_data": {"uuid": "x"}, "user_data": "#cloud-config"})
    step = RESET[0] | {"priority": 150, "args": {}}
    baremetal("node", "deploy", "machine", "--deploy-steps", json.dumps([step]), "--config-drive", drive)
    shown = lab.wait_for(node, provision_state="active")
    assert shown["instance_info"]["configdrive"] == "******"
    packed = tmp_path / "drive"
    packed.write_bytes(base64.b64encode(gzip.compress(b"an image")))
    baremetal("node", "rebuild", "machine", "--config-drive", str(packed))
    lab.wait_for(node, provision_state="active", target_provision_state=None)


@exercises("node rescue", "node unrescue", "node rebuild")
def test_rescue(lab: Lab, baremetal: Shell) -> None:
    node = lab.enroll("machine", "active")
    baremetal("node", "rescue", "machine", "--rescue-password", "s3cret", "--wait", "60")
    shown = lab.wait_for(node, provision_state="rescue")
    assert "s3cret" not in json.dumps(shown)
    baremetal("node", "unrescue", "machine", "--wait", "60")
    lab.wait_for(node, provision_state="active")
    baremetal("node", "rebuild", "machine")
    lab.wait_for(node, provision_state="active", target_provision_state=None)


@exercises("node clean", "node service", "node abort", "node unhold")
def test_steps_by_hand(lab: Lab, baremetal: Shell) -> None:
    node = lab.enroll("machine", "manageable")
    power_on = json.dumps([{"interface": "power", "step": "power_on"}])
    baremetal("node", "clean", "machine", "--clean-steps", power_on, "--disable-ramdisk")
    lab.wait_for(node, provision_state="manageable", power_state="power on")
    baremetal("node", "clean", "machine", "--clean-steps", steps())
    lab.wait_for(node, provision_state="manageable")
    baremetal("node", "clean", "machine", "--clean-steps", steps(HOLD))
    lab.wait_for(node, provision_state="clean hold")
    baremetal("node", "unhold", "machine")
    lab.wait_for(node, provision_state="manageable")
    baremetal("node", "clean", "machine", "--clean-steps", steps(HOLD))
    lab.wait_for(node, provision_state="clean hold")
    baremetal("node", "abort", "machine")
    lab.wait_for(node, provision_state="clean failed")
    baremetal("node", "manage", "machine")
    lab.wait_for(node, provision_state="manageable")
    baremetal("node", "maintenance", "unset", "machine")
    baremetal("node", "provide", "machine")
    lab.wait_for(node, provision_state="available")
    baremetal("node", "deploy", "machine")
    lab.wait_for(node, provision_state="active")
    baremetal("node", "service", "machine", "--service-steps", steps())
    lab.wait_for(node, provision_state="active", service_step={})


@exercises("runbook create", "node clean")
def test_runbooks_at_work(lab: Lab, baremetal: Shell) -> None:
    node = lab.enroll("machine", "manageable")
    book = json.dumps([RESET[0] | {"order": 1, "args": {}}])
    baremetal("runbook", "create", "--name", "CUSTOM_TIDY", "--steps", book)
    with pytest.raises(CommandFailed, match="no trait in common"):
        baremetal("node", "clean", "machine", "--runbook", "CUSTOM_TIDY")
    baremetal("node", "add", "trait", "machine", "CUSTOM_DUSTY")
    baremetal("runbook", "trait", "add", "CUSTOM_TIDY", "CUSTOM_DUSTY")
    baremetal("node", "clean", "machine", "--runbook", "CUSTOM_TIDY")
    lab.wait_for(node, provision_state="manageable")
    events = [one["event"] for one in lab.shown(f"nodes/{node}/history?detail=true")["history"]]
    assert any("factory_reset ended" in event for event in events)


@exercises("node adopt", "node set", "node undeploy")
def test_adoption_and_protection(lab: Lab, baremetal: Shell) -> None:
    node = lab.enroll("machine", "manageable")
    baremetal("node", "adopt", "machine")
    lab.wait_for(node, provision_state="active")
    baremetal("node", "set", "machine", "--protected", "--protected-reason", "mine")
    with pytest.raises(CommandFailed, match="protected"):
        baremetal("node", "undeploy", "machine")
    baremetal("node", "unset", "machine", "--protected")
    assert lab.shown(f"nodes/{node}")["protected_reason"] is None
    baremetal("node", "undeploy", "machine")
    lab.wait_for(node, provision_state="available")
