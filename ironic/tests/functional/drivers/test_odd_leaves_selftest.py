"""The comparison of odd machines notices functions that go wrong: each of these faults was once passed over."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sushy

from ironic.drivers.modules.redfish import inspect as redfish_inspect
from ironic.drivers.modules.redfish import power
from ironic.drivers.modules.redfish.tree import storages
from ironic.tests.functional.drivers.bmc_corpus import MOCK_UPS, complete
from ironic.tests.functional.drivers.compared_machines import Judge
from ironic.tests.functional.drivers.played_bmc import played
from ironic.tests.functional.drivers.played_operations import OPERATIONS, Machine, Outcome


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    make, path, setting = MOCK_UPS["DMTF"]
    with played() as choose:
        made = Machine(complete(make()), path, tmp_path_factory.mktemp("machine") / "DMTF", setting, choose)
        yield made
        made.close()


def faults(machine: Machine, name: str) -> list[str]:
    """Return what differs from the whole machine when an operation is played as it is now."""
    operation = next(one for one in OPERATIONS if one.name == name)
    return list(Judge(frozenset()).faults(machine.whole[name], machine.play(operation), operation.kind))


def no_drive_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storages, "_used", lambda _storage, _drives: set())


def sizes_are_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = redfish_inspect.root_disk

    def counted(disks: Any, properties: Any) -> Any:
        for one in disks:
            one["size"] = len(disks)
        return disk(disks, properties)

    monkeypatch.setattr(redfish_inspect, "root_disk", counted)


def shutdowns_are_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "offered", lambda _node, _system, _wanted: sushy.ResetType.FORCE_OFF)


def another_system_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    reset = sushy.resources.system.system.System._get_reset_action_element

    def elsewhere(system: Any) -> Any:
        element = reset(system)
        element.target_uri = element.target_uri.replace(system.path, "/redfish/v1/Systems/another")
        return element

    monkeypatch.setattr(sushy.resources.system.system.System, "_get_reset_action_element", elsewhere)


@pytest.mark.parametrize(
    "sabotage, operation",
    [
        (no_drive_is_used, "RAID"),
        (sizes_are_counts, "inspection"),
        (shutdowns_are_forced, "shutdown"),
        (another_system_is_meant, "power_on"),
    ],
)
def test_a_function_that_goes_wrong_is_noticed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, sabotage: Callable[[pytest.MonkeyPatch], None], operation: str
) -> None:
    assert faults(machine, operation) == []
    sabotage(monkeypatch)
    assert faults(machine, operation) != []


@pytest.mark.parametrize(
    "left",
    [
        Outcome(kinds={"disks": [{"name": "a", "size": 2}]}),
        Outcome(kinds={"disks": [{"name": "a", "size": True}]}),
        Outcome(kinds={"disks": [{"name": "b", "size": 1}, {"name": "a", "size": 1}]}),
        Outcome(kinds={"disks": [{"name": "a", "size": 1, "more": 1}]}),
        Outcome(kinds={"disks": [{"name": "a", "size": 1}] * 2}),
    ],
)
def test_another_value_is_noticed_where_a_part_may_be_lost(left: Outcome) -> None:
    whole = Outcome(kinds={"disks": [{"name": "a", "size": 1}, {"name": "b", "size": 1}]})
    judge = Judge(frozenset({"disks"}), 1)
    assert list(judge.faults(whole, left, "disks")) != []
    for part in ([{"name": "b", "size": 1}], [{"name": "a", "size": 1}, {"name": "b", "size": None}]):
        assert list(judge.faults(whole, Outcome(kinds={"disks": part}), "disks")) == []
