"""A machine's whole way, with real parts only: service, command line, Redfish BMC, what a real agent reported.

It is the same way whether one process serves over SQLite, or an API and two conductors over RabbitMQ and MariaDB. The
steps build on each other, so this is one test; its parts are functions in the order in which they happen.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.tests.live_service import Options, Service, all_in_one, free_port, write_options
from ironic.tests.redfish_bmc import RedfishBmc, redfish_bmc
from ironic.tests.repository import tool
from ironic.tests.scenario.clients.shell import Shell
from ironic.tests.scenario.command_line import Baremetal, CommandFailed
from ironic.tests.site import Site, site

REPORT = json.loads((Path(__file__).parents[1] / "data" / "agent-inspection.json").read_text())
MACS = [interface["mac_address"] for interface in REPORT["inventory"]["interfaces"]]
PATIENCE = 60

# Slow enough to be seen while they run, and more of them than the one that is enabled by default.
SLOW_STEPS: Options = {
    "fake": {"bios_delay": 1, "vendor_delay": 1, "deploy_delay": 0.5},
    "conductor": {"clean_step_priority_override": "bios.factory_reset:30"},
    "DEFAULT": {"debug": True},
}
CLEAN_STEPS = [("bios", "factory_reset"), ("vendor", "log_passthrough")]


@pytest.fixture
def bmc(tmp_path: Path) -> Iterator[RedfishBmc]:
    """Run a Redfish BMC that wants a password and takes a second for a power action."""
    directory = tmp_path / "bmc"
    directory.mkdir()
    with redfish_bmc(directory, delay=1, user="operator", tls=True) as running:
        yield running


Running = Service | Site


@pytest.fixture(params=["all-in-one", "distributed"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Running]:
    """Run the service as `make run` configures it, with slower steps; in one process or in several."""
    port = free_port()
    configuration = tool("run").configure(tmp_path / "service", port)
    files = [configuration, write_options(tmp_path / "slow.conf", SLOW_STEPS)]
    if request.param == "all-in-one":
        with all_in_one(files, tmp_path / "service" / "ironic.log", port) as running:
            yield running
    else:
        with site(tmp_path / "service", files=files) as several:
            yield several


def shown(service: Running) -> dict[str, Any]:
    """Return the node as the API shows it."""
    node: dict[str, Any] = service.get("/v1/nodes/main").json()
    return node


def follow(service: Running, done: str) -> list[dict[str, Any]]:
    """Look at the node until it is in a state; return every look, and fail at once when it gets into trouble."""
    looks = []
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        looks.append(shown(service))
        state = looks[-1]["provision_state"]
        if state == done:
            return looks
        assert "fail" not in state and state != "error", (state, looks[-1]["last_error"])
        time.sleep(0.05)
    raise AssertionError(f"the node is in {looks[-1]['provision_state']}, not in {done}, after {PATIENCE} s")


def steps_seen(looks: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the clean steps that were seen running, in order."""
    steps = [look["clean_step"] for look in looks if look["clean_step"]]
    return list(dict.fromkeys((step["interface"], step["step"]) for step in steps))


def machine(bmc: RedfishBmc) -> dict[str, Any]:
    """Ask the BMC itself about its machine."""
    url = f"{bmc.address}/redfish/v1/Systems/{bmc.systems[0]['uuid']}"
    login = (bmc.login["redfish_username"], bmc.login["redfish_password"])
    answer: dict[str, Any] = requests.get(url, auth=login, verify=bmc.verify_ca, timeout=10).json()
    return answer


def enroll(baremetal: Baremetal, bmc: RedfishBmc) -> None:
    """Create the node, and the one port that is known beforehand."""
    driver_info = [word for item in bmc.driver_info().items() for word in ("--driver-info", "=".join(item))]
    interfaces = ["--power-interface", "redfish", "--management-interface", "redfish"]
    interfaces += ["--inspect-interface", "agent", "--bios-interface", "fake", "--vendor-interface", "fake"]
    node = baremetal.json("node", "create", "--driver", "fake-hardware", "--name", "main", *interfaces, *driver_info)
    assert node["provision_state"] == "enroll"
    assert node["power_interface"] == "redfish"
    assert node["driver_info"]["redfish_password"] == "******"
    baremetal("port", "create", MACS[0], "--node", node["uuid"])


