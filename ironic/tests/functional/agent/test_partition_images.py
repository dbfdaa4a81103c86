"""Partition images: the partitions that the agent gets, the boot loader, and what is refused."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.flows import states
from ironic.drivers.modules.agent import partition_images
from ironic.tests.functional.agent.conftest import beat
from ironic.tests.functional.agent.test_direct import deploying
from ironic.tests.unit.drivers.machine import Machine

PARTITION = {"image_type": "partition", "root_gb": 10}
KERNEL = {"kernel": "http://k", "ramdisk": "http://r"}
BIOS = {"capabilities": {"boot_mode": "bios"}}

PLAIN = {
    "image_type": "partition",
    "root_mb": 10240,
    "swap_mb": 0,
    "ephemeral_mb": 0,
    "ephemeral_format": None,
    "preserve_ephemeral": False,
    "boot_option": "local",
    "deploy_boot_mode": "uefi",
    "disk_label": "gpt",
    "cpu_arch": None,
}


@pytest.mark.parametrize("info, expected", [
    (PARTITION, PLAIN),
    ({**PARTITION, "root_gb": "10"}, PLAIN),
    ({**PARTITION, "swap_mb": 512}, {**PLAIN, "swap_mb": 512}),
    ({**PARTITION, "ephemeral_gb": 2}, {**PLAIN, "ephemeral_mb": 2048, "ephemeral_format": "ext4"}),
    ({**PARTITION, "ephemeral_gb": 2, "ephemeral_format": "xfs", "preserve_ephemeral": "true"},
     {**PLAIN, "ephemeral_mb": 2048, "ephemeral_format": "xfs", "preserve_ephemeral": True}),
    ({**PARTITION, **BIOS}, {**PLAIN, "deploy_boot_mode": "bios", "disk_label": "msdos"}),
    ({**PARTITION, "capabilities": "disk_label:gpt,boot_mode:bios"}, {**PLAIN, "deploy_boot_mode": "bios"}),
])  # fmt: skip
def test_the_agent_is_told_what_partitions_there_are_to_be(info, expected):
    assert partition_images.partition_layout(Machine(instance_info=info)) == expected


def test_the_file_system_of_an_ephemeral_partition_is_an_option(conf):
    conf(pxe__default_ephemeral_format="btrfs")
    node = Machine(instance_info={**PARTITION, "ephemeral_gb": 1}, properties={"cpu_arch": "aarch64"})
    told = partition_images.partition_layout(node)
    assert (told["ephemeral_format"], told["cpu_arch"]) == ("btrfs", "aarch64")


@pytest.mark.parametrize("info, expected", [
    ({}, False),
    (KERNEL, True),
    ({"kernel": "http://k"}, False),
    ({"image_type": "partition"}, True),
    ({"image_type": "whole-disk", **KERNEL}, False),
    ({"image_type": ""}, False),
])  # fmt: skip
def test_an_image_is_of_a_partition_when_it_says_so_or_brings_a_kernel(info, expected):
    assert partition_images.is_partition_image(Machine(instance_info=info)) is expected


@pytest.mark.parametrize("info, error", [
    ({"image_type": "partition"}, MissingParameterValue),
    ({**KERNEL}, MissingParameterValue),
    ({**PARTITION, "root_gb": 0}, InvalidParameterValue),
    ({**PARTITION, "root_gb": -1}, InvalidParameterValue),
    ({**PARTITION, "root_gb": 1.5}, InvalidParameterValue),
    ({**PARTITION, "root_gb": True}, InvalidParameterValue),
    ({**PARTITION, "root_gb": "ten"}, InvalidParameterValue),
    ({**PARTITION, "root_gb": 1 << 40}, InvalidParameterValue),
    ({**PARTITION, "swap_mb": -1}, InvalidParameterValue),
    ({**PARTITION, "swap_mb": [1]}, InvalidParameterValue),
    ({**PARTITION, "ephemeral_gb": "x"}, InvalidParameterValue),
    ({**PARTITION, "ephemeral_gb": 1, "ephemeral_format": "ext4; rm"}, InvalidParameterValue),
    ({**PARTITION, "preserve_ephemeral": "perhaps"}, InvalidParameterValue),
    ({**PARTITION, "capabilities": {"disk_label": "round"}}, InvalidParameterValue),
    ({**PARTITION, **BIOS}, InvalidParameterValue),
])  # fmt: skip
def test_what_can_not_be_is_refused_at_once(bench, agent, info, error):
    with pytest.raises(error):
        deploying(bench, agent, info={"image_type": None, **info})


def test_a_partition_image_is_deployed(bench, secure_agent):
    agent = secure_agent
    found = {"root uuid": "r", "efi system partition uuid": "e", "PReP Boot partition uuid": "p"}
    agent.results["standby.get_partition_uuids"] = found
    uuid = deploying(bench, agent, info={**PARTITION, "swap_mb": 4})
    assert bench.row(uuid).driver_internal_info["is_whole_disk_image"] is False
    beat(bench, agent, uuid)
    told = agent.received[-1][1]["step"]["args"]["image_info"]
    assert (told["image_type"], told["root_mb"], told["swap_mb"]) == ("partition", 10240, 4)
    assert agent.received[-1][1]["node"]["driver_internal_info"]["is_whole_disk_image"] is False
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    asked = dict(agent.received)["image.install_bootloader"]
    expected = {"root_uuid": "r", "efi_system_part_uuid": "e", "prep_boot_part_uuid": "p", "target_boot_mode": "uefi"}
    assert asked == expected


@pytest.mark.parametrize("info, installed", [({**PARTITION, **BIOS}, True), (BIOS, False)])
def test_a_bios_gets_a_boot_loader_where_the_image_has_none(bench, agent, conf, info: dict[str, Any], installed):
    conf(agent__enable_bios_bootloader_install=True)
    uuid = deploying(bench, agent, info=info)
    beat(bench, agent, uuid)
    agent.end()
    assert beat(bench, agent, uuid)[0] == states.ACTIVE
    asked = dict(agent.received).get("image.install_bootloader", {})
    assert asked.get("target_boot_mode") == ("bios" if installed else None)
