"""Hooks that look at CPUs, devices and disks."""

import logging
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import HardwareInspectionFailure, InvalidParameterValue
from ironic.core.readings import Whole
from ironic.core.values.root_device_hints import GIB
from ironic.inspection.hooks import basic_properties, extra_hardware, pci_devices, root_disk_hooks
from ironic.inspection.hooks.basic_properties import CpuCapabilities
from ironic.inspection.hooks.extra_hardware import ExtraHardware
from ironic.inspection.hooks.pci_devices import Accelerators, PciDevices
from ironic.inspection.hooks.root_disk_hooks import RaidDevice, RootDevice, local_gb
from ironic.tests.conftest import Setter
from ironic.tests.unit.inspection.lab import Work, hooked, recorded

MEANINGS = {"vmx": "cpu_vt", "svm": "cpu_vt", "aes": "cpu_aes"}


@pytest.mark.demand("S90")
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["fpu", "aes", "vmx"], {"cpu_vt": "true", "cpu_aes": "true"}),
        (["svm", "vmx"], {"cpu_vt": "true"}),
        (["fpu"], {}),
        ([], {}),
        ([None, 5, ["aes"]], {}),
    ],
)
def test_it_knows_capabilities_by_flags(flags: list[Any], expected: dict[str, str]) -> None:
    assert basic_properties.capabilities_of(flags, MEANINGS) == expected


@pytest.mark.demand("S90")
def test_it_sets_capabilities_of_the_cpu_beside_others(task: Work) -> None:
    task.node.properties = {"capabilities": "boot_mode:uefi,cpu_aes:false"}
    hooked(task, CpuCapabilities(), {"cpu": {"flags": ["aes", "pse"]}}, {})
    assert task.node.properties == {"capabilities": "boot_mode:uefi,cpu_aes:true,cpu_hugepages:true"}


@pytest.mark.parametrize("inventory", [{}, {"cpu": None}, {"cpu": {"flags": "aes"}}, {"cpu": {"flags": ["fpu"]}}])
def test_it_sets_no_capability_without_flags(task: Work, inventory: dict[str, Any]) -> None:
    hooked(task, CpuCapabilities(), inventory, {})
    assert task.node.properties == {}


def test_it_takes_other_meanings_of_flags(conf: Setter, task: Work) -> None:
    conf(inspector__cpu_capabilities={"fpu": "floating"})
    hooked(task, CpuCapabilities(), {"cpu": {"flags": ["fpu", "aes"]}}, {})
    assert task.node.properties == {"capabilities": "floating:true"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("10DE", "10de"), ("0x10de", "10de"), (" 8e ", "008e"), ("", None), ("10def", None), ("xyz", None), (5, None)],
)
def test_it_reads_numbers_of_devices(text: Any, expected: str | None) -> None:
    assert pci_devices.identifier(text) == expected


GPU = {"vendor_id": "10de", "product_id": "1eb8", "bus": "0000:1b:00.0"}
CARD = {"vendor_id": "8086", "product_id": "1592", "bus": "0000:18:00.0"}
T4 = {
    "vendor_id": "10de",
    "device_id": "1eb8",
    "type": "GPU",
    "device_info": "NVIDIA Tesla T4",
    "pci_address": "0000:1b:00.0",
}


