"""What ramdisks report: checked bodies, tolerant access to values, and the read-only inventory."""

import copy
import json
import logging
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironic.core.errors import InvalidParameterValue
from ironic.inspection import reported_data
from ironic.inspection.reported_data import (
    InventoryIsReadOnly,
    list_at,
    listed,
    read_only,
    text_at,
    value_at,
    whole_number_at,
)
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC, recorded

UUID = "0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b11"


def body(*macs: Any, **inventory: Any) -> dict[str, Any]:
    return {"inventory": {"interfaces": [{"name": "eth0", "mac_address": mac} for mac in macs], **inventory}}


def test_it_takes_a_body_apart() -> None:
    sent = body(MAC, bmc_address="192.0.2.7", bmc_v6address="::/0", cpu={}) | {"error": None, "root_disk": {}}
    told = reported_data.check_callback(sent)
    assert told.inventory is sent["inventory"]
    assert told.plugin_data == {"error": None, "root_disk": {}}
    assert (told.macs, told.bmc_addresses) == ([MAC], ["192.0.2.7"])


def test_it_is_content_with_the_least() -> None:
    inventory, plugin_data, macs, bmc_addresses = reported_data.check_callback(
        {"inventory": {"interfaces": [{"mac_address": MAC}]}}
    )
    assert (inventory["interfaces"], plugin_data, macs, bmc_addresses) == ([{"mac_address": MAC}], {}, [MAC], [])


@pytest.mark.parametrize(
    ("macs", "expected"),
    [
        ([MAC, OTHER_MAC], [MAC, OTHER_MAC]),
        ([MAC, MAC], [MAC]),
        (["AA:BB:CC:DD:EE:FF"], ["aa:bb:cc:dd:ee:ff"]),
        ([MAC, "zz:zz", "", "aa-bb-cc-dd-ee-ff", "aa:bb:cc:dd:ee:ff:00:11"], [MAC]),
    ],
)
def test_it_leaves_addresses_out_that_are_none(macs: list[str], expected: list[str]) -> None:
    assert reported_data.check_callback(body(*macs)).macs == expected


@pytest.mark.parametrize(
    ("v4", "v6", "expected"),
    [
        ("192.0.2.7", "2001:DB8:0::7", ["192.0.2.7", "2001:db8::7"]),
        ("0.0.0.0", "::/0", []),
        (None, "fe80::1%eth0", ["fe80::1"]),
        ("nonsense", "", []),
        ("0.0.0.0", "2001:db8:b::c0de", ["2001:db8:b::c0de"]),
        ("::ffff:192.0.2.7", "[2001:db8::7]", ["192.0.2.7", "2001:db8::7"]),
        (None, "[::]", []),
    ],
)
def test_it_reads_the_addresses_of_the_bmc(v4: str | None, v6: str | None, expected: list[str]) -> None:
    assert reported_data.check_callback(body(MAC, bmc_address=v4, bmc_v6address=v6)).bmc_addresses == expected


@pytest.mark.parametrize(
    "sent",
    [
        None,
        [],
        "inventory",
        5,
        {},
        {"inventory": None},
        {"inventory": []},
        {"inventory": {}},
        {"inventory": {"interfaces": None}},
        {"inventory": {"interfaces": []}},
        {"inventory": {"interfaces": {"eth0": {}}}},
        {"inventory": {"interfaces": [None]}},
        {"inventory": {"interfaces": ["eth0"]}},
        {"inventory": {"interfaces": [{"name": "eth0"}]}},
        body(None),
        body(5),
        body("bogus"),
        body(MAC, bmc_address=5),
        body(MAC, bmc_v6address=["::1"]),
        body(*[MAC] * 1025),
    ],
)
def test_it_refuses_a_malformed_body(sent: Any) -> None:
    with pytest.raises(InvalidParameterValue, match=r"^Invalid inspection data: .*\.$"):
        reported_data.check_callback(sent)


def test_it_needs_something_to_find_the_node_by() -> None:
    assert reported_data.check_callback(body("bogus"), UUID).macs == []
    assert reported_data.check_callback(body("bogus", bmc_address="192.0.2.7")).bmc_addresses == ["192.0.2.7"]
    with pytest.raises(InvalidParameterValue, match="no valid MAC address, no BMC address and no node_uuid"):
        reported_data.check_callback(body("bogus", bmc_address="0.0.0.0"))


@pytest.mark.parametrize("uuid", ["bogus", "", "name-of-a-node"])
def test_it_refuses_what_is_no_uuid(uuid: str) -> None:
    with pytest.raises(InvalidParameterValue, match="node_uuid is no UUID"):
        reported_data.check_callback(body(MAC), uuid)


def test_it_logs_little_of_what_it_leaves_out(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "ironic"):
        reported_data.check_callback(body(MAC, "x\n" * 5000))
    assert len(caplog.records) == 1
    assert "\n" not in caplog.messages[0]
    assert len(caplog.messages[0]) < 300


