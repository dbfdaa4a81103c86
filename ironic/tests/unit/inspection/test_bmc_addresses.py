"""Addresses of a BMC: collected, resolved, remembered for look-ups."""

import logging
from typing import Any

import pytest

from ironic.core.flows import states
from ironic.db import Store
from ironic.inspection import bmc_addresses
from ironic.tests.unit.inspection.lab import Work, new_node

NAMES = {
    "bmc.example.org": ["192.0.2.7", "2001:DB8::7"],
    "local.example.org": ["127.0.0.1", "::1"],
    "both.example.org": ["192.0.2.8", "fe80::8%2", "192.0.2.8"],
}


def resolve(host: str) -> list[str]:
    if host not in NAMES:
        raise OSError("unknown host")
    return NAMES[host]


@pytest.mark.parametrize(
    ("driver_info", "expected"),
    [
        ({}, []),
        ({"redfish_address": "https://192.0.2.1"}, ["192.0.2.1"]),
        ({"redfish_address": "https://192.0.2.1:8443/redfish/v1"}, ["192.0.2.1"]),
        ({"redfish_address": "https://[2001:DB8:0::1]:8443"}, ["2001:db8::1"]),
        ({"redfish_address": "192.0.2.1:8000"}, ["192.0.2.1"]),
        ({"ipmi_address": "192.0.2.1"}, ["192.0.2.1"]),
        ({"ipmi_address": "2001:db8::1"}, ["2001:db8::1"]),
        ({"ipmi_address": "[2001:db8::1]"}, ["2001:db8::1"]),
        ({"ipmi_address": " [2001:DB8:0::1]:623"}, ["2001:db8::1"]),
        ({"ipmi_address": "[::ffff:192.0.2.7]"}, ["192.0.2.7"]),
        ({"ipmi_address": "[::1]"}, []),
        ({"ipmi_address": " 192.0.2.1 "}, ["192.0.2.1"]),
        ({"redfish_address": "https://bmc.example.org/x"}, ["bmc.example.org", "192.0.2.7", "2001:db8::7"]),
        ({"redfish_address": "BMC.example.org"}, ["bmc.example.org", "192.0.2.7", "2001:db8::7"]),
        ({"x_address": "both.example.org"}, ["both.example.org", "192.0.2.8", "fe80::8"]),
        ({"x_address": "local.example.org"}, ["local.example.org"]),
        ({"x_address": "localhost"}, []),
        ({"x_address": "http://127.0.0.1:8000"}, []),
        ({"x_address": "::1"}, []),
        ({"x_address": "0.0.0.0"}, []),
        ({"x_address": "gone.example.org"}, ["gone.example.org"]),
        ({"a_address": "192.0.2.1", "b_address": "https://192.0.2.1"}, ["192.0.2.1"]),
        ({"redfish_addresses": "192.0.2.1", "address_of": "192.0.2.2"}, []),
        ({"x_address": None, "y_address": 5, "z_address": ["192.0.2.1"], "v_address": ""}, []),
        ({"x_address": "http://["}, []),
        ({"ipmi_address": "192.0.2.1", "ipmi_target_address": "0x20", "ipmi_bridging": "single"}, []),
        ({"ipmi_address": "192.0.2.1", "redfish_address": "192.0.2.2", "ipmi_bridging": "dual"}, ["192.0.2.2"]),
        ({"ipmi_address": "192.0.2.1", "ipmi_bridging": "no"}, ["192.0.2.1"]),
        ({"ipmi_local_address": "32", "ipmi_address": "192.0.2.1"}, ["192.0.2.1"]),
    ],
)
def test_it_collects_addresses(driver_info: dict[str, Any], expected: list[str]) -> None:
    known = bmc_addresses.system_resolver if not expected and "localhost" in driver_info.values() else resolve
    assert bmc_addresses.collect(driver_info, known) == expected


@pytest.mark.parametrize(
    ("driver_info", "expected"),
    [
        ({"ipmi_address": "192.0.2.1"}, "192.0.2.1"),
        ({"ipmi_address": "192.0.2.1", "ipmi_port": 6230}, "192.0.2.1:6230"),
        ({"ipmi_transit_address": "0x82", "ipmi_address": "192.0.2.1", "ipmi_bridging": "dual"}, "192.0.2.1"),
        ({"redfish_address": "https://192.0.2.1"}, "192.0.2.1"),
        ({}, None),
    ],
)
def test_it_names_the_bmc_that_requests_go_to(driver_info: dict[str, Any], expected: str | None) -> None:
    assert bmc_addresses.server_of(driver_info) == expected


@pytest.mark.demand("S78")
@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (None, ["192.0.2.1", "192.0.2.3"]),
        (("redfish_address",), ["192.0.2.1"]),
        (("acme_bmc", "redfish_address"), ["192.0.2.1", "192.0.2.2"]),
        ((), []),
    ],
)
def test_a_hardware_type_may_declare_its_keys(keys: tuple[str, ...] | None, expected: list[str]) -> None:
    driver_info = {"redfish_address": "https://192.0.2.1", "acme_bmc": "192.0.2.2", "proxy_address": "192.0.2.3"}
    assert bmc_addresses.collect(driver_info, resolve, keys=keys) == expected


def test_it_warns_about_names_that_mean_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "ironic"):
        bmc_addresses.collect({"x_address": "gone.example.org"}, resolve)
    assert "gone.example.org can't be resolved" in caplog.messages[0]


def test_it_asks_the_system_for_addresses() -> None:
    assert "127.0.0.1" in bmc_addresses.system_resolver("127.0.0.1")


def test_it_remembers_them_where_look_ups_find_them(store: Store, task: Work) -> None:
    bmc_addresses.remember(store, task.node, ["192.0.2.7", "bmc.example.org"])
    task.node.provision_state = states.INSPECTWAIT
    task.node.save()
    assert [found.uuid for found in store.nodes.by_bmc_addresses(["192.0.2.7"], states.INSPECTWAIT)] == [task.node.uuid]
    again = store.nodes.get(task.node.uuid)
    assert again.driver_internal_info["lookup_bmc_addresses"] == ["192.0.2.7", "bmc.example.org"]
    bmc_addresses.forget(store, task.node)
    task.node.save()
    assert store.nodes.bmc_addresses(task.node.id) == []
    assert "lookup_bmc_addresses" not in store.nodes.get(task.node.uuid).driver_internal_info


def test_it_leaves_no_key_when_there_is_nothing_to_remember(store: Store) -> None:
    node = new_node(store)
    bmc_addresses.remember(store, node, [])
    assert not node.changes()
