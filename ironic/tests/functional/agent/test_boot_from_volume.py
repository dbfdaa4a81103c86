"""Deploy interface `direct` on a machine that boots from a volume: no image, no agent."""

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.flows import states
from ironic.tests.functional.agent.test_direct import IMAGE


def machine(bench, boot_index=0, **values) -> str:
    uuid = bench.node(
        "boot", "power", "network", provision_state=states.AVAILABLE, deploy_interface="direct",
        power_state="power on", management_interface="noop", storage_interface="fake", **values,
    )  # fmt: skip
    bench.store.volume_targets.create(
        {"node_id": bench.row(uuid).id, "volume_type": "fibre_channel", "volume_id": "v1", "boot_index": boot_index}
    )
    return uuid


def test_it_writes_no_image_and_boots_no_agent(bench, done):
    uuid = machine(bench)
    assert bench.verb(uuid, "active") == (states.ACTIVE, None)
    assert done == [
        "set power off", "disconnect tenant", "prepare_instance", "disconnect provisioning", "connect tenant",
        "set power on",
    ]  # fmt: skip
    assert bench.row(uuid).driver_internal_info["fake_attached_volumes"] == ["v1"]


def test_an_image_is_written_beside_a_volume(bench, done):
    uuid = machine(bench, instance_info=IMAGE)
    assert bench.verb(uuid, "active")[0] == states.DEPLOYWAIT
    assert "connect provisioning" in done


def test_without_image_and_boot_volume_there_is_nothing_to_deploy(bench):
    uuid = machine(bench, boot_index=1)
    with pytest.raises(InvalidParameterValue, match="image_source"):
        bench.verb(uuid, "active")


def test_steps_of_an_agent_are_refused_because_none_boots(bench):
    uuid = machine(bench)
    steps = [{"interface": "deploy", "step": "inject_files", "args": {}, "priority": 50}]
    with pytest.raises(InvalidParameterValue, match="inject_files"):
        bench.verb(uuid, "active", deploy_steps=steps)
