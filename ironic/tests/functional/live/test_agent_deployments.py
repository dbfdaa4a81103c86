"""Deployments by an agent against a whole running service: images through this host, config drives, logical disks."""

import base64
import gzip
import hashlib
import io
import json
import shlex
import subprocess
from collections.abc import Iterator
from typing import Any

import pycdlib
import pytest
import requests

from ironic.tests.agent_double import agent_double
from ironic.tests.functional.live.asking import ask, call, follow
from ironic.tests.functional.live.ramdisk import Ramdisk
from ironic.tests.live_service import Service, all_in_one_below, free_port
from ironic.tests.repository import ROOT
from ironic.tests.scenario.command_line import Baremetal
from ironic.tests.web_server import WebServer, web_server

CONTENT = b"a small system" * 10_000
MAC = "52:54:00:00:00:01"
INTERFACES = {
    "boot": "fake",
    "deploy": "autodetect,direct,custom-agent,fake",
    "power": "fake",
    "management": "noop,fake",
    "network": "noop",
    "storage": "noop",
    "raid": "agent,no-raid",
    **{kind: f"no-{kind}" for kind in ("bios", "console", "firmware", "inspect", "rescue", "vendor")},
}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """Serve a directory with an image, its checksum in a list, and what the service offers."""
    directory = tmp_path_factory.mktemp("www")
    (directory / "content").write_bytes(CONTENT)
    image = directory / "disk.qcow2"
    subprocess.run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", directory / "content", image], check=True)
    value = hashlib.sha256(image.read_bytes()).hexdigest()
    (directory / "SHA256SUMS").write_text(f"{'0' * 64}  other.qcow2\n{value} *disk.qcow2\n")
    with web_server(directory) as running:
        yield running


@pytest.fixture(scope="module")
def service(web: WebServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory, port = tmp_path_factory.mktemp("service"), free_port()
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "state_path": directory,
            "debug": True,
            "enabled_hardware_types": "fake-hardware",
            **{f"enabled_{kind}_interfaces": names for kind, names in INTERFACES.items()},
            "default_deploy_interface": "autodetect",
            "default_management_interface": "noop",
            "default_raid_interface": "agent",
        },
        "service_catalog": {"endpoint_override": f"http://127.0.0.1:{port}"},
        "conductor": {"automated_clean": False},
        "agent": {
            "image_download_source": "local",
            "post_deploy_get_power_state_retries": 0,
            "deploy_logs_collect": "never",
        },
        "deploy": {"http_root": web.directory, "http_url": web.url},
        "pxe": {"instance_master_path": directory / "masters"},
    }
    with all_in_one_below(directory, options, port) as running:
        yield running


@pytest.fixture
def machine(service: Service) -> Iterator[tuple[str, Ramdisk]]:
    """Enroll a machine, make it manageable; return its UUID and its ramdisk."""
    uuid = call(service, "POST", "/v1/nodes", {"driver": "fake-hardware"}).json()["uuid"]
    assert call(service, "POST", "/v1/ports", {"node_uuid": uuid, "address": MAC}).status_code == 201
    assert ask(service, uuid, "manage").status_code == 202
    follow(service, uuid, "manageable")
    with agent_double(tls=True) as agent:
        agent.ends_at_once.add("image.install_bootloader")
        yield uuid, Ramdisk(service, agent, uuid, MAC)
    assert call(service, "PUT", f"/v1/nodes/{uuid}/maintenance", {}).status_code == 202
    assert call(service, "DELETE", f"/v1/nodes/{uuid}").status_code == 204


def files_of(drive: str) -> dict[str, bytes]:
    iso = pycdlib.PyCdlib()
    iso.open_fp(io.BytesIO(gzip.decompress(base64.b64decode(drive))))
    found = {}
    for directory, _, names in iso.walk(joliet_path="/"):
        for name in names:
            content = io.BytesIO()
            iso.get_file_from_iso_fp(content, joliet_path=f"{directory}/{name}")
            found[f"{directory}/{name}"] = content.getvalue()
    iso.close()
    return found


def test_a_machine_is_deployed_and_given_back(service: Service, web: WebServer, machine: tuple[str, Ramdisk]) -> None:
    uuid, ramdisk = machine
    info = {"image_source": f"{web.url}/disk.qcow2", "image_checksum": f"{web.url}/SHA256SUMS",
            "image_disk_format": "qcow2", "root_device": {"size": ">= 10", "model": "<in> fast"}}  # fmt: skip
    patch = [{"op": "add", "path": "/instance_info", "value": info}]
    assert call(service, "PATCH", f"/v1/nodes/{uuid}", patch).status_code == 200
    ask(service, uuid, "provide")
    follow(service, uuid, "available")
    drive = {"meta_data": {"hostname": "one"}, "user_data": "#cloud-config\n# canary\n"}
    assert ask(service, uuid, "active", configdrive=drive).status_code == 202
    ramdisk.boot()
    step = ramdisk.next_step()
    assert (step["interface"], step["step"]) == ("deploy", "write_image")
    told = step["args"]["image_info"]
    image = requests.get(told["urls"][0], timeout=30).content
    assert image.startswith(CONTENT)
    assert (told["disk_format"], told["os_hash_value"]) == ("raw", hashlib.sha256(image).hexdigest())
    files = files_of(step["args"]["configdrive"])
    assert json.loads(files["/openstack/latest/meta_data.json"]) == {"uuid": uuid, "hostname": "one"}
    ramdisk.end()
    node = follow(service, uuid, "active")
    assert (node["deploy_interface"], node["power_state"]) == ("direct", "power on")
    assert requests.get(told["urls"][0], timeout=30).status_code == 404
    assert ask(service, uuid, "deleted").status_code == 202
    node = follow(service, uuid, "available")
    assert (node["deploy_interface"], node["instance_info"]) == ("autodetect", {})
    assert web.sent.count("/disk.qcow2") == 1
    assert "canary" not in service.log
    assert ramdisk.agent.token not in service.log


