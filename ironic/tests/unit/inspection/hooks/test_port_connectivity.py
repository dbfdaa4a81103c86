"""Hooks that complete ports and read what switches say."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.inspection import reported_data
from ironic.inspection.hooks import port_connectivity
from ironic.inspection.hooks.port_connectivity import LocalLinkConnection, ParseLldp, PhysicalNetwork
from ironic.inspection.hooks.report_validation import ValidateInterfaces
from ironic.tests.conftest import Setter
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC, Work, hooked, inventory, new_port, recorded

CHASSIS, PORT, NAME = [1, "04001c73000001"], [2, "0545"], [5, b"tor".hex()]
LINK = {"switch_id": "00:1c:73:00:00:01", "port_id": "E", "switch_info": "tor"}


@pytest.mark.demand("S94")
def test_it_puts_readable_data_beside_the_raw_ones(task: Work) -> None:
    data: dict[str, Any] = {"lldp_raw": {"eth0": [CHASSIS, NAME], "eth1": [], "eth2": ["x"]}}
    hooked(task, ParseLldp(), {}, data)
    assert data["parsed_lldp"] == {"eth0": {"switch_chassis_id": "00:1c:73:00:00:01", "switch_system_name": "tor"}}


def test_it_puts_nothing_where_nothing_was_caught(task: Work) -> None:
    data: dict[str, Any] = {"lldp_raw": None}
    hooked(task, ParseLldp(), inventory(MAC), data)
    assert data == {"lldp_raw": None}


@pytest.mark.demand("S92")
@pytest.mark.parametrize(
    ("frame", "before", "after"),
    [
        ([CHASSIS, PORT, NAME], {}, LINK),
        ([CHASSIS, CHASSIS, PORT, NAME, [0, ""], [2, "0546"]], {}, LINK),
        ([CHASSIS, PORT, NAME], {"port_id": "mine"}, {**LINK, "port_id": "mine"}),
        ([[1, "0772"], PORT], {}, {"port_id": "E"}),
        ([[1, "zz"], CHASSIS, PORT, [5, "zz"], [5, "616"], [5, 7], None, NAME], {}, LINK),
        ([CHASSIS, "x", NAME, PORT], {"port_id": "mine"}, {**LINK, "port_id": "mine"}),
        ([], {}, {}),
    ],
)
def test_it_completes_the_link_of_a_port(
    task: Work, frame: list[Any], before: dict[str, str], after: dict[str, str]
) -> None:
    new_port(task.store, task.node, MAC, local_link_connection=before)
    data: dict[str, Any] = {"lldp_raw": {"eth0": frame}}
    found = inventory(MAC, OTHER_MAC)
    hooked(task, ValidateInterfaces().preprocess, found, data)
    hooked(task, LocalLinkConnection(), found, data)
    (port,) = task.store.ports.find(node_id=task.node.id)
    assert port.local_link_connection == after


@pytest.mark.demand("S92")
def test_it_completes_the_links_of_recorded_frames(task: Work) -> None:
    data = recorded("lldp-raw")
    found = data.pop("inventory")
    for interface in found["interfaces"]:
        new_port(task.store, task.node, interface["mac_address"])
    hooked(task, ValidateInterfaces().preprocess, found, data)
    hooked(task, LocalLinkConnection(), found, data)
    links = [port.local_link_connection for port in task.store.ports.find(node_id=task.node.id)]
    assert links == [
        {"switch_id": "00:1c:73:00:00:01", "port_id": "Ethernet1/12", "switch_info": "tor-a1"},
        {"switch_id": "00:1c:73:00:00:02", "port_id": "Ethernet1/12", "switch_info": "tor-a2"},
        {},
    ]


MAP = port_connectivity.read_map(["192.0.2.0/25:a", "192.0.2.0/24:b", "2001:db8::/64:c", "10.0.0.1/8:d"])


@pytest.mark.demand("S96")
@pytest.mark.parametrize(
    ("interface", "expected"),
    [
        ({"ipv4_address": "192.0.2.1"}, "a"),
        ({"ipv4_address": "192.0.2.200"}, "b"),
        ({"ipv4_address": "203.0.113.1", "ipv6_address": "2001:db8::1%eth0"}, "c"),
        ({"ipv4_address": "192.0.2.1", "ipv6_address": "2001:db8::1"}, "a"),
        ({"ipv4_address": "10.9.9.9"}, "d"),
        ({"ipv4_address": "203.0.113.1"}, None),
        ({"ipv4_address": 5, "ipv6_address": "x"}, None),
        ({}, None),
    ],
)
def test_it_knows_networks_by_addresses(interface: dict[str, Any], expected: str | None) -> None:
    assert port_connectivity.first_match(reported_data.ip_addresses_of(interface), MAP) == expected


@pytest.mark.parametrize("entry", ["nonsense", "192.0.2.0/24", "192.0.2.0/24:", "999.0.0.0/8:x"])
def test_it_refuses_a_map_that_it_can_not_use(entry: str) -> None:
    with pytest.raises(InvalidParameterValue, match="physical_network_cidr_map can't be used"):
        port_connectivity.read_map([entry])


@pytest.mark.demand("S96")
@pytest.mark.parametrize(("before", "after"), [(None, "a"), ("other", "a"), ("a", "a")])
def test_it_sets_the_network_of_existing_ports(conf: Setter, task: Work, before: str | None, after: str) -> None:
    conf(inspector__physical_network_cidr_map=["192.0.2.0/24:a"])
    new_port(task.store, task.node, MAC, physical_network=before)
    new_port(task.store, task.node, OTHER_MAC, physical_network="stays")
    data: dict[str, Any] = {}
    hooked(task, ValidateInterfaces().preprocess, inventory(MAC, OTHER_MAC), data)
    hooked(task, PhysicalNetwork(), {}, data)
    assert [port.physical_network for port in task.store.ports.find(node_id=task.node.id)] == [after, "stays"]


@pytest.mark.demand("S96")
def test_it_can_be_told_networks_in_another_way(task: Work) -> None:
    class ByName(PhysicalNetwork):
        def physical_network_of(self, task: Any, interface: Any) -> str | None:
            return f"net-{interface['name']}"

    new_port(task.store, task.node, MAC)
    data: dict[str, Any] = {}
    hooked(task, ValidateInterfaces().preprocess, inventory(MAC), data)
    hooked(task, ByName(), {}, data)
    assert [port.physical_network for port in task.store.ports.find(node_id=task.node.id)] == ["net-eth0"]


def test_it_gives_a_card_the_network_of_the_bond_on_it(conf: Setter, task: Work) -> None:
    conf(inspector__physical_network_cidr_map=["192.0.2.0/24:a", "198.51.100.0/24:b"])
    new_port(task.store, task.node, MAC)
    found = inventory(MAC, MAC, MAC)
    found["interfaces"][0]["ipv4_address"] = None
    found["interfaces"][1]["ipv4_address"] = "198.51.100.1"
    found["interfaces"][2]["ipv4_address"] = "192.0.2.1"
    data: dict[str, Any] = {}
    hooked(task, ValidateInterfaces().preprocess, found, data)
    hooked(task, PhysicalNetwork(), found, data)
    assert [port.physical_network for port in task.store.ports.find(node_id=task.node.id)] == ["b"]


@pytest.mark.parametrize("spoilt", [None, "x", {"eth0": "x"}, {"eth0": {}}])
def test_it_leaves_ports_alone_when_a_rule_has_spoilt_the_interfaces(task: Work, spoilt: Any) -> None:
    new_port(task.store, task.node, MAC)
    data = {"all_interfaces": spoilt, "lldp_raw": {"eth0": [PORT]}}
    hooked(task, LocalLinkConnection(), {}, data)
    hooked(task, PhysicalNetwork(), {}, data)
    assert [port.local_link_connection for port in task.store.ports.find(node_id=task.node.id)] == [{}]
