"""Classic drivers at work: the one of the tree and those of a third party, from node creation to active and back."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.hardware_interfaces import KINDS
from ironic.tests.databases import database_with_tables
from ironic.tests.live_service import Options, Service, create_database, free_port, write_options
from ironic.tests.out_of_tree import lay_out
from ironic.tests.site import FAKES, GENERAL, NONE, Site, eventually

PACKAGE = Path(__file__).with_name("classic_vendor.py")
ENTRY_POINTS = (
    "[ironic.drivers]\nold-acme = classic_vendor:OldAcmeDriver\nold-acme-small = classic_vendor:SmallOldAcmeDriver\n"
)
CLASSIC = ["fake", "old-acme", "old-acme-small"]
INTERFACES = [f"{kind}_interface" for kind in KINDS]
Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Run an API without the package, two conductors with classic drivers, and one without."""
    directory = tmp_path_factory.mktemp("classic")
    path = {"PYTHONPATH": str(lay_out(directory / "package", PACKAGE, ENTRY_POINTS))}
    options: Options = {
        "DEFAULT": {"enabled_drivers": ",".join(CLASSIC)},
        "conductor": {"sync_power_state_interval": 2},
    }
    with database_with_tables("postgresql", directory) as database:
        made = Site(directory, database, environments={"old": path, "older": path})
        try:
            conductors = [made.start_conductor(name, options) for name in ("old", "older")]
            for service in (made.start_api(), made.start_conductor("new"), *conductors):
                service.await_ready()
            yield made
            assert "Traceback" not in made.log
        finally:
            made.stop()


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    (tmp_path / "power").write_text("power off")
    (tmp_path / "journal").touch()
    return tmp_path


def enroll(running: Site, driver: str, machine: Path) -> str:
    uuid: str = running.create_node(driver=driver, driver_info={"old_acme_directory": str(machine)})["uuid"]
    return uuid


def provision(running: Site, uuid: str, verb: str, state: str, **more: Any) -> dict[str, Any]:
    """Send a verb, wait for a state of a free node, and return the node."""
    running.put(f"/v1/nodes/{uuid}/states/provision", {"target": verb, **more})

    def look() -> tuple[str, str | None]:
        node = running.node(uuid)
        return node["provision_state"], node["reservation"]

    eventually(look, (state, None))
    node = running.node(uuid)
    assert node["last_error"] is None
    return node


def journal(machine: Path) -> list[str]:
    return (machine / "journal").read_text().splitlines()


@pytest.mark.demand("S19", "S28", "S30", "S36")
def test_the_api_knows_the_drivers_from_the_conductors(running: Site) -> None:
    classic = running.get("/v1/drivers?type=classic").json()["drivers"]
    assert [(one["name"], one["type"], len(one["hosts"])) for one in classic] == [
        (name, "classic", 2) for name in CLASSIC
    ]
    dynamic = running.get("/v1/drivers?type=dynamic").json()["drivers"]
    assert [(one["name"], len(one["hosts"])) for one in dynamic] == [("fake-hardware", 3)]
    shown = running.get("/v1/drivers/old-acme").json()
    assert shown["type"] == "classic"
    assert {shown[f"default_{name}"] for name in INTERFACES} | {shown[f"enabled_{name}s"] for name in INTERFACES} == {
        None
    }
    assert running.get("/v1/drivers/old-acme/properties").json().keys() == {"old_acme_directory", "old_acme_tag"}
    assert running.get("/v1/drivers/old-acme/vendor_passthru/methods").json().keys() == {"hot_line"}
    assert running.get("/v1/drivers/old-acme/vendor_passthru/hot_line").json() == {"number": "+1 555 0100"}
    assert running.get("/v1/drivers/old-acme-small/vendor_passthru/methods").json() == {}


@pytest.mark.demand("S19", "S23")
@pytest.mark.parametrize("driver", CLASSIC)
def test_a_node_lives_from_its_creation_to_active_and_back(running: Site, driver: str, machine: Path) -> None:
    uuid = enroll(running, driver, machine)
    node = running.node(uuid)
    assert {node[name] for name in INTERFACES} == {None}
    assert running.owner(node) in ("old", "older")
    provision(running, uuid, "manage", "manageable")
    provision(running, uuid, "provide", "available")
    provision(running, uuid, "active", "active")
    provision(running, uuid, "rebuild", "active")
    node = provision(running, uuid, "deleted", "available")
    assert {node[name] for name in INTERFACES} == {None}
    if driver != "fake":
        done = [line for line in journal(machine) if not line.startswith("power")]
        assert done == ["erase", "prepare", "deploy", "prepare", "deploy", "tear down", "erase"]
    assert running.ask("PUT", f"/v1/nodes/{uuid}/maintenance").status_code == 202
    assert running.ask("DELETE", f"/v1/nodes/{uuid}").status_code == 204


@pytest.mark.demand("S19")
def test_steps_run_with_their_arguments(running: Site, machine: Path) -> None:
    uuid = enroll(running, "old-acme", machine)
    provision(running, uuid, "manage", "manageable")
    polish = {"interface": "deploy", "step": "polish", "args": {"times": 3}}
    provision(running, uuid, "clean", "manageable", clean_steps=[polish])
    provision(running, uuid, "provide", "available")
    provision(running, uuid, "active", "active")
    dust = {"interface": "deploy", "step": "dust", "args": {}}
    provision(running, uuid, "service", "active", service_steps=[dust])
    assert {"polish 3", "dust"} <= set(journal(machine))


