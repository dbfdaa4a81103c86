"""Which disks hints fit."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironic.core import root_device_hints
from ironic.core.root_device_hints import GIB

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
    ({"rotational": True}, [SDB]),
    ({"rotational": "false"}, [SDA, NVME]),
    ({"model": "<in> nvme"}, [NVME]),
    ({"model": "<all-in> front perc"}, [SDA]),
    ({"model": "<all-in> front nvme"}, []),
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
    ],
)
def test_it_tells_what_is_wrong_with_hints(hints: Any, fault: str) -> None:
    assert fault in "; ".join(root_device_hints.faults(hints))


def test_it_finds_disks_by_any_of_several_hints() -> None:
    assert root_device_hints.find_by_any(DISKS, [{"serial": "42"}, {"serial": "S2"}, {}]) == [NVME, SDB]


NAMES = sorted(root_device_hints.TEXTS | root_device_hints.NUMBERS | root_device_hints.FLAGS)
SIGNS = ["", "= ", "== ", ">= ", "<in> ", "<all-in> ", "<or> ", "s== ", "s< "]


@given(
    st.dictionaries(st.sampled_from(NAMES), st.tuples(st.sampled_from(SIGNS), st.text(max_size=8)).map("".join)),
    st.lists(st.dictionaries(st.sampled_from(NAMES), st.none() | st.integers() | st.text(max_size=8) | st.booleans())),
)
def test_it_judges_anything_without_an_error(hints: dict[str, Any], disks: list[dict[str, Any]]) -> None:
    if not root_device_hints.faults(hints):
        assert all(disk in disks for disk in root_device_hints.find(disks, hints))