@pytest.mark.demand("S88")
@pytest.mark.parametrize(
    ("inventory", "data", "expected"),
    [
        ({}, {"pci_devices": [CARD, GPU]}, [T4]),
        ({"pci_devices": [GPU]}, {}, [T4]),
        ({"pci_devices": [GPU]}, {"pci_devices": [CARD]}, []),
        ({}, {"pci_devices": []}, []),
        ({}, {"pci_devices": [CARD, {**GPU, "vendor_id": "1022", "product_id": 5}]}, []),
        ({}, {"pci_devices": [CARD, {**GPU, "product_id": 5}]}, None),
        ({}, {"pci_devices": [{**GPU, "bus": None}]}, None),
        ({}, {"pci_devices": [{**GPU, "bus": "500 GB"}]}, None),
        ({}, {"pci_devices": [GPU, {**CARD, "bus": 5}]}, [T4]),
        ({}, {"pci_devices": [GPU, "no"]}, None),
        ({}, {"pci_devices": [GPU, None]}, None),
        ({}, {"pci_devices": [GPU, {}]}, None),
        ({}, {"pci_devices": [GPU], "incomplete": {"pci_devices": ["/PCIeDevices/7 can't be read"]}}, None),
        ({}, {"pci_devices": "no"}, None),
        ({}, {}, None),
    ],
)
def test_it_notes_accelerators(task: Work, inventory: dict[str, Any], data: dict[str, Any], expected: Any) -> None:
    hooked(task, Accelerators(), inventory, data)
    assert task.node.properties.get("accelerators") == expected


@pytest.mark.demand("S88")
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "can't be read"),
        ("[]", "no list pci_devices"),
        ("pci_devices: x", "no list pci_devices"),
        ("pci_devices: [5]", "device 1 needs vendor_id"),
        ("pci_devices: [{vendor_id: '1', device_id: 'x', type: GPU, device_info: x}]", "have to be hexadecimal"),
        (None, "can't be read"),
    ],
)
def test_it_refuses_a_file_of_accelerators_that_it_can_not_use(tmp_path: Path, text: str | None, fault: str) -> None:
    path = tmp_path / "known.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InvalidParameterValue, match=fault):
        pci_devices.load_accelerators(str(path))


@pytest.mark.demand("S95")
def test_it_counts_devices_by_alias(conf: Setter, task: Work, caplog: pytest.LogCaptureFixture) -> None:
    conf(
        inspector__pci_device_alias=[
            '{"vendor_id": "10DE", "product_id": "1eb8", "name": "gpu"}',
            '{"vendor_id": "10de", "product_id": "20b0", "name": "gpu"}',
            '{"vendor_id": "8086", "product_id": "1592", "name": "nic"}',
            '{"vendor_id": "8086", "product_id": "9999", "name": "fpga"}',
            "nonsense",
            "5",
            '{"vendor_id": "8086", "product_id": "1592", "name": "a:b"}',
            '{"vendor_id": "8086", "product_id": "1592"}',
        ]
    )
    with caplog.at_level(logging.WARNING, "ironic"):
        hook = PciDevices()
    assert len(caplog.messages) == 4
    task.node.properties = {"capabilities": "gpu:9,x:1"}
    for odd in (None, {**GPU, "product_id": "N/A"}, {**CARD, "vendor_id": None}):
        hooked(task, hook, {}, {"pci_devices": [GPU, odd]})
        assert task.node.properties == {"capabilities": "gpu:9,x:1"}
    of_others = {"vendor_id": "1022", "product_id": None}
    hooked(task, hook, {}, {"pci_devices": [GPU, CARD, {**GPU, "product_id": "20b0"}, of_others]})
    assert task.node.properties == {"capabilities": "gpu:2,x:1,nic:1"}


def test_it_counts_nothing_without_aliases(task: Work) -> None:
    hooked(task, PciDevices(), {}, {"pci_devices": [GPU]})
    assert task.node.properties == {}
    assert pci_devices.counts(Whole(), {}) == {}


COMPLETE = ["cpu", "physical", "number", "2"]


