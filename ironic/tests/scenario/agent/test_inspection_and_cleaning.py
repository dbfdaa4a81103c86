"""The real agent inspects its machine and cleans it, over TLS and with a token, as it did with the reference."""

import json

import pytest

from ironic.tests.scenario.agent.machine import INVENTORY, Machine
from ironic.tests.scenario.agent.provisioning import Provisioning
from ironic.tests.scenario.agent.traffic import RECORDED, asked_of_agent, order_of, said_by_agent, tokens_of

CLEAN_STEPS = ["erase_devices_metadata", "erase_devices", "loopback_noop"]


def inspect(provisioning: Provisioning, machine: Machine, node: str) -> None:
    """Have the machine inspected in band, and look at what became of its report."""
    looks = provisioning.provision(node, "inspect", "manageable")
    assert looks[-1]["properties"]["cpu_arch"] == "x86_64"
    stored = provisioning.get(f"/v1/nodes/{node}/inventory")["inventory"]
    seen = json.loads(INVENTORY.read_text())["inventory"]
    for part in ("memory", "bmc_address", "system_vendor"):
        assert stored[part] == seen[part]
    assert [each["mac_address"] for each in stored["interfaces"]] == machine.macs
    ports = provisioning.get(f"/v1/ports?detail=true&node={node}")["ports"]
    assert {port["address"] for port in ports} == set(machine.macs)
    # Who accepts a report says 200 here (S75); then the machine is switched off, whatever the agent does next.
    assert order_of(machine.wire)[0] == RECORDED["inspection"][0].replace("202", "200")
    assert "/v1/continue_inspection?boot_token=" in machine.wire[0]["url"]
    assert not machine.is_on


def clean(provisioning: Provisioning, machine: Machine, node: str) -> None:
    """Have the machine cleaned before it is offered."""
    before = len(machine.wire)
    looks = provisioning.provision(node, "provide", "available")
    assert machine.steps == CLEAN_STEPS
    shown = [look["clean_step"]["step"] for look in looks if look["clean_step"]]
    assert list(dict.fromkeys(shown)) == CLEAN_STEPS
    wire = machine.wire[before:]
    order, recorded = order_of(wire), RECORDED["automated-cleaning"]
    assert (said_by_agent(order), asked_of_agent(order)) == (said_by_agent(recorded), asked_of_agent(recorded))
    assert {each["url"].partition(":")[0] for each in wire} == {"https"}
    assert tokens_of(wire) == {"TOKEN-SCRUBBED"}
    beat = next(each for each in wire if "heartbeat" in each["url"])
    assert beat["body"]["agent_verify_ca"] == "PEM-CERTIFICATE-SCRUBBED"
    assert not machine.is_on


@pytest.mark.demand("S50", "S54", "S61", "S75")
def test_the_agent_inspects_and_cleans(provisioning: Provisioning, booted: Machine, node: str) -> None:
    inspect(provisioning, booted, node)
    clean(provisioning, booted, node)
    found = provisioning.node(node)
    assert (found["last_error"], found["maintenance"], found["power_state"]) == (None, False, "power off")
    assert not {"agent_url", "agent_secret_token", "agent_verify_ca"} & found["driver_internal_info"].keys()
    assert provisioning.get(f"/v1/nodes/{node}/cleaning/steps")["steps"][0]["step"] == CLEAN_STEPS[0]
