"""What LLDP frames say, value by value."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironic.inspection.lldp import Value, decode, frames_of, parse_frame
from ironic.inspection.lldp.lldp_parser import LONGEST_VALUE, MOST_INTERFACES, MOST_VALUES
from ironic.inspection.lldp.lldp_values import AUTONEGOTIATION_WORDS, DOT1, DOT3
from ironic.tests.unit.inspection.lab import recorded


def organization(owner: bytes, subtype: int, data: bytes) -> list[Any]:
    return [127, (owner + bytes([subtype]) + data).hex()]


NAMED = [
    ([1, "04001c73000001"], {"switch_chassis_id": "00:1c:73:00:00:01"}),
    ([1, "0501c0000201"], {"switch_chassis_id": "192.0.2.1"}),
    ([1, "0502" + "20010db8" + "00" * 11 + "01"], {"switch_chassis_id": "2001:db8::1"}),
    ([1, "0506001c73000001"], {"switch_chassis_id": "00:1c:73:00:00:01"}),
    ([1, "07" + b"rack 1".hex()], {"switch_chassis_id": "rack 1"}),
    ([1, "09" + b"rack 1".hex()], {}),
    ([1, "04001c7300"], {}),
    ([1, "0501c000"], {}),
    ([1, "07ff"], {}),
    ([1, ""], {}),
    ([2, "03001c73000001"], {"switch_port_id": "00:1c:73:00:00:01"}),
    ([2, "0401c0000201"], {"switch_port_id": "192.0.2.1"}),
    ([2, "05" + b"Ethernet1/12".hex()], {"switch_port_id": "Ethernet1/12"}),
    ([2, "07" + b"12\x00".hex()], {"switch_port_id": "12"}),
    ([2, "06" + b"12".hex()], {}),
    ([3, "0078"], {}),
    ([4, b"port 12".hex()], {"switch_port_description": "port 12"}),
    ([5, "tör".encode().hex()], {"switch_system_name": "tör"}),
    ([5, "ff"], {}),
    ([5, b"a\x00b".hex()], {}),
    ([6, b"NOS 4".hex()], {"switch_system_description": "NOS 4"}),
    (
        [7, "00140004"],
        {"switch_capabilities_support": ["Bridge", "Router"], "switch_capabilities_enabled": ["Bridge"]},
    ),
    ([7, "0014"], {}),
    ([8, "0501c00002fa02000f3e5900"], {"switch_mgmt_addresses": ["192.0.2.250"]}),
    ([8, "0901c00002fa"], {}),
    ([8, ""], {}),
    (organization(DOT1, 1, b"\x00\x65"), {"switch_port_untagged_vlan_id": 101}),
    (organization(DOT1, 1, b"\x65"), {}),
    (
        organization(DOT1, 2, b"\x06\x00\x65"),
        {
            "switch_port_protocol_vlan_support": True,
            "switch_port_protocol_vlan_enabled": True,
            "switch_port_protocol_vlan_ids": [101],
        },
    ),
    (
        organization(DOT1, 2, b"\x02\x00\x00"),
        {"switch_port_protocol_vlan_support": True, "switch_port_protocol_vlan_enabled": False},
    ),
    (organization(DOT1, 3, b"\x00\x65\x03pxe"), {"switch_port_vlans": [{"id": 101, "name": "pxe"}]}),
    (organization(DOT1, 3, b"\x00\x65\x09pxe"), {}),
    (organization(DOT1, 4, b"\x02\x88\x8e"), {"switch_protocol_identities": ["888e"]}),
    (organization(DOT1, 4, b"\x05\x88"), {}),
    (organization(DOT1, 6, b"\x00\x0a"), {"switch_port_management_vlan_id": 10}),
    (
        organization(DOT1, 7, b"\x03" + struct.pack(">I", 7)),
        {
            "switch_port_link_aggregation_support": True,
            "switch_port_link_aggregation_enabled": True,
            "switch_port_link_aggregation_id": 7,
        },
    ),
    (
        organization(DOT3, 3, b"\x01" + struct.pack(">I", 0)),
        {
            "switch_port_link_aggregation_support": True,
            "switch_port_link_aggregation_enabled": False,
            "switch_port_link_aggregation_id": 0,
        },
    ),
    (
        organization(DOT3, 1, b"\x03" + struct.pack(">HH", 0x6C01, 30)),
        {
            "switch_port_autonegotiation_support": True,
            "switch_port_autonegotiation_enabled": True,
            "switch_port_physical_capabilities": [
                "1000BASE-T fdx",
                "100BASE-TX fdx",
                "100BASE-TX hdx",
                "10BASE-T fdx",
                "10BASE-T hdx",
            ],
            "switch_port_mau_type": 30,
        },
    ),
    (organization(DOT3, 1, b"\x03\x6c"), {}),
    (organization(DOT3, 4, struct.pack(">H", 9216)), {"switch_port_mtu": 9216}),
    (organization(b"\x00\x12\xbb", 1, b"\x00\x00"), {}),
    ([127, "0080"], {}),
]


@pytest.mark.demand("S94")
@pytest.mark.parametrize(("value", "facts"), NAMED)
def test_it_reads_a_value(value: list[Any], facts: dict[str, Any]) -> None:
    assert parse_frame([value]) == facts


@pytest.mark.parametrize(("bit", "word"), sorted(AUTONEGOTIATION_WORDS.items()))
def test_it_reads_each_speed_from_its_own_bit(bit: int, word: str) -> None:
    facts = parse_frame([organization(DOT3, 1, b"\x03" + struct.pack(">HH", 1 << bit, 30))])
    assert facts["switch_port_physical_capabilities"] == [word]


def test_it_collects_what_several_values_say_and_takes_the_first_of_others() -> None:
    frame = [
        [5, b"first".hex()],
        [5, b"second".hex()],
        [8, "0501c0000201"],
        [8, "0501c0000202"],
        [8, "0501c0000202"],
        organization(DOT1, 3, b"\x00\x01\x01a"),
        organization(DOT1, 3, b"\x00\x02\x01b"),
    ]
    assert parse_frame(frame) == {
        "switch_system_name": "first",
        "switch_mgmt_addresses": ["192.0.2.1", "192.0.2.2"],
        "switch_port_vlans": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}],
    }


def test_it_stops_at_the_end_of_a_frame() -> None:
    assert parse_frame([[0, ""], [5, b"late".hex()]]) == {}


@pytest.mark.parametrize(
    "item",
    [
        None,
        5,
        "x",
        [],
        [1],
        [1, "00", 2],
        ["1", "00"],
        [True, "00"],
        [-1, "00"],
        [128, "00"],
        [1, 5],
        [1, "0"],
        [1, "zz"],
    ]
    + [[1, "00" * (LONGEST_VALUE + 1)]],
)
def test_it_leaves_out_what_is_malformed(item: Any) -> None:
    assert parse_frame([item, [5, b"tor".hex()]]) == {"switch_system_name": "tor"}
    assert list(decode([item, [5, "61"]])) == [Value(5, b"a")]


def test_it_reads_the_longest_value_there_is() -> None:
    assert len(parse_frame([[5, b"x".hex() * LONGEST_VALUE]])["switch_system_name"]) == LONGEST_VALUE


def test_it_looks_at_so_many_values_only() -> None:
    assert parse_frame([[3, "00"]] * MOST_VALUES + [[5, b"late".hex()]]) == {}
    assert len(list(decode([[3, "00"]] * 2 * MOST_VALUES))) == MOST_VALUES


def test_it_looks_at_so_many_interfaces_only() -> None:
    raw = {f"eth{number}": [[5, "61"]] for number in range(2 * MOST_INTERFACES)}
    assert list(frames_of({}, {"lldp_raw": raw})) == list(raw)[:MOST_INTERFACES]


@pytest.mark.parametrize(
    ("raw", "own", "expected"),
    [
        ({"eth0": [[5, "61"]]}, [[5, "62"]], {"eth0": [[5, "61"]]}),
        ({"eth0": []}, [[5, "62"]], {"eth0": [[5, "62"]]}),
        (None, [[5, "62"]], {"eth0": [[5, "62"]]}),
        ({"eth1": [[5, "61"]]}, None, {"eth1": [[5, "61"]]}),
        ("x", "x", {}),
        ({"eth0": "x"}, None, {}),
    ],
)
def test_it_prefers_what_the_collector_has_caught(raw: Any, own: Any, expected: dict[str, Any]) -> None:
    assert frames_of({"interfaces": [{"name": "eth0", "lldp": own}, None]}, {"lldp_raw": raw}) == expected


@pytest.mark.demand("S94")
def test_it_reads_recorded_frames() -> None:
    payload = recorded("lldp-raw")
    parsed = {name: parse_frame(frame) for name, frame in frames_of(payload["inventory"], payload).items()}
    assert sorted(parsed) == ["eth0", "eth1"]
    assert parsed["eth1"] == {
        "switch_chassis_id": "00:1c:73:00:00:02",
        "switch_port_id": "Ethernet1/12",
        "switch_port_description": "port Ethernet1/12",
        "switch_system_name": "tor-a2",
        "switch_system_description": "Contoso NOS 4.21.0F",
        "switch_capabilities_support": ["Bridge", "Router"],
        "switch_capabilities_enabled": ["Bridge", "Router"],
        "switch_mgmt_addresses": ["192.0.2.250"],
        "switch_port_untagged_vlan_id": 101,
        "switch_port_vlans": [{"id": 101, "name": "provision"}],
        "switch_port_autonegotiation_support": True,
        "switch_port_autonegotiation_enabled": True,
        "switch_port_physical_capabilities": [
            "1000BASE-T fdx",
            "100BASE-TX fdx",
            "100BASE-TX hdx",
            "10BASE-T fdx",
            "10BASE-T hdx",
        ],
        "switch_port_mau_type": 30,
        "switch_port_mtu": 9216,
        "switch_port_link_aggregation_support": True,
        "switch_port_link_aggregation_enabled": True,
        "switch_port_link_aggregation_id": 7,
    }


@given(st.lists(st.tuples(st.integers(0, 127), st.binary(max_size=40))))
def test_it_reads_anything_without_an_error(values: list[tuple[int, bytes]]) -> None:
    assert isinstance(parse_frame([[kind, data.hex()] for kind, data in values]), dict)


@pytest.mark.parametrize("odd", ["text", 5, {"a": 1}, [], None])
def test_an_odd_frame_of_the_collector_leaves_that_of_the_inventory(odd: object) -> None:
    inventory = {"interfaces": [{"name": "eth0", "lldp": [[5, "61"]]}]}
    assert frames_of(inventory, {"lldp_raw": {"eth0": odd}}) == {"eth0": [[5, "61"]]}
