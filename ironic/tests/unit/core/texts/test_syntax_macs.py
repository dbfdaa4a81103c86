"""MAC addresses that a machine reports: those that identify nobody count as none."""

import pytest

from ironic.core.texts import syntax
from ironic.inspection.hooks.report_validation import all_interfaces
from ironic.inspection.reported_data import check_callback

GOOD = "52:54:00:00:00:01"
NOBODY: list[object] = [
    None,
    5,
    "",
    [],
    "00:00:00:00:00:00",
    "ff:ff:ff:ff:ff:ff",
    "01:00:5e:00:00:01",
    "33:33:00:00:00:01",
    "x",
]


@pytest.mark.parametrize("mac", NOBODY)
def test_such_an_address_costs_only_its_own_card(mac: object) -> None:
    assert syntax.machine_mac_of(mac) is None
    inventory = {"interfaces": [{"name": "odd", "mac_address": mac}, {"name": "eth0", "mac_address": GOOD}, None, 7]}
    assert check_callback({"inventory": inventory}).macs == [GOOD]
    assert list(all_interfaces(inventory)) == ["eth0"]


def test_a_locally_administered_address_is_one() -> None:
    assert syntax.machine_mac_of("02:00:00:00:00:0A") == "02:00:00:00:00:0a"
