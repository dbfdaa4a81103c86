"""RAID configurations: what may be asked for."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.drivers.base import RAID_APPLY_CONFIGURATION_ARGSINFO, RAID_CONFIG_SCHEMA, clean_step
from ironic.drivers.contract.interfaces import raid
from ironic.drivers.modules.fake import FakeRAID
from ironic.tests.unit.drivers.machine import UUID, work_on

ROOT = {"size_gb": 100, "raid_level": "1", "is_root_volume": True}
DATA = {"size_gb": "MAX", "raid_level": "5+0", "physical_disks": ["a", {"size": 1}], "number_of_physical_disks": 6}


@pytest.mark.parametrize("disks", [[ROOT], [ROOT, DATA], [{"size_gb": 1, "raid_level": "JBOD", "disk_type": "ssd"}]])
def test_good_configurations_are_good(disks: list[dict[str, Any]]) -> None:
    assert raid.faults({"logical_disks": disks}) == []


@pytest.mark.parametrize(
    "config, fault",
    [
        ({}, "RAID configuration needs logical_disks"),
        ([], "RAID configuration must be of type object"),
        ({"bogus": 1, "logical_disks": [ROOT]}, "RAID configuration has no property bogus"),
        ({"logical_disks": []}, "logical_disks must not be empty"),
        ({"logical_disks": "all"}, "logical_disks must be of type array"),
        ({"logical_disks": ["all"]}, "an item of logical_disks must be of type object"),
        ({"logical_disks": [{"raid_level": "1"}]}, "an item of logical_disks needs size_gb"),
        ({"logical_disks": [{**ROOT, "size_gb": "x"}]}, "size_gb has a value that is not allowed"),
        ({"logical_disks": [{**ROOT, "size_gb": 0}]}, "size_gb has a value that is not allowed"),
        ({"logical_disks": [{**ROOT, "size_gb": True}]}, "size_gb has a value that is not allowed"),
        ({"logical_disks": [{**ROOT, "raid_level": "7"}]}, "raid_level must be one of JBOD, 0, 1"),
        ({"logical_disks": [{**ROOT, "is_root_volume": 1}]}, "is_root_volume must be of type boolean"),
        ({"logical_disks": [{**ROOT, "number_of_physical_disks": 0}]}, "number_of_physical_disks must be at least 1"),
        ({"logical_disks": [{**ROOT, "physical_disks": [5]}]}, "an item of physical_disks has a value"),
        ({"logical_disks": [{**ROOT, "colour": "red"}]}, "an item of logical_disks has no property colour"),
        ({"logical_disks": [ROOT, ROOT]}, "only one logical disk can be the root volume"),
    ],
)
def test_bad_configurations_are_told_why(config: Any, fault: str) -> None:
    assert any(found.startswith(fault) for found in raid.faults(config))


def test_all_faults_are_told() -> None:
    assert len(raid.faults({"logical_disks": [{"size_gb": 0, "colour": "red"}], "bogus": 1})) == 4


def test_every_property_is_explained() -> None:
    known = RAID_CONFIG_SCHEMA["properties"]["logical_disks"]["items"]["properties"]
    assert FakeRAID().get_logical_disk_properties().keys() == known.keys()
    assert all(FakeRAID().get_logical_disk_properties().values())


def test_the_arguments_of_applying_fit_a_step() -> None:
    assert callable(clean_step(priority=0, argsinfo=RAID_APPLY_CONFIGURATION_ARGSINFO))
    assert RAID_APPLY_CONFIGURATION_ARGSINFO["raid_config"]["required"] is True


def test_a_node_is_validated_by_its_target() -> None:
    FakeRAID().validate(work_on())
    FakeRAID().validate(work_on(target_raid_config={"logical_disks": [ROOT]}))
    with pytest.raises(InvalidParameterValue, match=UUID):
        FakeRAID().validate(work_on(target_raid_config={"logical_disks": []}))


def test_the_fake_makes_the_target_real() -> None:
    task = work_on()
    FakeRAID().apply_configuration(task, {"logical_disks": [ROOT, DATA]})
    assert task.node.saved["target_raid_config"] == {"logical_disks": [ROOT, DATA]}
    assert task.node.saved["raid_config"] == {"logical_disks": [ROOT, DATA]}
    FakeRAID().create_configuration(task, create_nonroot_volumes=False)
    assert task.node.saved["raid_config"] == {"logical_disks": [ROOT]}
    FakeRAID().create_configuration(task, create_root_volume=False, delete_existing=False)
    assert task.node.saved["raid_config"] == {"logical_disks": [ROOT, DATA]}
    FakeRAID().delete_configuration(task)
    assert task.node.saved["raid_config"] == {}


def test_the_fake_needs_a_target() -> None:
    with pytest.raises(MissingParameterValue, match=UUID):
        FakeRAID().create_configuration(work_on())


def test_a_wrong_configuration_is_not_applied() -> None:
    task = work_on()
    with pytest.raises(InvalidParameterValue):
        FakeRAID().apply_configuration(task, {"logical_disks": []})
    assert task.node.saved == {}
