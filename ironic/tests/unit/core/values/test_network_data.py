"""Network data of a node: what their form demands, each rule with a wrong example."""

import copy
from typing import Any

import pytest

from ironic.core.values import network_data

WHOLE: dict[str, Any] = {
    "links": [
        {"id": "eth0", "type": "phy", "ethernet_mac_address": "52:54:00:AA:00:01", "mtu": 1500, "vif_id": "v"},
        {"id": "bond0", "type": "bond", "bond_links": ["eth0"], "bond_mode": "802.3ad", "bond_miimon": 100},
        {"id": "vlan7", "type": "vlan", "vlan_id": 7, "vlan_link": "bond0", "vlan_mac_address": "52:54:00:aa:00:02"},
        {"id": "odd", "type": "a-drivers-own", "mtu": None, "vlan_id": "12"},
    ],
    "networks": [
        {
            "id": "n0", "link": "vlan7", "type": "ipv4", "ip_address": "192.0.2.100", "netmask": "255.255.255.0",
            "network_id": "x", "services": [{"type": "dns", "address": "192.0.2.1"}],
            "routes": [{"network": "0.0.0.0", "netmask": "0.0.0.0", "gateway": "192.0.2.1"}],
        },
        {
            "id": "n1", "link": "eth0", "type": "ipv6", "ip_address": "2001:db8::7/64", "netmask": "64",
            "routes": [{"network": "::", "netmask": "::", "gateway": "2001:db8::1"}],
        },
        {"id": "n2", "link": "eth0", "type": "ipv6", "ip_address": "2001:db8::7", "netmask": "ffff:ffff::"},
        {"id": "n3", "link": "eth0", "type": "ipv4_dhcp"},
        {"id": "n4"},
    ],
    "services": [{"type": "dns", "address": "2001:db8::53"}],
}  # fmt: skip


@pytest.mark.parametrize("document", [None, {}, WHOLE, {"links": [], "networks": [], "services": []}])
def test_the_published_form_is_accepted(document: Any) -> None:
    assert network_data.fault(document) is None


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("links",), {}), (("other",), []), (("links", 0), "eth0"), (("links", 0, "id"), 7),
        (("networks", 0, "id"), None),
        (("links", 0, "type"), 5), (("links", 0, "ethernet_mac_address"), "52:54"), (("links", 0, "mtu"), 0),
        (("links", 0, "mtu"), True), (("links", 0, "vif_id"), []), (("links", 1, "bond_links"), "eth0"),
        (("links", 1, "bond_links"), [1]), (("links", 1, "bond_miimon"), -1), (("links", 2, "vlan_id"), 4096),
        (("links", 2, "vlan_link"), {}), (("links", 2, "vlan_mac_address"), "x"), (("networks", 0, "link"), 1),
        (("networks", 0, "type"), "ipv5"), (("networks", 0, "type"), ["ipv4"]),
        (("networks", 0, "ip_address"), "192.0.2.100/24"), (("networks", 0, "ip_address"), "2001:db8::7"),
        (("networks", 0, "ip_address"), 7), (("networks", 0, "netmask"), "24"), (("networks", 0, "network_id"), 1),
        (("networks", 0, "routes"), {}), (("networks", 0, "routes", 0), "x"),
        (("networks", 0, "routes", 0, "gateway"), "router"), (("networks", 0, "routes", 0, "network"), "::"),
        (("networks", 0, "routes", 0, "netmask"), "0.0.0.0/0"), (("networks", 0, "services", 0, "address"), "dns"),
        (("networks", 0, "services"), "dns"), (("networks", 1, "ip_address"), "192.0.2.1"),
        (("networks", 1, "netmask"), "129"), (("networks", 1, "routes", 0, "gateway"), "192.0.2.1"),
        (("services", 0), "dns"), (("services", 0, "type"), 5), (("services", 0, "address"), "2001:db8::53/64"),
    ],
)  # fmt: skip
def test_each_rule_refuses_something(path: tuple[str | int, ...], value: Any) -> None:
    document: Any = copy.deepcopy(WHOLE)
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    found = network_data.fault(document)
    assert found is not None
    assert "network_data" in found
