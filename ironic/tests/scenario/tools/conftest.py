"""The machines that tools enrol: with a Redfish BMC or one of IPMI, and a web server with kernel, ramdisk and image."""

import base64
import hashlib
from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from ironic.tests.agent_double import agent_double
from ironic.tests.functional.live.asking import ask, call, follow
from ironic.tests.functional.live.ramdisk import Ramdisk
from ironic.tests.ipmi_bmc import IpmiBmc, ipmi_sim
from ironic.tests.live_service import Answering
from ironic.tests.redfish_bmc import RedfishBmc, redfish_bmc
from ironic.tests.web_server import WebServer, web_server

MACS = {"ipmi": "52:54:00:00:00:01", "redfish": "52:54:00:00:00:02"}

LOGS = b"what the ramdisk logged"


class Enrol(Protocol):
    """Brings a machine from its enrolment to use, and returns the node."""

    def __call__(self, api: Answering, driver: str, **fields: Any) -> dict[str, Any]: ...


@pytest.fixture(scope="session")
def redfish(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedfishBmc]:
    with redfish_bmc(tmp_path_factory.mktemp("redfish"), user="operator") as bmc:
        yield bmc


@pytest.fixture(scope="session")
def ipmi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IpmiBmc]:
    with ipmi_sim(tmp_path_factory.mktemp("ipmi")) as bmc:
        yield bmc


@pytest.fixture(scope="session")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    directory = tmp_path_factory.mktemp("www")
    for name in ("kernel", "ramdisk", "image.raw"):
        (directory / name).write_bytes(name.encode() * 1000)
    with web_server(directory) as running:
        yield running


@pytest.fixture
def enrol_to_active(redfish: RedfishBmc, ipmi: IpmiBmc, web: WebServer) -> Iterator[Enrol]:
    """Return the way of a machine: enrolment, first contact, deployment by an agent that comes up and writes."""

    def enrol(api: Answering, driver: str, **fields: Any) -> dict[str, Any]:
        bmc = redfish if driver == "redfish" else ipmi
        boot = {"deploy_kernel": f"{web.url}/kernel", "deploy_ramdisk": f"{web.url}/ramdisk"}
        login = bmc.driver_info()
        body = {"driver": driver, "driver_info": {**login, **boot}, "automated_clean": False, **fields}
        answer = call(api, "POST", "/v1/nodes", body)
        assert answer.status_code == 201, answer.text
        node = answer.json()
        uuid, mac = node["uuid"], MACS[driver]
        assert call(api, "POST", "/v1/ports", {"node_uuid": uuid, "address": mac}).status_code == 201
        checksum = hashlib.sha256((web.directory / "image.raw").read_bytes()).hexdigest()
        info = {"image_source": f"{web.url}/image.raw", "image_checksum": checksum, "image_disk_format": "raw"}
        for verb, state in (("manage", "manageable"), ("provide", "available")):
            assert (answer := ask(api, uuid, verb)).status_code == 202, answer.text
            follow(api, uuid, state)
        patch = [{"op": "add", "path": "/instance_info", "value": info}]
        assert call(api, "PATCH", f"/v1/nodes/{uuid}", patch).status_code == 200
        assert (answer := ask(api, uuid, "active")).status_code == 202, answer.text
        with agent_double(tls=True) as agent:
            agent.ends_at_once.add("image.install_bootloader")
            agent.results["log.collect_system_logs"] = {"system_logs": base64.b64encode(LOGS).decode()}
            follow(api, uuid, "wait call-back")
            ramdisk = Ramdisk(api, agent, uuid, mac)
            ramdisk.boot()
            assert ramdisk.next_step()["step"] == "write_image"
            ramdisk.end()
            return follow(api, uuid, "active")

    yield enrol