@pytest.mark.demand("S91")
@pytest.mark.parametrize(
    ("data", "strict", "expected"),
    [
        ([COMPLETE], False, {"cpu": {"physical": {"number": 2}}}),
        ([COMPLETE, ["cpu", "physical", "ok", "yes"]], True, {"cpu": {"physical": {"number": 2, "ok": "yes"}}}),
        ([COMPLETE, ["cpu", "x"]], False, {"cpu": {"physical": {"number": 2}}}),
        ([COMPLETE, ["cpu", "x"]], True, None),
        ([COMPLETE, [5, {}, [], "x"]], False, {"cpu": {"physical": {"number": 2}}}),
        ([COMPLETE, "x"], False, None),
        ("x", False, None),
        (None, True, None),
        ([], True, {}),
    ],
)
def test_it_nests_collected_data(data: Any, strict: bool, expected: Any) -> None:
    assert extra_hardware.nested(data, strict=strict) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("42", 42), (" -7 ", -7), ("4.2", "4.2"), ("", ""), ("9" * 30, "9" * 30), (None, None), (4.5, 4.5), ("٣", "٣")],
)
def test_it_takes_integers_for_numbers(value: Any, expected: Any) -> None:
    assert extra_hardware.number_of(value) == expected


@pytest.mark.demand("S91")
@pytest.mark.parametrize(
    ("data", "strict", "after"),
    [
        ({"data": [COMPLETE]}, False, {"extra": {"cpu": {"physical": {"number": 2}}}}),
        ({"data": "x"}, False, {"data": "x"}),
        ({"data": "x"}, True, {}),
        ({"other": 1}, True, {"other": 1}),
    ],
)
def test_it_replaces_collected_data(
    conf: Setter, task: Work, data: dict[str, Any], strict: bool, after: dict[str, Any]
) -> None:
    conf(inspector__extra_hardware_strict=strict)
    hooked(task, ExtraHardware(), {}, data)
    assert data == after


@pytest.mark.demand("S91")
def test_it_nests_recorded_data(task: Work) -> None:
    data = recorded("extra-hardware")
    hooked(task, ExtraHardware(), data["inventory"], data)
    assert data["extra"]["cpu"]["logical"] == {"number": 96}
    assert data["extra"]["network"]["eth0"]["driver"] == "ice"
    assert "data" not in data


@pytest.mark.demand("S97")
@pytest.mark.parametrize(
    ("before", "now", "new"),
    [
        (["a"], ["a", "b"], "b"),
        ([], ["b"], "b"),
        (["a"], ["a"], None),
        (["a"], ["a", "b", "c"], None),
        (["a", "b"], ["a"], None),
    ],
)
def test_it_finds_the_one_new_disk(before: list[str], now: list[str], new: str | None) -> None:
    assert root_disk_hooks.new_serial(Whole(before), Whole(now)) == new


def disks(*serials: Any) -> dict[str, Any]:
    return {"disks": [{"name": f"/dev/sd{number}", "serial": serial} for number, serial in enumerate(serials)]}


@pytest.mark.demand("S97")
@pytest.mark.parametrize(
    ("stored", "properties", "expected"),
    [
        (disks("a", None), {}, {"root_device": {"serial": "b"}}),
        (disks("a"), {"root_device": {"name": "/dev/sda"}}, {"root_device": {"name": "/dev/sda"}}),
        (disks("a", "b"), {}, {}),
        ({}, {}, {}),
        (None, {}, {}),
    ],
)
def test_it_makes_a_new_disk_the_root_disk(
    task: Work, stored: Any, properties: dict[str, Any], expected: dict[str, Any]
) -> None:
    task.node.properties = properties
    if stored is not None:
        task.store.inventories.put(task.node.id, stored, {})
    hooked(task, RaidDevice(), disks("a", "b", "b", None) if stored != {} else disks("a", "b"), {})
    assert task.node.properties == expected


@pytest.mark.parametrize(
    ("before", "before_data"),
    [({"disks": None}, {}), ({}, {}), ({"disks": ["a"]}, {}), (disks("a"), {"incomplete": {"disks": ["/Drives/2"]}})],
)
def test_no_disk_is_new_beside_a_part_of_those_before(
    task: Work, before: dict[str, Any], before_data: dict[str, Any]
) -> None:
    task.store.inventories.put(task.node.id, before, before_data)
    hooked(task, RaidDevice(), disks("a", "b"), {})
    assert task.node.properties == {}