@pytest.mark.parametrize("info, drive, text", [
    ({}, None, "None of the deploy interfaces"),
    ({"image_source": "ftp://x/y"}, None, "must be a URL"),
    ({"image_source": "http://x/y"}, None, "needs a checksum"),
    ({"image_source": "http://x/y", "image_checksum": "a" * 64}, "bm90aGluZw==", "neither an ISO"),
    ({"image_source": "http://x/y", "image_checksum": "a" * 64, "image_type": "partition"}, None, "root_gb"),
    ({"image_source": "http://x/y", "image_checksum": "a" * 64, "root_device": {"size": "<= big"}}, None, "size"),
])  # fmt: skip
def test_what_can_not_be_deployed_is_refused_and_changes_nothing(
    service: Service, machine: tuple[str, Ramdisk], info: dict[str, Any], drive: str | None, text: str
) -> None:
    uuid, _ = machine
    call(service, "PATCH", f"/v1/nodes/{uuid}", [{"op": "add", "path": "/instance_info", "value": info}])
    ask(service, uuid, "provide")
    before = follow(service, uuid, "available")
    answer = ask(service, uuid, "active", **({"configdrive": drive} if drive else {}))
    assert answer.status_code == 400
    assert text in answer.text
    after = follow(service, uuid, "available")
    assert {**after, "updated_at": None} == {**before, "updated_at": None}


def test_logical_disks_are_made(service: Service, machine: tuple[str, Ramdisk]) -> None:
    uuid, ramdisk = machine
    wish = {"logical_disks": [{"raid_level": "1", "size_gb": 20, "is_root_volume": True, "controller": "software"}]}
    bad = {"logical_disks": wish["logical_disks"] * 3}
    assert call(service, "PUT", f"/v1/nodes/{uuid}/states/raid", bad).status_code == 400
    assert call(service, "PUT", f"/v1/nodes/{uuid}/states/raid", wish).status_code == 204
    steps = [{"interface": "raid", "step": f"{act}_configuration"} for act in ("delete", "create")]
    assert ask(service, uuid, "clean", clean_steps=steps).status_code == 202
    ramdisk.boot()
    assert ramdisk.next_step()["step"] == "delete_configuration"
    ramdisk.end(result="gone")
    assert ramdisk.next_step()["step"] == "create_configuration"
    ramdisk.end(result=wish)
    node = follow(service, uuid, "manageable")
    assert node["raid_config"]["logical_disks"] == wish["logical_disks"]
    assert node["properties"] == {"local_gb": 20, "capabilities": "raid_level:1"}


def test_what_may_be_said_of_a_machine_is_listed(service: Service) -> None:
    properties = call(service, "GET", "/v1/drivers/fake-hardware/properties").json()
    assert "agent_verify_ca" in properties
    disks = call(service, "GET", "/v1/drivers/fake-hardware/raid/logical_disk_properties").json()
    assert {"raid_level", "size_gb", "controller"} <= disks.keys()


def commands_of(page: str) -> list[list[str]]:
    """Return the commands of a page's first console block, each as words."""
    block = (ROOT / "doc" / page).read_text().partition("```console\n")[2].partition("```")[0]
    return [shlex.split(line) for line in block.replace("\\\n", " ").splitlines()]


def test_the_commands_of_the_page_work(service: Service, web: WebServer, machine: tuple[str, Ramdisk]) -> None:
    uuid, ramdisk = machine
    ask(service, uuid, "provide")
    follow(service, uuid, "available")
    named = {"machine": uuid, "http://images.example": web.url}
    say, deploy, undeploy = [[replaced(word, named) for word in words[2:]] for words in commands_of("deploying.md")]
    Baremetal(service.url)(*say)
    Baremetal(service.url)(*deploy)
    ramdisk.boot()
    drive = files_of(ramdisk.next_step()["args"]["configdrive"])
    assert drive["/openstack/latest/user_data"] == b"#cloud-config\n"
    ramdisk.end()
    follow(service, uuid, "active")
    Baremetal(service.url)(*undeploy)
    follow(service, uuid, "available")


def replaced(text: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        text = text.replace(old, new)
    return text
