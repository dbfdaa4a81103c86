"""Which disks hints fit."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironic.core.values import root_device_hints
from ironic.core.values.root_device_hints import GIB

SDA = {
    "name": "/dev/sda",
    "model": "PERC H755 Front",
    "size": 447 * GIB + 12345,
    "rotational": False,
    "serial": "ABC123",
    "vendor": "DELL",
    "wwn": "0x5000",
    "hctl": "0:3:111:0",
}
NVME = {
    "name": "/dev/nvme0n1",
    "model": "Ent NVMe",
    "size": 2980 * GIB,
    "rotational": False,
    "serial": "S2",
    "vendor": None,
}
SDB = {"name": "/dev/sdb", "size": 10 * GIB, "rotational": True, "serial": "42"}
DISKS = [SDA, NVME, SDB]

CASES = [
    ({}, [SDA, NVME, SDB]),
    ({"name": "/dev/sda"}, [SDA]),
    ({"serial": "abc123"}, [SDA]),
    ({"vendor": "dell"}, [SDA]),
    ({"vendor": "none"}, []),
    ({"wwn": "0x5000", "hctl": "0:3:111:0"}, [SDA]),
    ({"wwn": "0x5000", "serial": "42"}, []),
    ({"size": 447}, [SDA]),
    ({"size": "447"}, [SDA]),
    ({"size": ">= 447"}, [SDA, NVME]),
    ({"size": ">=448"}, [NVME]),
    ({"size": "= 447"}, [SDA, NVME]),
    ({"size": "== 447"}, [SDA]),
    ({"size": "!= 447"}, [NVME, SDB]),
    ({"size": "< 100"}, [SDB]),
    ({"size": "<= 447"}, [SDA, SDB]),
    ({"size": "> 447"}, [NVME]),
    ({"size": "<or> 10 <or> 2980"}, [NVME, SDB]),
    ({"size": "<or>10.0<or>2980"}, [NVME, SDB]),
    ({"size": "447.0"}, [SDA]),
    ({"size": "<range-in> [ 10 447 )"}, [SDB]),
    ({"size": "<range-in> ( 10 447 ]"}, [SDA]),
    ({"rotational": True}, [SDB]),
    ({"rotational": "false"}, [SDA, NVME]),
    ({"model": "<in> nvme"}, [NVME]),
    ({"model": "<all-in> front perc"}, [SDA]),
    ({"model": "<all-in> front nvme"}, []),
    ({"model": "<all-in> fro 755"}, [SDA]),
    ({"model": "perc h755 front"}, [SDA]),
    ({"model": "perc"}, []),
    ({"model": "<in> h755 front"}, [SDA]),
    ({"model": "<or> ent nvme <or> something"}, [NVME]),
    ({"model": "s== ent nvme"}, [NVME]),
    ({"model": "s!= ent nvme"}, [SDA]),
    ({"model": "s> f"}, [SDA]),
    ({"model": "s< f"}, [NVME]),
    ({"model": "s<= ent nvme"}, [NVME]),
    ({"model": "s>= perc"}, [SDA]),
    ({"serial": ">= 40"}, [NVME, SDA, SDB]),
    ({"serial": "== 42.0"}, [SDB]),
]


@pytest.mark.demand("S98")
@pytest.mark.parametrize(("hints", "expected"), CASES)
def test_it_finds_the_disks_that_fit(hints: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    assert root_device_hints.faults(hints) == []
    found = root_device_hints.find(DISKS, hints)
    assert sorted(disk["name"] for disk in found) == sorted(disk["name"] for disk in expected)


@pytest.mark.parametrize(
    ("hints", "fault"),
    [
        ("x", "have to be an object"),
        ({"colour": "red"}, "there is no root device hint 'colour'"),
        ({5: "red"}, "there is no root device hint '5'"),
        ({"size": "big"}, "size is no number"),
        ({"size": 0}, "size is no number"),
        ({"size": -1}, "size is no number"),
        ({"size": True}, "size is no number"),
        ({"size": "s== 5"}, "size is no number"),
        ({"size": "<or> 5 <or> x"}, "size is no number"),
        ({"size": "nan"}, "size is no number"),
        ({"size": "1e400"}, "size is no number"),
        ({"rotational": "perhaps"}, "neither true nor false"),
        ({"model": ""}, "model is no text"),
        ({"model": 5}, "model is no text"),
        ({"model": "x" * 2000}, "model is too long"),
        ({"size": [5]}, "size is no number"),
        ({"size": 10**5000}, "size is no number"),
        ({"size": "<in> 5"}, "size is no number"),
        ({"size": "<range-in> [ 5 x ]"}, "size is no number"),
        ({"size": "<range-in> [ 10 5 ]"}, "size is no number"),
        ({"size": "<range-in> 5 10"}, "size is no number"),
        ({"model": "<range-in> [ 5 10 ]"}, "model is no size"),
        ({"model": "<in>"}, "model can't be parsed"),
        ({"model": "s== a <in> b"}, "model can't be parsed"),
        ({"model": "<in> a <or> b"}, "model can't be parsed"),
    ],
)
def test_it_tells_what_is_wrong_with_hints(hints: Any, fault: str) -> None:
    assert fault in "; ".join(root_device_hints.faults(hints))


def test_it_finds_disks_by_any_of_several_hints() -> None:
    assert root_device_hints.find_by_any(DISKS, [{"serial": "42"}, {"serial": "S2"}, {}]) == [NVME, SDB]


def test_a_value_is_prepared_once_however_many_hints_there_are() -> None:
    class Text(str):
        lowered = 0

        def lower(self) -> str:
            type(self).lowered += 1
            return super().lower()

    class Said:
        def __str__(self) -> str:
            return Text("PERC  H755")

    disk = {"model": Said()}
    hints = [{"model": f"m{number}"} for number in range(100)]
    assert root_device_hints.find_by_any([disk], [*hints, {"model": "perc h755"}]) == [disk]
    assert Text.lowered == 1


def test_what_a_machine_says_is_never_read_as_code() -> None:
    hostile = {"name": "/dev/sdx", "model": "[" * 5000, "size": "[" * 5000}
    assert root_device_hints.find([hostile], {"model": "<all-in> [ ["}) == [hostile]
    assert root_device_hints.find([hostile], {"size": "<range-in> [ 1 2 ]"}) == []


@pytest.mark.parametrize("text", ["<or> a ", "<all-in> " + "a ", "s== " + " ", "<range-in> [ " + "1 ", "<"])
def test_what_takes_long_to_read_is_not_even_begun(text: str) -> None:
    fitting, excessive = (text * 1024)[:1024], text * 1024
    began = time.thread_time()
    root_device_hints.faults(dict.fromkeys(root_device_hints.TEXTS, fitting))
    root_device_hints.faults_of_several([{"model": fitting}] * 16)
    assert root_device_hints.faults({"model": excessive})
    assert root_device_hints.faults_of_several([{"model": fitting}] * 10_000)
    assert root_device_hints.faults_of_several([{"model": "a"}] * 10_000)
    assert root_device_hints.faults_of_several([{}] * 10_000)
    # Some 0.4 seconds as a rule; without bounds it were minutes.
    assert time.thread_time() - began < 5


NAMES = sorted(root_device_hints.TEXTS | root_device_hints.NUMBERS | root_device_hints.FLAGS)
SIGNS = ["", "= ", "== ", ">= ", "<in> ", "<all-in> ", "<or> ", "<range-in> [ ", "s== ", "s< "]


@given(
    st.dictionaries(st.sampled_from(NAMES), st.tuples(st.sampled_from(SIGNS), st.text(max_size=8)).map("".join)),
    st.lists(st.dictionaries(st.sampled_from(NAMES), st.none() | st.integers() | st.text(max_size=8) | st.booleans())),
)
def test_it_judges_anything_without_an_error(hints: dict[str, Any], disks: list[dict[str, Any]]) -> None:
    if not root_device_hints.faults(hints):
        assert all(disk in disks for disk in root_device_hints.find(disks, hints))


@pytest.mark.parametrize("name", ["serial", "wwn", "wwn_with_extension", "by_path", "hctl"])
@pytest.mark.parametrize(
    ("hint", "is_found"),
    [
        ("q2", True),
        ("s== q2", True),
        ("s!= q2", True),
        ("<in> 2", True),
        ("<or> q9 <or> q2", True),
        ("<all-in> q 2", True),
        ("q3", False),
    ],
)
def test_any_value_of_a_multipath_disk_counts(name: str, hint: str, is_found: bool) -> None:
    disk = {"name": "/dev/dm-0", name: ["Q1", None, "Q2"]}
    hints = {name: hint}
    assert (root_device_hints.find([disk], hints) == [disk]) is is_found
    assert (root_device_hints.find_by_any([disk], [hints]) == [disk]) is is_found
    assert root_device_hints.find([{**disk, name: []}], hints) == []
