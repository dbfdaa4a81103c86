"""What Metal3's operator asks, call by call: one fixed version, JSON patches of two operations, names with a tilde.

It is a Go program, so there is no library of its own to drive; these are its requests over plain HTTP.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.tests.scenario.clients.lab import Lab

# The versions it knows, the best first: abortable deployments, health, machines that stay on, virtual media, the least.
KNOWN = (110, 109, 95, 93, 89)
NAME = "metal3~host-0"
MAC = "52:54:00:00:aa:01"
INSTANCE = "11111111-2222-4333-8444-555555555555"
REPORT = json.loads((Path(__file__).parents[2] / "data" / "agent-inspection.json").read_text())
REPORT["inventory"]["bmc_address"] = None
CAPABILITIES = {"capabilities": "cpu_vt:true,boot_mode:uefi", "cpu_arch": "x86_64"}
INTERFACES = {f"{name}_interface": "fake" for name in ("bios", "boot", "deploy", "firmware", "power", "raid", "vendor")}


def removal(path: str) -> dict[str, Any]:
    return {"op": "remove", "path": path}


@dataclass(frozen=True)
class Operator:
    """The operator's view: a version, and a node by its UUID once it has one."""

    lab: Lab
    version: str

    def ask(self, method: str, path: str, body: Any = None) -> requests.Response:
        return self.lab.call(method, path, body, self.version)

    def get(self, path: str) -> Any:
        answer = self.ask("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def update(self, node: str, **values: Any) -> dict[str, Any]:
        """Patch fields, `__` for a slash; None takes one away."""
        patch = []
        for name, value in values.items():
            path = "/" + name.replace("__", "/")
            patch.append(
                {"op": "remove", "path": path} if value is None else {"op": "add", "path": path, "value": value}
            )
        answer = self.ask("PATCH", f"nodes/{node}", patch)
        assert answer.status_code == 200, answer.text
        changed: dict[str, Any] = answer.json()
        return changed

    def change(self, node: str, target: str, reached: str, **more: Any) -> dict[str, Any]:
        """Ask for a state and poll until it is there."""
        answer = self.ask("PUT", f"nodes/{node}/states/provision", {"target": target, **more})
        assert answer.status_code == 202, answer.text
        return self.lab.wait_for(node, provision_state=reached)

    def power(self, node: str, reached: str, **body: Any) -> None:
        answer = self.ask("PUT", f"nodes/{node}/states/power", body)
        assert answer.status_code == 202, answer.text
        self.lab.wait_for(node, power_state=reached, target_power_state=None)


@pytest.fixture
def operator(lab: Lab) -> Operator:
    """Choose the version as it does at its start."""
    (version,) = requests.get(f"{lab.url}/", timeout=30).json()["versions"]
    assert [int(part) for part in version["min_version"].split(".")] <= [1, 89]
    maximum = int(version["version"].split(".")[1])
    chosen = Operator(lab, f"1.{next(minor for minor in KNOWN if minor <= maximum)}")
    assert chosen.get("drivers")["drivers"] != []
    return chosen


def enroll(operator: Operator) -> str:
    """Look for the host by name and by address, find nothing, and create it."""
    assert operator.ask("GET", f"nodes/{NAME}").status_code == 404
    assert operator.ask("GET", f"nodes/{INSTANCE}").status_code == 404
    assert operator.get(f"ports?address={MAC}&fields=node_uuid,uuid,address")["ports"] == []
    body = {
        "driver": "fake-hardware",
        "name": NAME,
        "driver_info": {"address": "http://127.0.0.1", "password": "s3cret", "force_persistent_boot_device": "Default"},
        "disable_power_off": False,
        "properties": CAPABILITIES,
        "inspect_interface": "agent",
        "management_interface": "fake",
        **INTERFACES,
    }
    made = operator.ask("POST", "nodes", body)
    assert made.status_code == 201, made.text
    node: str = made.json()["uuid"]
    assert operator.ask("POST", "nodes", body).status_code == 409
    port = operator.ask("POST", "ports", {"node_uuid": node, "address": MAC, "pxe_enabled": True})
    assert port.status_code == 201, port.text
    (found,) = operator.get(f"ports?address={MAC}&fields=node_uuid,uuid,address")["ports"]
    assert found["node_uuid"] == node
    (found,) = operator.get(f"ports?node_uuid={node}&fields=node_uuid,uuid,address")["ports"]
    assert operator.get(f"nodes/{NAME}")["uuid"] == node
    return node


@pytest.fixture
def node(operator: Operator) -> str:
    """Enroll a host and make the first contact."""
    uuid = enroll(operator)
    operator.change(uuid, "manage", "manageable")
    return uuid


@pytest.fixture
def available(operator: Operator, node: str) -> str:
    """Offer the host without cleaning it."""
    operator.update(node, automated_clean=False)
    operator.change(node, "provide", "available")
    return node


@pytest.mark.parametrize("minor", KNOWN)
def test_every_version_it_may_choose_shows_what_it_reads(lab: Lab, minor: int) -> None:
    operator = Operator(lab, f"1.{minor}")
    shown = operator.get(f"nodes/{lab.enroll('host')}")
    read = {
        "uuid", "name", "provision_state", "target_provision_state", "power_state", "target_power_state", "last_error",
        "fault", "maintenance", "maintenance_reason", "reservation", "automated_clean", "clean_step", "deploy_step",
        "deploy_interface", "driver_info", "driver_internal_info", "instance_info", "instance_uuid", "properties",
        "boot_interface",
    }  # fmt: skip
    assert read <= shown.keys()
    assert ("disable_power_off" in shown, "health" in shown) == (minor >= 95, minor >= 109)


def test_a_host_is_inspected(operator: Operator, node: str) -> None:
    assert operator.ask("GET", f"nodes/{node}/inventory").status_code == 404
    operator.change(node, "inspect", "inspect wait")
    operator.change(node, "abort", "inspect failed")
    operator.change(node, "inspect", "inspect wait")
    assert operator.ask("POST", f"continue_inspection?node_uuid={node}", REPORT).status_code == 200
    operator.lab.wait_for(node, provision_state="manageable")
    found = operator.get(f"nodes/{node}/inventory")
    assert found["inventory"] == REPORT["inventory"]
    assert "plugin_data" in found


def test_a_host_is_prepared(operator: Operator, node: str) -> None:
    goal = {"logical_disks": [{"size_gb": 100, "raid_level": "1", "is_root_volume": True}]}
    assert operator.ask("PUT", f"nodes/{node}/states/raid", goal).status_code == 204
    settings = [{"name": "ProcVirtualization", "value": "Enabled"}]
    steps = [
        {"interface": "bios", "step": "apply_configuration", "args": {"settings": settings}},
        {"interface": "firmware", "step": "update", "args": {"settings": [{"component": "bmc", "url": "http://x/2"}]}},
    ]
    prepared = operator.change(node, "clean", "manageable", clean_steps=steps)
    assert (prepared["last_error"], prepared["clean_step"]) == (None, {})
    (setting,) = operator.get(f"nodes/{node}/bios")["bios"]
    assert (setting["name"], setting["value"]) == ("ProcVirtualization", "Enabled")
    assert "allowable_values" in operator.get(f"nodes/{node}/bios?detail=true")["bios"][0]
    (component,) = operator.get(f"nodes/{node}/firmware")["firmware"]
    assert (component["component"], component["current_version"]) == ("bmc", "2")
    assert prepared["target_raid_config"] == goal
    failed = operator.change(node, "clean", "clean failed", clean_steps=[{"interface": "bios", "step": "unheard_of"}])
    assert "unheard_of" in failed["last_error"]
    assert operator.ask("DELETE", f"nodes/{node}/maintenance").status_code == 202
    operator.change(node, "manage", "manageable")


def test_a_host_is_provisioned_serviced_and_given_back(operator: Operator, available: str) -> None:
    node = available
    operator.update(
        node,
        instance_uuid=INSTANCE,
        instance_info__image_source="http://127.0.0.1/image.qcow2",
        instance_info__image_os_hash_algo="sha256",
        instance_info__image_os_hash_value="abc",
        instance_info__image_disk_format="qcow2",
        instance_info__capabilities={"boot_option": "local"},
        properties__root_device={"name": "s== /dev/vda"},
        properties__local_gb=50,
        driver_info__deploy_kernel="http://127.0.0.1/kernel",
    )
    checked = operator.get(f"nodes/{node}/validate")
    assert (checked["boot"]["result"], checked["deploy"]["result"]) == (True, True)
    assert operator.ask("PUT", f"nodes/{node}/maintenance", {"reason": "x"}).status_code == 202
    refused = operator.ask("PUT", f"nodes/{node}/states/provision", {"target": "active"})
    assert (refused.status_code, "maintenance" in refused.text) == (400, True)
    assert operator.ask("DELETE", f"nodes/{node}/maintenance").status_code == 202
    drive = {"meta_data": {"name": "host-0"}, "user_data": "#cloud-config", "network_data": {}}
    deployed = operator.change(node, "active", "active", configdrive=drive, deploy_steps=[])
    assert deployed["instance_info"]["configdrive"] == "******"
    for body, reached in (
        ({"target": "power on"}, "power on"),
        ({"target": "rebooting"}, "power on"),
        ({"target": "soft power off", "timeout": 30}, "power off"),
        ({"target": "power off"}, "power off"),
    ):
        operator.power(node, reached, **body)
    settings = [{"name": "ProcVirtualization", "value": "Disabled"}]
    refused = operator.ask("PUT", f"nodes/{node}/states/provision", {"target": "provide"})
    assert refused.status_code == 400
    step = {"interface": "bios", "step": "factory_reset", "args": {}}
    operator.change(node, "service", "active", service_steps=[step])
    assert operator.get(f"nodes/{node}")["service_step"] == {}
    assert settings not in operator.get(f"nodes/{node}/bios")["bios"]
    given_back = operator.change(node, "deleted", "available")
    assert (given_back["instance_uuid"], given_back["instance_info"]) == (None, {})


def test_fields_are_taken_away_again(operator: Operator, node: str) -> None:
    changed = operator.update(
        node, instance_info__boot_iso="http://127.0.0.1/x.iso", deploy_interface="direct", conductor_group=""
    )
    assert changed["deploy_interface"] == "direct"
    changed = operator.update(node, instance_info__boot_iso=None, deploy_interface=None, name="metal3~host-1")
    assert (changed["instance_info"], changed["deploy_interface"]) == ({}, "fake")
    assert operator.get("nodes/metal3~host-1")["uuid"] == node
    # What is not there can't be taken away; it asks for what it has seen only.
    missing = operator.ask("PATCH", f"nodes/{node}", [removal("/instance_info/boot_iso")])
    assert missing.status_code == 400


def test_a_running_host_is_adopted(operator: Operator, node: str) -> None:
    operator.update(node, instance_info__image_source="http://127.0.0.1/image", instance_info__image_checksum="abc")
    adopted = operator.change(node, "adopt", "active")
    assert adopted["last_error"] is None


def test_hosts_are_counted(operator: Operator) -> None:
    for number in range(5):
        operator.lab.enroll(f"host-{number}")
    path, names = "nodes?fields=uuid,name,provision_state,boot_interface&limit=2", []
    while path:
        page = operator.get(path)
        names += [node["name"] for node in page["nodes"]]
        path = page.get("next", "").partition("/v1/")[2]
    assert sorted(names) == [f"host-{number}" for number in range(5)]


def test_a_host_is_removed(operator: Operator, available: str) -> None:
    operator.change(available, "active", "active")
    assert operator.ask("DELETE", f"nodes/{available}").status_code == 409
    reason = {"reason": "deleted by the operator"}
    assert operator.ask("PUT", f"nodes/{available}/maintenance", reason).status_code == 202
    assert operator.ask("DELETE", f"nodes/{available}").status_code == 204
    assert operator.ask("DELETE", f"nodes/{available}").status_code == 404


def test_soft_power_that_a_driver_has_not_is_a_400(lab: Lab, operator: Operator) -> None:
    node = lab.enroll("host", "manageable", power_interface="fake", management_interface="noop")
    answer = operator.ask("PUT", f"nodes/{node}/states/power", {"target": "soft power off", "timeout": 0})
    assert answer.status_code == 400


def test_virtual_media_and_subscriptions(lab: Lab, operator: Operator) -> None:
    node = lab.enroll("host", "manageable", "lab")
    image = {"device_type": "cdrom", "image_url": "http://127.0.0.1/data.iso", "image_download_source": "http"}
    assert operator.ask("POST", f"nodes/{node}/vmedia", image).status_code == 204
    lab.wait_until(f"nodes/{node}/vmedia", lambda drives: drives)
    assert operator.ask("DELETE", f"nodes/{node}/vmedia?device_types=cdrom").status_code == 204
    lab.wait_until(f"nodes/{node}/vmedia", lambda drives: not drives)
    refused = operator.ask("POST", f"nodes/{node}/vendor_passthru?method=create_subscription", {"Destination": "x"})
    assert (refused.status_code, "create_subscription" in refused.text or "vendor method" in refused.text) == (
        400,
        True,
    )
