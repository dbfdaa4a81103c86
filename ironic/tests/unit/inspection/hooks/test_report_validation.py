"""Hook validate-interfaces: which interfaces count, from data alone."""

from typing import Any

import pytest

from ironic.core.errors import HardwareInspectionFailure
from ironic.inspection.hooks.report_validation import (
    ValidateInterfaces,
    all_interfaces,
    bmc_address,
    boot_mac,
    macs_of,
    valid_interfaces,
)
from ironic.tests.conftest import Setter
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC, Work, hooked, inventory, recorded

UPPER, LOWER = "AA:BB:CC:DD:EE:FF", "aa:bb:cc:dd:ee:ff"


@pytest.mark.parametrize(
    ("pxe_interface", "expected"),
    [
        (LOWER, LOWER),
        (UPPER, LOWER),
        ("01-aa-bb-cc-dd-ee-ff", LOWER),
        ("01-AA-BB-CC-DD-EE-FF", LOWER),
        ("aa-bb-cc-dd-ee-ff", LOWER),
        ("01-bb-cc-dd-ee-ff", "01:bb:cc:dd:ee:ff"),
        ("20-aa-bb-cc-dd-ee-ff", None),
        ("eth0", None),
        ("", None),
        (None, None),
        (5, None),
    ],
)
def test_it_knows_what_the_machine_booted_from(pxe_interface: Any, expected: str | None) -> None:
    assert boot_mac({"boot": {"pxe_interface": pxe_interface}}) == expected
    assert boot_mac({"boot": pxe_interface}) is None


@pytest.mark.parametrize(
    ("interface", "expected"),
    [
        ({"name": "eth0", "mac_address": MAC}, {"mac_address": MAC, "pxe_enabled": True, "ipv6_address": None}),
        ({"name": "eth0", "mac_address": UPPER}, {"mac_address": LOWER, "pxe_enabled": False, "ipv6_address": None}),
        (
            {"name": "eth0", "mac_address": MAC, "ipv6_address": "fe80::1%eth0", "more": [1]},
            {"mac_address": MAC, "pxe_enabled": True, "ipv6_address": "fe80::1", "more": [1]},
        ),
        ({"name": "eth0", "mac_address": "zz"}, None),
        ({"name": "eth0", "mac_address": None}, None),
        ({"name": "eth0"}, None),
        ({"name": "", "mac_address": MAC}, None),
        ({"mac_address": MAC}, None),
        ({"name": 5, "mac_address": MAC}, None),
        ("eth0", None),
        (None, None),
    ],
)
def test_it_describes_interfaces_that_have_a_name_and_an_address(
    interface: Any, expected: dict[str, Any] | None
) -> None:
    found = all_interfaces({"interfaces": [interface], "boot": {"pxe_interface": MAC}})
    assert found == ({} if expected is None else {"eth0": {"name": "eth0", **expected}})


def interface(pxe_enabled: bool = False, **fields: Any) -> dict[str, Any]:
    return {"mac_address": MAC, "pxe_enabled": pxe_enabled, **fields}


INTERFACES = {
    "lo": interface(ipv4_address="127.0.0.1"),
    "loop": interface(ipv6_address="::1"),
    "booted": interface(True, ipv4_address="192.0.2.1"),
    "addressed": interface(ipv6_address="2001:db8::1"),
    "bare": interface(ipv4_address=None),
    "odd": interface(ipv4_address="not one", ipv6_address=5),
}


@pytest.mark.demand("S86")
@pytest.mark.parametrize(
    ("add_ports", "expected"),
    [
        ("all", ["booted", "addressed", "bare", "odd"]),
        ("disabled", ["booted", "addressed", "bare", "odd"]),
        ("active", ["booted", "addressed"]),
        ("pxe", ["booted"]),
    ],
)
def test_it_chooses_what_may_become_a_port(add_ports: str, expected: list[str]) -> None:
    assert list(valid_interfaces(INTERFACES, add_ports)) == expected


def test_it_keeps_all_when_nobody_knows_what_was_booted_from() -> None:
    unknown = {name: one | {"pxe_enabled": False} for name, one in INTERFACES.items()}
    assert list(valid_interfaces(unknown, "pxe")) == ["booted", "addressed", "bare", "odd"]


def test_it_names_each_address_once() -> None:
    found = all_interfaces(recorded("bond-vlan")["inventory"])
    assert len(found) == 7
    assert macs_of(found) == ["02:00:5e:10:00:01", "02:00:5e:10:00:12", "02:00:5e:10:00:13", "a4:bf:01:00:00:10"]


@pytest.mark.demand("S171")
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"bmc_address": "192.0.2.7", "bmc_v6address": "2001:db8::7"}, "192.0.2.7"),
        ({"bmc_address": "0.0.0.0", "bmc_v6address": "2001:DB8:0::7"}, "2001:db8::7"),
        ({"bmc_address": None, "bmc_v6address": "::/0"}, None),
        ({}, None),
    ],
)
def test_it_finds_an_address_of_the_bmc(fields: dict[str, Any], expected: str | None) -> None:
    assert bmc_address(fields) == expected


@pytest.mark.demand("S86", "S171")
def test_it_leaves_its_findings_in_the_plugin_data(task: Work) -> None:
    data: dict[str, Any] = {"kept": 1}
    hooked(task, ValidateInterfaces().preprocess, inventory(MAC, OTHER_MAC, booted=MAC, bmc_address="192.0.2.7"), data)
    assert data["kept"] == 1
    assert {name: one["pxe_enabled"] for name, one in data["all_interfaces"].items()} == {"eth0": True, "eth1": False}
    assert data["valid_interfaces"] == data["all_interfaces"]
    assert data["valid_interfaces"]["eth0"] is not data["all_interfaces"]["eth0"]
    assert (data["macs"], data["bmc_address"]) == ([MAC, OTHER_MAC], "192.0.2.7")


@pytest.mark.parametrize(
    ("inventory", "add_ports", "part"),
    [
        ({}, "all", "no interface with a name and a valid MAC address"),
        ({"interfaces": [{"mac_address": MAC}]}, "all", "no interface with a name and a valid MAC address"),
        ({"interfaces": [{"name": "lo", "mac_address": MAC}]}, "all", "none of the interfaces 'lo' is usable"),
        (inventory(OTHER_MAC) | {"interfaces": [{"name": "x", "mac_address": MAC}]}, "active", "is 'active'"),
    ],
)
def test_it_fails_when_nothing_is_usable(conf: Setter, task: Work, inventory: Any, add_ports: str, part: str) -> None:
    conf(inspector__add_ports=add_ports)
    data: dict[str, Any] = {}
    with pytest.raises(HardwareInspectionFailure, match=part):
        hooked(task, ValidateInterfaces().preprocess, inventory, data)
    assert data == {}
