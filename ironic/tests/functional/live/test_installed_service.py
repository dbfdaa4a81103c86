"""The file of the guide to the installation, as it stands, leads machines of each type it enables to an instance."""

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.agent_double import agent_double
from ironic.tests.functional.live.asking import ask, call, follow
from ironic.tests.functional.live.ramdisk import Ramdisk
from ironic.tests.functional.live.test_trying_it_out import install
from ironic.tests.ipmi_bmc import ipmi_sim
from ironic.tests.live_service import Service, all_in_one, free_port
from ironic.tests.redfish_bmc import redfish_bmc

MAC = "52:54:00:00:00:01"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run the service from the page's file; the options that are added are the loopback's and those of a ramdisk."""
    directory, port = tmp_path_factory.mktemp("installed"), free_port()
    path = install(directory, port)
    (directory / "images").mkdir()
    named = {}
    for name in ("deploy_kernel", "deploy_ramdisk"):
        (directory / "images" / name).write_bytes(name.encode() * 100)
        named[name] = f"file://{directory}/images/{name}"
    lines = "".join(f"{name} = {value}\n" for name, value in named.items())
    text = path.read_text().replace("[conductor]\n", f"[conductor]\n{lines}")
    path.write_text(
        f"{text}\n[outgoing]\nallow_loopback = true\n[agent]\npost_deploy_get_power_state_retries = 0\n"
        "deploy_logs_collect = never\n[ipmi]\nmin_command_interval = 0\n"
    )
    with all_in_one([path], directory / "ironic.log", port, from_scratch=True) as running:
        yield running


@pytest.fixture(params=["redfish", "redfish by virtual media", "ipmi"])
def enrolled(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Play a BMC; yield what enrols its machine."""
    with contextlib.ExitStack() as stack:
        if request.param == "ipmi":
            info = stack.enter_context(ipmi_sim(tmp_path / "bmc")).driver_info()
            yield {"driver": "ipmi", "driver_info": info}
            return
        (tmp_path / "bmc").mkdir()
        bmc = stack.enter_context(redfish_bmc(tmp_path / "bmc"))
        body = {"driver": "redfish", "driver_info": {"redfish_address": bmc.address}}
        yield body | ({"boot_interface": "redfish-virtual-media"} if "media" in request.param else {})


def test_a_machine_becomes_available_and_is_deployed(service: Service, enrolled: dict[str, Any]) -> None:
    assert "WARNING" not in service.log.partition("is ready after")[0]
    uuid = call(service, "POST", "/v1/nodes", enrolled).json()["uuid"]
    assert call(service, "POST", "/v1/ports", {"node_uuid": uuid, "address": MAC}).status_code == 201
    ask(service, uuid, "manage")
    follow(service, uuid, "manageable")
    verdict = call(service, "GET", f"/v1/nodes/{uuid}/validate").json()["boot"]
    assert verdict["result"] is True, verdict
    with agent_double(tls=True) as agent:
        agent.ends_at_once.add("image.install_bootloader")
        ramdisk = Ramdisk(service, agent, uuid, MAC)
        assert ask(service, uuid, "provide").status_code == 202
        follow(service, uuid, "clean wait")
        ramdisk.boot(service.log_file.parent / "httpboot")
        while call(service, "GET", f"/v1/nodes/{uuid}").json()["provision_state"].startswith("clean"):
            if any(command["command_status"] == "RUNNING" for command in agent.commands):
                ramdisk.end()
            time.sleep(0.05)
        follow(service, uuid, "available")
        image = {"image_source": "http://127.0.0.1:9/disk.raw", "image_checksum": "a" * 64}
        patch = [{"op": "add", "path": "/instance_info", "value": image}]
        assert call(service, "PATCH", f"/v1/nodes/{uuid}", patch).status_code == 200
        assert ask(service, uuid, "active").status_code == 202
        follow(service, uuid, "wait call-back")
        ramdisk.boot(service.log_file.parent / "httpboot")
        assert ramdisk.next_step()["step"] == "write_image"
        ramdisk.end()
        assert follow(service, uuid, "active")["power_state"] == "power on"
    assert call(service, "PUT", f"/v1/nodes/{uuid}/maintenance", {}).status_code == 202
    assert call(service, "DELETE", f"/v1/nodes/{uuid}").status_code == 204


def test_a_directory_that_can_not_be_written_is_named_at_the_start_and_by_validate(tmp_path: Path) -> None:
    port = free_port()
    path = install(tmp_path, port)
    (tmp_path / "file").touch()
    path.write_text(re.sub(r"(tftp_master_path =).*", rf"\1 {tmp_path}/file/ramdisks", path.read_text()))
    said = f"{tmp_path}/file/ramdisks ([pxe]tftp_master_path) can't be a directory, because {tmp_path}/file is none."
    with all_in_one([path], tmp_path / "ironic.log", port, from_scratch=True) as service:
        assert said in service.log
        node = {"driver": "redfish", "driver_info": {"redfish_address": "http://127.0.0.1:9"}}
        uuid = call(service, "POST", "/v1/nodes", node).json()["uuid"]
        assert call(service, "POST", "/v1/ports", {"node_uuid": uuid, "address": MAC}).status_code == 201
        for name in ("deploy_kernel", "deploy_ramdisk"):
            patch = [{"op": "add", "path": f"/driver_info/{name}", "value": "http://127.0.0.1:9/it"}]
            assert call(service, "PATCH", f"/v1/nodes/{uuid}", patch).status_code == 200
        verdict = call(service, "GET", f"/v1/nodes/{uuid}/validate").json()["boot"]
        assert verdict["result"] is False and said in verdict["reason"]