@pytest.mark.parametrize("report", [{}, {"disks": None}, {"disks": "none"}, {"disks": [{"serial": 7}]}])
def test_what_is_no_list_of_disks_is_not_remembered(conf: Setter, task: Work, report: dict[str, Any]) -> None:
    conf(inventory__data_backend="none")
    hooked(task, RaidDevice(), report, {})
    hooked(task, RaidDevice(), disks("b"), {})
    assert task.node.properties == {}


@pytest.mark.parametrize("hints", [{"root_device": {"name": "/dev/sda"}}, {"skip_block_devices": [{"name": "/dev/x"}]}])
@pytest.mark.parametrize("report", [{}, {"disks": None}, {"disks": {"a": 1}}])
def test_no_disk_is_chosen_where_the_report_has_no_list_of_them(
    task: Work, hints: dict[str, Any], report: dict[str, Any]
) -> None:
    task.node.properties = {"local_gb": 7, **hints}
    with pytest.raises(HardwareInspectionFailure, match="the report has no list of disks"):
        hooked(task, RootDevice(), report, {"root_disk": SMALL})
    assert task.node.properties == {"local_gb": 7, **hints}


@pytest.mark.parametrize("hints", [{}, {"root_device": {"name": "/dev/sda"}}])
def test_a_part_of_the_disks_has_no_root_disk(task: Work, hints: dict[str, Any]) -> None:
    task.node.properties = {"local_gb": 7, **hints}
    data: dict[str, Any] = {"incomplete": {"disks": ["/Drives/7 can't be read"]}}
    odd: dict[str, Any] = {"root_disk": None}
    marked = {**data, "root_disk": {**SMALL, "size": 500 * GIB}}
    other: dict[str, Any] = {"incomplete": {"disks": "/Drives/7"}}
    looks: Any = (([SMALL], data), ([], dict(data)), ([SMALL, "x"], odd), (None, marked), ([SMALL], other))
    for found, said in looks:
        before = dict(said)
        hooked(task, RootDevice(), {"disks": found}, said)
        assert task.node.properties == {"local_gb": 7, **hints}
        assert said == before


@pytest.mark.parametrize(
    ("found", "data", "size"),
    [
        ({"disks": []}, {}, 0),
        ({"disks": [{"name": "/dev/sda", "size": 100 * GIB}]}, {"root_disk": None}, 0),
        ({"disks": [{"name": "/dev/sda", "size": 100 * GIB}]}, {}, 7),
        ({"disks": None}, {}, 7),
        ({"disks": {}}, {}, 7),
        ({}, {}, 7),
    ],
)
def test_no_size_is_stored_of_a_root_disk_that_is_not_said(
    task: Work, found: dict[str, Any], data: dict[str, Any], size: int
) -> None:
    task.node.properties = {"local_gb": 7}
    hooked(task, RootDevice(), found, data)
    assert task.node.properties == {"local_gb": size}


@pytest.mark.parametrize("now", [disks("a", "b", 5), disks("a", "b", {}), {"disks": [*disks("a", "b")["disks"], "x"]}])
def test_a_part_of_the_disks_makes_none_the_root_disk(task: Work, now: dict[str, Any]) -> None:
    task.store.inventories.put(task.node.id, disks("a"), {})
    hooked(task, RaidDevice(), now, {})
    assert task.node.properties == {}
    hooked(task, RaidDevice(), disks("a", "b"), {"incomplete": {"disks": ["/Drives/7 can't be read"]}})
    assert task.node.properties == {}
    hooked(task, RaidDevice(), disks("a", "b"), {})
    assert task.node.properties == {"root_device": {"serial": "b"}}


@pytest.mark.demand("S97")
def test_it_finds_a_new_disk_where_no_inventory_is_kept(conf: Setter, task: Work) -> None:
    conf(inventory__data_backend="none")
    hooked(task, RaidDevice(), disks("a"), {})
    assert task.node.properties == {}
    hooked(task, RaidDevice(), disks("a", "b"), {})
    assert task.node.properties == {"root_device": {"serial": "b"}}