def verify(baremetal: Baremetal, service: Running) -> None:
    """Make first contact with the BMC."""
    baremetal("node", "manage", "main", "--wait", str(PATIENCE))
    node = shown(service)
    assert (node["provision_state"], node["power_state"], node["last_error"]) == ("manageable", "power off", None)


def add_rule(baremetal: Baremetal) -> None:
    """Say what is to happen with machines of this vendor."""
    conditions = [{"op": "eq", "args": {"values": ["{inventory[system_vendor][manufacturer]}", vendor()]}}]
    actions = [{"op": "set-attribute", "args": {"path": "/extra/rack", "value": "{inventory[bmc_address]}"}}]
    rule = baremetal.json(
        "inspection", "rule", "create", "--conditions", json.dumps(conditions), "--actions", json.dumps(actions)
    )
    assert rule["actions"][0]["op"] == "set-attribute"


def vendor() -> str:
    """Return who made the machine that the agent has seen."""
    name: str = REPORT["inventory"]["system_vendor"]["manufacturer"]
    return name


def inspect(baremetal: Baremetal, service: Running, bmc: RedfishBmc, tmp_path: Path) -> None:
    """Boot the machine, report as the agent did, and see what was made of it."""
    baremetal("node", "inspect", "main")
    follow(service, "inspect wait")
    system = machine(bmc)
    assert system["PowerState"] == "On"
    assert system["Boot"]["BootSourceOverrideTarget"] == "Pxe"

    answer = requests.post(f"{service.url}/v1/continue_inspection", json=REPORT, timeout=30)
    assert (answer.status_code, answer.json()) == (200, {"uuid": shown(service)["uuid"]})
    node = follow(service, "manageable")[-1]
    assert node["properties"]["cpu_arch"] == "x86_64"
    assert node["extra"]["rack"] == REPORT["inventory"]["bmc_address"]
    assert node["inspection_finished_at"] is not None

    ports = baremetal.json("port", "list", "--node", "main", "--fields", "address", "pxe_enabled")
    # Those the agent saw, and those the BMC knew before the agent came: two halves of one machine in this play.
    assert {port["address"]: port["pxe_enabled"] for port in ports} == {
        mac: mac == MACS[0] for mac in (*MACS, *bmc.mac_addresses())
    }

    baremetal("node", "inventory", "save", "main", "--file", str(tmp_path / "inventory.json"))
    saved = json.loads((tmp_path / "inventory.json").read_text())
    assert saved["inventory"] == REPORT["inventory"]
    assert saved["plugin_data"]["valid_interfaces"].keys() == {i["name"] for i in REPORT["inventory"]["interfaces"]}


def provide(baremetal: Baremetal, service: Running) -> None:
    """Clean the machine and offer it; every step shows while it runs."""
    baremetal("node", "provide", "main")
    looks = follow(service, "available")
    assert steps_seen(looks) == CLEAN_STEPS
    assert looks[-1]["clean_step"] == {}


def deploy(baremetal: Baremetal, service: Running) -> None:
    """Put the machine to use."""
    baremetal("node", "deploy", "main", "--wait", str(PATIENCE))
    node = shown(service)
    assert (node["provision_state"], node["target_provision_state"]) == ("active", None)


def give_back(baremetal: Baremetal, service: Running) -> None:
    """Return the machine; it is cleaned again before it is offered again."""
    baremetal("node", "undeploy", "main")
    looks = follow(service, "available")
    assert "cleaning" in {look["provision_state"] for look in looks}
    assert steps_seen(looks) == CLEAN_STEPS


def remove(baremetal: Baremetal) -> None:
    """Forget the machine and everything around it."""
    with pytest.raises(CommandFailed, match="There is no"):
        baremetal("node", "delete", "other")
    baremetal("node", "delete", "main")
    assert baremetal.json("node", "list") == []
    assert baremetal.json("port", "list") == []


@pytest.mark.demand("S54", "S71", "S75", "S109")
def test_a_machine_goes_all_the_way(service: Running, bmc: RedfishBmc, tmp_path: Path) -> None:
    # Processes of its own for the long way; without them the same program does not wait ten seconds between two looks.
    baremetal = Baremetal(service.url) if isinstance(service, Site) else Shell(service.url)
    enroll(baremetal, bmc)
    verify(baremetal, service)
    add_rule(baremetal)
    inspect(baremetal, service, bmc, tmp_path)
    provide(baremetal, service)
    deploy(baremetal, service)
    give_back(baremetal, service)
    remove(baremetal)
    assert "Traceback" not in service.log
    assert bmc.login["redfish_password"] not in service.log