@pytest.mark.demand("S19")
def test_validation_names_what_the_driver_lacks(running: Site, machine: Path) -> None:
    uuid = enroll(running, "old-acme-small", machine)
    found = running.get(f"/v1/nodes/{uuid}/validate").json()
    assert [kind for kind in found if found[kind]["result"]] == ["deploy", "network", "power", "storage"]
    assert "old-acme-small does not support boot interfaces" in found["boot"]["reason"]
    refused = running.get(f"/v1/nodes/{uuid}/management/boot_device")
    assert refused.status_code == 400 and "does not support management interfaces" in refused.text
    lacking = running.create_node(driver="old-acme")["uuid"]
    power = running.get(f"/v1/nodes/{lacking}/validate").json()["power"]
    assert (power["result"], "old_acme_directory" in power["reason"]) == (False, True)


@pytest.mark.demand("S19")
def test_vendor_methods_and_management_reach_the_machine(running: Site, machine: Path) -> None:
    uuid = enroll(running, "old-acme", machine)
    assert running.get(f"/v1/nodes/{uuid}/vendor_passthru/methods").json().keys() == {"light"}
    answer = running.ask("POST", f"/v1/nodes/{uuid}/vendor_passthru?method=light", {"on": True})
    assert (answer.status_code, answer.json()) == (200, {"on": True})
    assert running.ask("POST", f"/v1/nodes/{uuid}/vendor_passthru?method=light", {}).status_code == 400
    assert running.ask("PUT", f"/v1/nodes/{uuid}/management/boot_device", {"boot_device": "pxe"}).status_code == 204
    assert journal(machine) == ["light True", "boot from pxe"]


@pytest.mark.demand("S18", "S19")
def test_power_is_compared_and_periodic_methods_visit_the_nodes(running: Site, machine: Path) -> None:
    uuid = enroll(running, "old-acme", machine)
    provision(running, uuid, "manage", "manageable")
    eventually(lambda: running.node(uuid)["power_state"], "power off")
    running.put(f"/v1/nodes/{uuid}/states/power", {"target": "power on"})
    eventually(lambda: running.node(uuid)["power_state"], "power on")
    (machine / "power").write_text("power off")
    # The service brings the machine back into the state that it was asked for.
    eventually(lambda: (machine / "power").read_text(), "power on")
    eventually(lambda: running.node(uuid)["driver_internal_info"].get("old_acme_visits", 0) > 1, True)


@pytest.mark.demand("S23", "S24", "S39")
def test_a_node_switches_to_a_classic_driver_and_back(running: Site, machine: Path) -> None:
    uuid = running.create_node(driver_info={"old_acme_directory": str(machine)})["uuid"]
    before = running.node(uuid)
    assert None not in {before[name] for name in INTERFACES}

    def switch(driver: str, **interfaces: Any) -> Any:
        values = {"driver": driver, **interfaces}
        return running.ask(
            "PATCH", f"/v1/nodes/{uuid}", [{"op": "replace", "path": f"/{k}", "value": v} for k, v in values.items()]
        )

    refused = switch("old-acme", power_interface="fake")
    assert refused.status_code == 400 and "power_interface must be null" in refused.text
    there = switch("old-acme")
    assert there.status_code == 200, there.text
    assert {there.json()[name] for name in INTERFACES} == {None}
    provision(running, uuid, "manage", "manageable")
    running.put(f"/v1/nodes/{uuid}/states/power", {"target": "power on"})
    eventually(lambda: journal(machine), ["power on"])
    eventually(lambda: running.node(uuid)["target_power_state"], None)
    back = switch("fake-hardware").json()
    assert {name: back[name] for name in INTERFACES} == {name: before[name] for name in INTERFACES}
    provision(running, uuid, "provide", "available")
    assert journal(machine) == ["power on"]


@pytest.mark.demand("S19", "S37")
def test_the_nodes_of_a_conductor_that_is_killed_pass_to_the_other_of_their_driver(
    running: Site, machine: Path
) -> None:
    uuid = enroll(running, "old-acme", machine)
    first = running.owner({"uuid": uuid})
    (second,) = {"old", "older"} - {first}
    provision(running, uuid, "manage", "manageable")
    running.kill(first)
    eventually(lambda: running.owner({"uuid": uuid}), second)
    provision(running, uuid, "provide", "available")
    assert journal(machine) == ["erase"]


@pytest.mark.demand("S19")
def test_a_name_shared_with_a_hardware_type_stops_the_conductor(tmp_path: Path) -> None:
    package = lay_out(tmp_path / "package", PACKAGE, "[ironic.drivers]\nfake-hardware = classic_vendor:OldAcmeDriver\n")
    log = tmp_path / "service.log"
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            **GENERAL,
            **FAKES,
            **NONE,
            "rpc_transport": "none",
            "log_file": log,
            "enabled_drivers": "fake-hardware",
        },
        "api": {"host_ip": "127.0.0.1", "port": free_port()},
        "database": {"connection": f"sqlite:///{tmp_path}/service.sqlite"},
    }
    configuration = write_options(tmp_path / "ironic.conf", options)
    create_database(configuration)
    service = Service("ironic", [configuration], log, environment={"PYTHONPATH": str(package)})
    status, printed = service.end()
    assert status != 0
    assert "fake-hardware is enabled as a hardware type and as a classic driver" in service.log + printed
