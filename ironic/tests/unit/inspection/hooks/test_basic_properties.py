"""Hooks that decide one thing."""

from typing import Any

import pytest

from ironic.core.errors import HardwareInspectionFailure
from ironic.inspection.hooks.basic_properties import Architecture, BootMode, Cpus, Memory
from ironic.inspection.hooks.report_validation import RamdiskError
from ironic.tests.unit.inspection.lab import Work, hooked


@pytest.mark.demand("S84")
@pytest.mark.parametrize("data", [{}, {"error": None}, {"error": ""}, {"error": []}])
def test_it_goes_on_when_the_ramdisk_reports_no_error(task: Work, data: dict[str, Any]) -> None:
    before = task.store.nodes.get(task.node.uuid)
    hooked(task, RamdiskError().preprocess, {}, data)
    hooked(task, RamdiskError(), {}, data)
    after = task.store.nodes.get(task.node.uuid)
    assert (after.updated_at, after.properties, after.last_error) == (before.updated_at, before.properties, None)


@pytest.mark.demand("S84")
@pytest.mark.parametrize("error", ["it burns", {"what": "it burns"}, ["it burns"]])
def test_it_fails_when_the_ramdisk_reports_an_error(task: Work, error: Any) -> None:
    with pytest.raises(HardwareInspectionFailure, match="the ramdisk reported: .*it burns"):
        hooked(task, RamdiskError().preprocess, {}, {"error": error})


def test_it_keeps_the_error_of_the_ramdisk_short(task: Work) -> None:
    with pytest.raises(HardwareInspectionFailure) as failure:
        hooked(task, RamdiskError().preprocess, {}, {"error": "x" * 100_000})
    assert len(str(failure.value)) < 2100


@pytest.mark.demand("S85")
def test_it_sets_the_architecture(task: Work) -> None:
    task.node.properties = {"cpu_arch": "old", "other": "kept"}
    hooked(task, Architecture(), {"cpu": {"architecture": "aarch64"}}, {})
    assert task.node.properties == {"cpu_arch": "aarch64", "other": "kept"}


NO_CPUS: list[Any] = [None, [], {}]


@pytest.mark.demand("S85")
@pytest.mark.parametrize(
    "inventory",
    [
        *({"cpu": odd} for odd in NO_CPUS),
        *({"cpu": {"architecture": odd}} for odd in (5, "", "N/A", "n/a", "unknown", "x86 64", "-", "None", "a" * 99)),
        {},
    ],
)
def test_it_fails_without_an_architecture(task: Work, inventory: dict[str, Any]) -> None:
    with pytest.raises(HardwareInspectionFailure, match="no CPU architecture"):
        hooked(task, Architecture(), inventory, {})
    assert "cpu_arch" not in task.node.properties


@pytest.mark.demand("S93")
@pytest.mark.parametrize(("size", "expected"), [(16384, 16384), ("16384", 16384), (16384.0, 16384), ("16384.0", 16384)])
def test_it_sets_the_size_of_the_memory(task: Work, size: Any, expected: int) -> None:
    hooked(task, Memory(), {"memory": {"physical_mb": size, "total": 1}}, {})
    assert task.node.properties == {"memory_mb": expected}


@pytest.mark.demand("S93")
@pytest.mark.parametrize(
    "memory", [None, {}, [], *({"physical_mb": odd} for odd in (None, 0, -1, "much", "N/A", 1.5, True))]
)
def test_it_fails_without_a_size_of_the_memory(task: Work, memory: Any) -> None:
    with pytest.raises(HardwareInspectionFailure, match="no size of the memory"):
        hooked(task, Memory(), {"memory": memory}, {})


@pytest.mark.demand("S99")
@pytest.mark.parametrize(
    ("cpu", "expected"),
    [
        ({"count": 8}, {"cpus": 8}),
        ({"count": "8"}, {"cpus": 8}),
        ({"count": 8.0}, {"cpus": 8}),
        ({}, {}),
        (None, {}),
        *(({"count": odd}, {}) for odd in (0, -1, "N/A", True, [8], 0.5)),
    ],
)
def test_it_sets_the_number_of_cpus(task: Work, cpu: Any, expected: dict[str, int]) -> None:
    hooked(task, Cpus(), {"cpu": cpu}, {})
    assert task.node.properties == expected


@pytest.mark.demand("S89")
@pytest.mark.parametrize(
    ("before", "boot", "after"),
    [
        (None, {"current_boot_mode": "uefi"}, "boot_mode:uefi"),
        ("boot_mode:bios,x:1", {"current_boot_mode": "uefi"}, "boot_mode:uefi,x:1"),
        *(("boot_mode:bios", {"current_boot_mode": odd}, "boot_mode:bios") for odd in (None, "N/A", "", "efi:1,a", 5)),
        ("x:1", None, "x:1"),
    ],
)
def test_it_notes_the_boot_mode(task: Work, before: str | None, boot: Any, after: str) -> None:
    task.node.properties = {} if before is None else {"capabilities": before}
    hooked(task, BootMode(), {"boot": boot}, {})
    assert task.node.properties == {"capabilities": after}


def test_it_leaves_capabilities_alone_that_it_can_not_read(task: Work) -> None:
    task.node.properties = {"capabilities": "nonsense"}
    with pytest.raises(HardwareInspectionFailure, match="property capabilities of node .* can't be changed"):
        hooked(task, BootMode(), {"boot": {"current_boot_mode": "uefi"}}, {})
    assert task.node.properties == {"capabilities": "nonsense"}
