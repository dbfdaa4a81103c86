"""Fast track with the real agent: booted once, it inspects, cleans and deploys."""

from pathlib import Path

from ironic.tests.live_service import Options
from ironic.tests.scenario.agent.image import served_image
from ironic.tests.scenario.agent.machine import Machine
from ironic.tests.scenario.agent.provisioning import Provisioning

OPTIONS: Options = {"deploy": {"fast_track": True}}


def test_one_boot_is_enough(provisioning: Provisioning, booted: Machine, node: str, tmp_path: Path) -> None:
    provisioning.provision(node, "inspect", "manageable")
    assert booted.is_on
    provisioning.await_true(lambda: "agent_url" in provisioning.node(node)["driver_internal_info"])
    provisioning.provision(node, "provide", "available")
    assert "erase_devices" in booted.steps
    with served_image(tmp_path) as image:
        provisioning.patch(node, instance_info=image.instance_info)
        provisioning.provision(node, "active", "active")
        assert booted.disk.startswith(image.content)
    assert (booted.boots, booted.resets, booted.boot_orders) == (1, ["On", "On"], ["Hdd"])
    assert not {"agent_url", "agent_secret_token"} & provisioning.node(node)["driver_internal_info"].keys()
