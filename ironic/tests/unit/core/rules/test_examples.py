"""The specification's example rules, its typing mistake mended, with hardware types that this service has (S171)."""

from typing import Any

import pytest
import yaml

from ironic.core.rules import check_rule
from ironic.core.rules.paths import apply
from ironic.tests.unit.core.rules.lab import INVENTORY, NODE, facts, run

EXAMPLES = """
- description: Initialize freshly discovered nodes
  sensitive: true
  conditions:
    - op: is-true
      args: ["{node.auto_discovered}"]
    - op: "!is-empty"
      args: ["{plugin_data[bmc_address]}"]
  actions:
    - op: set-attribute
      args: ["/driver", "redfish"]
    - op: set-attribute
      args: ["/driver_info/redfish_address", "{plugin_data[bmc_address]}"]
    - op: set-attribute
      args: ["/driver_info/redfish_username", "admin"]
    - op: set-attribute
      args: ["/driver_info/redfish_password", "pa$$w0rd"]
- description: Initialize Dell nodes using IPv6
  sensitive: true
  conditions:
    - op: is-true
      args: ["{node.auto_discovered}"]
    - op: contains
      args: ["{inventory[system_vendor][manufacturer]}", "(?i)dell"]
  actions:
    - op: set-attribute
      args: ["/driver", "redfish"]
    - op: set-attribute
      args: ["/driver_info/redfish_address", "https://{inventory[bmc_v6address]}"]
    - op: set-attribute
      args: ["/driver_info/redfish_username", "root"]
    - op: set-attribute
      args: ["/driver_info/redfish_password", "calvin"]
"""
FIRST, SECOND = yaml.safe_load(EXAMPLES)


def driver_of(document: dict[str, Any], **parts: Any) -> tuple[str, dict[str, Any]]:
    outcome = run(document, known=facts(**parts))
    assert outcome.failure is None
    node: dict[str, Any] = {"driver": "fake-hardware", "driver_info": {}}
    apply(node, outcome.changes.node)
    return node["driver"], node["driver_info"]


DISCOVERED = NODE | {"driver_info": {}, "auto_discovered": True}


def test_it_initializes_a_discovered_node() -> None:
    expected = {"redfish_address": "192.0.2.7", "redfish_username": "admin", "redfish_password": "pa$$w0rd"}
    assert driver_of(FIRST, node=DISCOVERED) == ("redfish", expected)


@pytest.mark.parametrize(
    "parts",
    [{"node": DISCOVERED | {"auto_discovered": False}}, {"node": DISCOVERED, "plugin_data": {}}],
    ids=["enrolled by hand", "no BMC"],
)
def test_it_leaves_other_nodes_alone(parts: dict[str, Any]) -> None:
    assert driver_of(FIRST, **parts) == ("fake-hardware", {})


def test_it_initializes_a_machine_of_one_vendor_by_ipv6() -> None:
    inventory = INVENTORY | {"bmc_v6address": "2001:db8::7"}
    driver, driver_info = driver_of(SECOND, node=DISCOVERED, inventory=inventory)
    assert driver == "redfish"
    assert driver_info["redfish_address"] == "https://2001:db8::7"
    other = inventory | {"system_vendor": {"manufacturer": "Other"}}
    assert driver_of(SECOND, node=DISCOVERED, inventory=other) == ("fake-hardware", {})


def test_it_hides_what_the_examples_hold() -> None:
    assert check_rule(FIRST).sensitive
    (told,) = run(FIRST, known=facts(node=DISCOVERED)).explanation
    assert "changes" not in told
