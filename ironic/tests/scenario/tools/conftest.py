"""The machines that tools enrol: with a Redfish BMC or one of IPMI, and a web server with kernel, ramdisk and image."""

from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from ironic.tests.ipmi_bmc import IpmiBmc, ipmi_sim
from ironic.tests.live_service import Answering
from ironic.tests.redfish_bmc import RedfishBmc, redfish_bmc
from ironic.tests.scenario import enrolment
from ironic.tests.web_server import WebServer, web_server

MACS = {"ipmi": "52:54:00:00:00:01", "redfish": "52:54:00:00:00:02"}


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
        return enrolment.enrol_to_active(api, driver, bmc.driver_info(), MACS[driver], web, **fields)

    yield enrol
