"""The body of continue_inspection: what is taken from it, what is refused."""

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironic.core.errors import InvalidParameterValue
from ironic.inspection import callback
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC, recorded

UUID = "0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b11"


def body(*macs: Any, **inventory: Any) -> dict[str, Any]:
    return {"inventory": {"interfaces": [{"name": "eth0", "mac_address": mac} for mac in macs], **inventory}}


def test_it_takes_a_body_apart() -> None:
    sent = body(MAC, bmc_address="192.0.2.7", bmc_v6address="::/0", cpu={}) | {"error": None, "root_disk": {}}
    told = callback.check(sent)
    assert told.inventory is sent["inventory"]
    assert told.plugin_data == {"error": None, "root_disk": {}}
    assert (told.macs, told.bmc_addresses) == ([MAC], ["192.0.2.7"])


def test_it_is_content_with_the_least() -> None:
    inventory, plugin_data, macs, bmc_addresses = callback.check({"inventory": {"interfaces": [{"mac_address": MAC}]}})
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
    assert callback.check(body(*macs)).macs == expected


@pytest.mark.parametrize(
    ("v4", "v6", "expected"),
    [
        ("192.0.2.7", "2001:DB8:0::7", ["192.0.2.7", "2001:db8::7"]),
        ("0.0.0.0", "::/0", []),
        (None, "fe80::1%eth0", ["fe80::1"]),
        ("nonsense", "", []),
        ("0.0.0.0", "2001:db8:b::c0de", ["2001:db8:b::c0de"]),
    ],
)
def test_it_reads_the_addresses_of_the_bmc(v4: str | None, v6: str | None, expected: list[str]) -> None:
    assert callback.check(body(MAC, bmc_address=v4, bmc_v6address=v6)).bmc_addresses == expected


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
        body(MAC, None),
        body("bogus"),
        body(MAC, bmc_address=5),
        body(MAC, bmc_v6address=["::1"]),
        body(*[MAC] * 1025),
    ],
)
def test_it_refuses_a_malformed_body(sent: Any) -> None:
    with pytest.raises(InvalidParameterValue, match=r"^Invalid inspection data: .*\.$"):
        callback.check(sent)


def test_it_needs_something_to_find_the_node_by() -> None:
    assert callback.check(body("bogus"), UUID).macs == []
    assert callback.check(body("bogus", bmc_address="192.0.2.7")).bmc_addresses == ["192.0.2.7"]
    with pytest.raises(InvalidParameterValue, match="no valid MAC address, no BMC address and no node_uuid"):
        callback.check(body("bogus", bmc_address="0.0.0.0"))


@pytest.mark.parametrize("uuid", ["bogus", "", "name-of-a-node"])
def test_it_refuses_what_is_no_uuid(uuid: str) -> None:
    with pytest.raises(InvalidParameterValue, match="node_uuid is no UUID"):
        callback.check(body(MAC), uuid)


def test_it_logs_little_of_what_it_leaves_out(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "ironic"):
        callback.check(body(MAC, "x\n" * 5000))
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
    told = callback.check(recorded(name))
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
        told = callback.check(sent)
    except InvalidParameterValue:
        return
    assert told.macs or told.bmc_addresses