SMALL = {"name": "/dev/sda", "size": 100 * GIB, "serial": "a"}
LARGE = {"name": "/dev/sdb", "size": 200 * GIB + 5, "serial": "b"}


@pytest.mark.demand("S98", "S103")
@pytest.mark.parametrize(
    ("disk", "spacing", "expected"),
    [
        (SMALL, 1, 99),
        (SMALL, 0, 100),
        (LARGE, 2, 198),
        ({"size": GIB}, 1, 0),
        ({"size": GIB - 1}, 0, 0),
        ({"size": str(5 * GIB)}, 1, 4),
        ({"size": float(5 * GIB)}, 1, 4),
        *(({"size": odd}, 1, None) for odd in (None, -1, 0, 5, 102400, "N/A", "100 GiB", True, [GIB], 1.5)),
        ({}, 1, None),
        ("/dev/sda", 1, None),
        (None, 1, 0),
    ],
)
def test_it_leaves_room_beside_partitions(disk: Any, spacing: int, expected: int | None) -> None:
    assert local_gb(disk, spacing) == expected


@pytest.mark.demand("S98")
@pytest.mark.parametrize(
    ("properties", "root_disk", "expected"),
    [
        ({}, SMALL, SMALL),
        ({"root_device": {"serial": "b"}}, SMALL, LARGE),
        ({"root_device": {"size": ">= 50"}}, None, SMALL),
        ({"root_device": {"size": ">= 50"}, "skip_block_devices": [{"name": "/dev/sda"}]}, None, LARGE),
        ({"skip_block_devices": [{"name": "/dev/sda"}]}, SMALL, LARGE),
        ({"skip_block_devices": [{"name": "/dev/sdx"}]}, LARGE, LARGE),
        ({"skip_block_devices": [{"serial": "a"}, {"serial": "b"}]}, LARGE, None),
    ],
)
def test_it_chooses_the_root_disk(task: Work, properties: dict[str, Any], root_disk: Any, expected: Any) -> None:
    task.node.properties = properties
    data = {} if root_disk is None else {"root_disk": root_disk}
    hooked(task, RootDevice(), {"disks": [SMALL, LARGE]}, data)
    assert data.get("root_disk") == expected
    size = local_gb(expected, 1)
    assert data["local_gb"] == task.node.properties["local_gb"] == size


@pytest.mark.demand("S98")
@pytest.mark.parametrize(
    ("properties", "text"),
    [
        ({"root_device": {"serial": "x"}}, r"no disk fits the root device hints \(serial\); disks are '/dev/sda'"),
        ({"root_device": {"colour": "x"}}, "there is no root device hint 'colour'"),
        ({"root_device": "x"}, "have to be an object"),
        ({"skip_block_devices": "x"}, "skip_block_devices has to be a list"),
        ({"skip_block_devices": ["x"]}, "have to be an object"),
    ],
)
def test_it_fails_when_hints_are_of_no_use(task: Work, properties: dict[str, Any], text: str) -> None:
    task.node.properties = dict(properties)
    with pytest.raises(HardwareInspectionFailure, match=text):
        hooked(task, RootDevice(), {"disks": [SMALL]}, {})
    assert task.node.properties == properties


@pytest.mark.parametrize("hints", [{"root_device": {"serial": "b"}}, {"skip_block_devices": [{"serial": "b"}]}])
@pytest.mark.parametrize(
    "disks", [[{"name": "/dev/sda", "serial": ["b"] * 8193}], [{"name": "/dev/sda", "serial": "b"}] * 8193]
)
def test_very_many_values_are_not_compared_with_hints(
    task: Work, disks: list[dict[str, Any]], hints: dict[str, Any]
) -> None:
    task.node.properties = hints
    data: dict[str, Any] = {}
    with pytest.raises(HardwareInspectionFailure, match="8192 values to compare with hints"):
        hooked(task, RootDevice(), {"disks": disks}, data)
    assert data == {}