@pytest.mark.parametrize(
    ("name", "macs", "bmc"),
    [
        (
            "bond-vlan",
            ["02:00:5e:10:00:01", "02:00:5e:10:00:12", "02:00:5e:10:00:13", "a4:bf:01:00:00:10"],
            ["192.0.2.150"],
        ),
        ("ipv6-only-bmc", ["02:00:5e:20:00:01"], ["2001:db8:b::c0de"]),
    ],
)
def test_it_reads_what_machines_sent(name: str, macs: list[str], bmc: list[str]) -> None:
    told = reported_data.check_callback(recorded(name))
    assert (told.macs, told.bmc_addresses) == (macs, bmc)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from([MAC, "192.0.2.7", "::1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["inventory", "interfaces", "mac_address", "bmc_address", "bmc_v6address", "x"]), inner
        )
    ),
    max_leaves=15,
)


@given(JUNK)
def test_it_either_takes_or_refuses_anything(sent: Any) -> None:
    try:
        told = reported_data.check_callback(sent)
    except InvalidParameterValue:
        return
    assert told.macs or told.bmc_addresses


PAYLOAD: dict[str, Any] = {"a": {"b": "text", "n": 5, "l": [1], "none": None}, "s": "x"}


@pytest.mark.parametrize("data", [PAYLOAD, read_only(PAYLOAD)])
def test_it_reads_what_is_there(data: Any) -> None:
    assert value_at(data, "a", "n") == 5
    assert text_at(data, "a", "b") == "text"
    assert list_at(data, "a", "l") == [1]


@pytest.mark.parametrize("keys", [("x",), ("a", "x"), ("s", "x"), ("a", "none"), ("a", "n", "x"), ("a", "l", "0")])
def test_it_gives_nothing_for_what_is_not_there(keys: tuple[str, ...]) -> None:
    assert (value_at(PAYLOAD, *keys), text_at(PAYLOAD, *keys), list_at(PAYLOAD, *keys)) == (None, None, [])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((five, 5) for five in (5, "5", 5.0, "5.0", "5.")),
        *((odd, None) for odd in (0, "0", -5, "-5", 0.0, True, 1.5, "1.5", "²", "9" * 30, 2**63, None)),
        *((odd, None) for odd in (float("nan"), float("inf"), 1e300, "N/A", "5 GB", "", ".", [5], {"x": 5})),
    ],
)
def test_it_reads_whole_numbers(value: Any, expected: int | None) -> None:
    assert whole_number_at({"x": value}, "x") == expected


@pytest.mark.parametrize("data", [None, [], "x", 5, [{"a": 1}]])
def test_it_reads_nothing_from_other_things(data: Any) -> None:
    assert value_at(data, "a") is None


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], ""),
        (["eth0", "a\nb"], r"'eth0', 'a\nb'"),
        (["x" * 100], f"'{'x' * 32}'"),
        (["e"] * 50, "'e', " * 15 + "'e' and more"),
    ],
)
def test_it_lists_names_that_machines_chose(names: list[str], expected: str) -> None:
    assert listed(names) == expected


DATA: dict[str, Any] = {"a": [1, {"b": [2]}], "c": {"d": "e"}}


@pytest.mark.demand("S82")
@pytest.mark.parametrize(
    "write",
    [
        lambda data: data.__setitem__("x", 1),
        lambda data: data["c"].__setitem__("x", 1),
        lambda data: data["a"][1].update(x=1),
        lambda data: data["a"][1].setdefault("x", []),
        lambda data: data.pop("a"),
        lambda data: data.popitem(),
        lambda data: data.clear(),
        lambda data: data.__delitem__("a"),
        lambda data: data.__ior__({"x": 1}),
        lambda data: data["a"].append(1),
        lambda data: data["a"][1]["b"].extend([1]),
        lambda data: data["a"].insert(0, 1),
        lambda data: data["a"].remove(1),
        lambda data: data["a"].pop(),
        lambda data: data["a"].sort(),
        lambda data: data["a"].reverse(),
        lambda data: data["a"].clear(),
        lambda data: data["a"].__setitem__(0, 1),
        lambda data: data["a"].__delitem__(0),
        lambda data: data["a"].__iadd__([1]),
        lambda data: data["a"].__imul__(2),
    ],
)
def test_it_refuses_every_write(write: Callable[[Any], Any]) -> None:
    data = read_only(DATA)
    with pytest.raises(InventoryIsReadOnly):
        write(data)
    assert data == DATA


def test_it_reads_like_plain_data() -> None:
    data: Any = read_only(DATA)
    assert data == DATA
    assert data.get("a")[1]["b"] == [2]
    assert json.loads(json.dumps(data)) == orjson.loads(orjson.dumps(data)) == DATA
    assert {**data}["c"] == {"d": "e"}
    assert isinstance(data, dict)
    assert isinstance(data["a"], list)


def test_it_shares_nothing_with_what_it_was_made_from() -> None:
    original = copy.deepcopy(DATA)
    data = read_only(original)
    original["a"][1]["b"].append(3)
    assert data == DATA


def test_it_gives_plain_deep_copies() -> None:
    plain = copy.deepcopy(read_only(DATA))
    plain["a"][1]["b"].append(3)
    assert plain["a"][1]["b"] == [2, 3]
    assert type(plain) is dict
