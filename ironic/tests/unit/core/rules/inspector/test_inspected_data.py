"""Rules and clients of the standalone inspector find interfaces under the names that they know."""

from typing import Any

import pytest

from ironic.core.rules import Facts, check_rule, evaluate
from ironic.core.rules.inspector import compile_rule, stored_form
from ironic.core.rules.inspector.conversion import IMPOSSIBLE, converted
from ironic.core.rules.inspector.inspected_data import inspected_data
from ironic.core.rules.paths import copy
from ironic.tests.unit.core.rules.lab import NODE

MAC = "52:54:00:00:00:01"
INTERFACE = {"name": "eth0", "mac_address": MAC, "ipv4_address": None, "ipv6_address": "fd00::1", "pxe_enabled": True}
SWITCH = {"switch_port_id": "ge-0/0/1"}
PLUGIN_DATA: dict[str, Any] = {
    "all_interfaces": {"eth0": INTERFACE, "odd": "text"},
    "valid_interfaces": {"eth0": INTERFACE},
    "parsed_lldp": {"eth0": SWITCH},
}


@pytest.mark.parametrize("key", ["all_interfaces", "interfaces"])
def test_interfaces_have_the_names_of_then_beside_those_of_now(key: str) -> None:
    before = copy(PLUGIN_DATA)
    found = inspected_data({}, PLUGIN_DATA)[key]
    old = {"mac": MAC, "ip": "fd00::1", "client_id": None, "pxe": True, "lldp_processed": SWITCH}
    assert found == {"eth0": INTERFACE | old}
    assert before == PLUGIN_DATA


@pytest.mark.parametrize("value", [None, "text", [INTERFACE], 5])
def test_what_a_ramdisk_reports_there_may_be_anything(value: Any) -> None:
    assert inspected_data({}, {"all_interfaces": value})["all_interfaces"] == value
    assert inspected_data({}, {**PLUGIN_DATA, "parsed_lldp": value})["interfaces"]["eth0"]["mac"] == MAC


def rule(field: str, value: object) -> dict[str, Any]:
    return {
        "description": "x",
        "conditions": [{"op": "eq", "field": field, "value": value}],
        "actions": [{"action": "set-attribute", "path": "/extra/a", "value": "b"}],
    }


FIELDS = [
    ("all_interfaces.eth0.mac", MAC),
    ("data://interfaces.eth0.mac", MAC),
    ("all_interfaces.eth0.pxe", True),
    ("all_interfaces.eth0.mac_address", MAC),
    ("all_interfaces.eth0.lldp_processed.switch_port_id", "ge-0/0/1"),
]


@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_a_condition_on_them_holds_and_its_conversion_too(field: str, value: object) -> None:
    made = converted(rule(field, value))
    assert made.status != IMPOSSIBLE, made.remarks
    for one in (compile_rule(stored_form(rule(field, value))), check_rule(made.rule)):
        outcome = evaluate([one], Facts({}, copy(PLUGIN_DATA), copy(NODE)))
        assert outcome.failure is None and outcome.explanation[0]["applies"] is True
        other = evaluate([one], Facts({}, {}, copy(NODE)))
        assert not other.explanation or other.explanation[0]["applies"] is not True


def test_the_address_has_no_single_key_now() -> None:
    made = converted(rule("all_interfaces.eth0.ip", "fd00::1"))
    assert made.status == IMPOSSIBLE
    assert "two keys now" in made.remarks[0]
