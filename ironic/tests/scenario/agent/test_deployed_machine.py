"""The real agent deploys onto a file, services the machine that is in use, and makes it a rescue system."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from passlib.hash import sha256_crypt

from ironic.tests.live_service import Options
from ironic.tests.scenario.agent.image import Image, served_image
from ironic.tests.scenario.agent.machine import Machine
from ironic.tests.scenario.agent.provisioning import Provisioning, step
from ironic.tests.scenario.agent.traffic import LOGS, RECORDED, asked_of_agent, order_of, said_by_agent, tokens_of

OPTIONS: Options = {"agent": {"deploy_logs_collect": "always"}, "conductor": {"automated_clean": False}}
PASSWORD = "four words for rescue"


@pytest.fixture
def image(tmp_path: Path) -> Iterator[Image]:
    with served_image(tmp_path) as served:
        yield served


def deploy(provisioning: Provisioning, machine: Machine, node: str, image: Image) -> None:
    """Have the image written to the file that plays the disk."""
    provisioning.provision(node, "provide", "available")
    provisioning.patch(node, instance_info=image.instance_info)
    provisioning.provision(node, "active", "active")
    assert machine.disk.startswith(image.content)
    order, recorded = order_of(machine.wire), RECORDED["direct-deploy"]
    # The logs are fetched besides, because they are wanted always.
    assert [line for line in asked_of_agent(order) if line != LOGS] == asked_of_agent(recorded)
    assert said_by_agent(order) == said_by_agent(recorded)
    assert tokens_of(machine.wire) == {"TOKEN-SCRUBBED"}
    assert "command poweroff" in machine.actions
    assert (machine.boot_orders, machine.resets, machine.is_on) == (["Hdd"], ["On", "On"], True)


def service(provisioning: Provisioning, machine: Machine, node: str) -> None:
    """Have steps run on the machine in use; the second one wants a restart."""
    before, boots = len(machine.wire), machine.boots
    steps = [step("loopback_sleep", seconds=0.5), step("loopback_reboot"), step("loopback_noop")]
    looks = provisioning.provision(node, "service", "active", service_steps=steps)
    assert machine.steps == ["write_image", *(each["step"] for each in steps)]
    shown = [look["service_step"]["step"] for look in looks if look["service_step"]]
    assert list(dict.fromkeys(shown)) == [each["step"] for each in steps]
    assert machine.boots == boots + 2
    order = order_of(machine.wire[before:])
    assert order.count("service: GET /v1/lookup -> 200") == 2
    assert order.count("agent: service.execute_service_step -> 200") == 3
    assert machine.is_on


def rescue(provisioning: Provisioning, machine: Machine, node: str) -> None:
    """Have the machine become a rescue system with a password, and a machine in use again."""
    provisioning.provision(node, "rescue", "rescue", rescue_password=PASSWORD)
    last = next(each for each in reversed(machine.wire) if each["to"] == "agent")
    assert order_of([last]) == ["agent: rescue.finalize_rescue -> 200"]
    assert last["body"]["params"]["hashed"] and sha256_crypt.verify(PASSWORD, last["body"]["params"]["rescue_password"])
    provisioning.provision(node, "unrescue", "active")
    assert provisioning.node(node)["instance_info"].keys() & {"rescue_password", "hashed_rescue_password"} == set()


def check_logs(provisioning: Provisioning, node: str) -> None:
    """See that the logs of both operations were kept, and that no secret is in those of the service."""
    kept = provisioning.logs_of(node)
    assert sorted(name.split("_")[1] for name in kept) == ["deployment", "servicing"]
    assert all("The ramdisk has started." in each["var/log/messages"] for each in kept.values())
    assert PASSWORD not in provisioning.service.log


def test_the_agent_deploys_services_and_rescues(
    provisioning: Provisioning, booted: Machine, node: str, image: Image
) -> None:
    deploy(provisioning, booted, node, image)
    service(provisioning, booted, node)
    rescue(provisioning, booted, node)
    check_logs(provisioning, node)
    found = provisioning.node(node)
    assert (found["last_error"], found["maintenance"], found["power_state"]) == (None, False, "power on")
    # What the agent has written it has written into its sandbox.
    assert not os.path.exists("/etc/ipa-rescue-config")
