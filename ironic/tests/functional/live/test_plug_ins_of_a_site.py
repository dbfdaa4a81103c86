"""What a site in production adds, installed beside a live service: hooks, middleware, a type, an inspection."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.functional.live.asking import ask, call, follow
from ironic.tests.live_service import Service, create_database, free_port, write_options
from ironic.tests.out_of_tree import install
from ironic.tests.redfish_bmc import RedfishBmc, redfish_bmc

PACKAGE = Path(__file__).parent / "rackful"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    directory, port = tmp_path_factory.mktemp("service"), free_port()
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "auth_strategy": "noauth",
            "rpc_transport": "none",
            "host": "conductor-1",
            "state_path": directory,
            "log_file": directory / "service.log",
            "enabled_hardware_types": "redfish,switch",
            "enabled_power_interfaces": "redfish,fake",
            "enabled_management_interfaces": "redfish,noop",
            "enabled_inspect_interfaces": "redfish,redfish-rackful,no-inspect",
            "enabled_boot_interfaces": "ipxe",
            "enabled_deploy_interfaces": "direct,noop",
        },
        "api": {"host_ip": "127.0.0.1", "port": port, "middleware": "rackful-groups"},
        "database": {"connection": f"sqlite:///{directory}/service.sqlite"},
        "conductor": {"sync_power_state_interval": 0},
        "redfish": {"inspection_hooks": "validate-interfaces,ports,rackful-ports,rackful-class"},
    }
    configuration = [write_options(directory / "ironic.conf", options)]
    create_database(*configuration)
    package = {"PYTHONPATH": str(install(directory, PACKAGE))}
    running = Service("ironic", configuration, directory / "service.log", port, package)
    running.await_ready()
    yield running
    assert running.stop() == 0


@pytest.fixture(scope="module")
def bmc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedfishBmc]:
    with redfish_bmc(tmp_path_factory.mktemp("bmc"), count=2) as running:
        yield running


def machine(service: Service, bmc: RedfishBmc, index: int, name: str) -> str:
    """Enroll and verify a machine; return the UUID of its node."""
    body = {
        "driver": "redfish",
        "name": name,
        "inspect_interface": "redfish-rackful",
        "driver_info": bmc.driver_info(index),
    }
    created = call(service, "POST", "/v1/nodes", body)
    assert created.status_code == 201, created.text
    uuid: str = created.json()["uuid"]
    assert call(service, "PUT", f"/v1/nodes/{uuid}/traits/CUSTOM_OLD").status_code == 204
    ask(service, uuid, "manage")
    follow(service, uuid, "manageable")
    return uuid


def inspected(service: Service, uuid: str) -> dict[str, Any]:
    assert ask(service, uuid, "inspect").status_code == 202
    return follow(service, uuid, "manageable")


def ports_of(service: Service, uuid: str) -> dict[str, Any]:
    found = call(service, "GET", f"/v1/ports/detail?node={uuid}").json()["ports"]
    return {port["address"]: port for port in found}


def test_an_inspection_with_hooks_of_the_site(service: Service, bmc: RedfishBmc) -> None:
    uuid = machine(service, bmc, 0, "r1")
    drivers = {one["name"]: one for one in call(service, "GET", "/v1/drivers?detail=true").json()["drivers"]}
    assert drivers["redfish"]["enabled_inspect_interfaces"] == ["redfish", "no-inspect", "redfish-rackful"]
    node = inspected(service, uuid)
    assert node["last_error"] is None
    macs = bmc.mac_addresses()
    ports = ports_of(service, uuid)
    assert set(ports) == set(macs)
    assert all(port["name"] == f"r1-{port['extra']['card']}" for port in ports.values())
    assert node["resource_class"] == f"cards-{len(macs)}"
    traits = call(service, "GET", f"/v1/nodes/{uuid}/traits").json()["traits"]
    assert sorted(traits) == [f"CUSTOM_CARDS_{len(macs)}", "CUSTOM_SEEN"]
    assert "all_interfaces" in node["extra"]["keys"]
    again = inspected(service, uuid)
    assert again["last_error"] is None and ports_of(service, uuid).keys() == ports.keys()


def test_a_name_that_another_port_has_is_refused_to_the_hook_alone(service: Service, bmc: RedfishBmc) -> None:
    uuid = machine(service, bmc, 1, "r2")
    inspected(service, uuid)
    ports = ports_of(service, uuid)
    first, port = next(iter(ports.items()))
    other = call(service, "POST", "/v1/nodes", {"driver": "switch"}).json()["uuid"]
    renamed = [{"op": "replace", "path": "/name", "value": "mine"}]
    assert call(service, "PATCH", f"/v1/ports/{port['uuid']}", renamed).status_code == 200
    body = {"node_uuid": other, "address": "52:54:00:00:99:01", "name": port["name"]}
    assert call(service, "POST", "/v1/ports", body).status_code == 201
    node = inspected(service, uuid)
    assert (node["last_error"], node["resource_class"]) == (None, f"cards-{len(ports)}")
    assert ports_of(service, uuid)[first]["name"] == "mine"
    assert f"Port {port['uuid']} stays as it is" in service.log


def test_a_type_that_lists_classes_of_the_service_alone(service: Service) -> None:
    created = call(service, "POST", "/v1/nodes", {"driver": "switch", "name": "s1"}).json()
    assert (created["network_interface"], created["deploy_interface"]) == ("noop", "noop")
    ask(service, created["uuid"], "manage")
    follow(service, created["uuid"], "manageable")
    assert call(service, "DELETE", f"/v1/nodes/{created['uuid']}").status_code == 204


def test_middleware_of_the_site(service: Service) -> None:
    node = call(service, "POST", "/v1/nodes", {"driver": "switch"}).json()["uuid"]
    refused = call(service, "POST", "/v1/portgroups", {"node_uuid": node, "name": "bond0"})
    assert (refused.status_code, refused.json()["error_message"]) == (400, "bond0 does not begin with rack-")
    assert call(service, "POST", "/v1/portgroups", {"node_uuid": node}).json()["name"] == "rack-0"
