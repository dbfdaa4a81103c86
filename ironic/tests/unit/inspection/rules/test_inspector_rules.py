"""Rules of the standalone inspector as they are stored: created, replaced, listed, shown, deleted."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.resource_errors import InspectionRuleAlreadyExists, InspectionRuleNotFound
from ironic.db import Store
from ironic.inspection.rules import inspector_rules
from ironic.tests.unit.inspection.lab import post

UUID = "6f5d3a0e-9a39-4f0e-8a57-3d0c6b4f1a01"
OTHER = "6f5d3a0e-9a39-4f0e-8a57-3d0c6b4f1a02"

# The example of the blueprint, with a comma less.
BLUEPRINT: dict[str, Any] = {
    "description": "human-readable description",
    "conditions": [
        {"field": "inventory.disk.*.size", "op": "gt", "value": 4},
        {"field": "inventory.network.*.ipv4", "op": "net", "value": "192.0.2.0/24"},
        {"field": "memory_mb", "op": "ge", "value": 4096},
    ],
    "actions": [
        {"action": "set-capability", "name": "much-memory", "value": "wow"},
        {"action": "append-attribute", "key": "/extra/matched", "value": "much-memory"},
    ],
}
USUAL = {"multiple": "any", "invert": False}


@pytest.mark.demand("S174", "S187")
def test_the_rule_of_the_blueprint_is_stored_and_shown_as_it_was_posted(store: Store) -> None:
    made = inspector_rules.create(store, BLUEPRINT)
    shown = inspector_rules.show(store, made["uuid"])
    assert shown == made
    assert shown["conditions"] == [one | USUAL for one in BLUEPRINT["conditions"]]
    assert shown["actions"] == BLUEPRINT["actions"]
    assert (shown["description"], shown["scope"]) == (BLUEPRINT["description"], None)
    # An answer may be sent back as it is.
    again = inspector_rules.replace(store, made["uuid"], shown | {"links": []})
    assert again == shown


@pytest.mark.demand("S174")
def test_a_rule_is_replaced_and_keeps_its_place(store: Store) -> None:
    inspector_rules.create(store, BLUEPRINT | {"uuid": UUID})
    inspector_rules.create(store, BLUEPRINT | {"uuid": OTHER, "description": "second"})
    changed = inspector_rules.replace(
        store, UUID, {"scope": "rack", "actions": [{"action": "fail", "message": "no", "maintenance": True}]}
    )
    assert changed == {
        "uuid": UUID,
        "description": None,
        "scope": "rack",
        "conditions": [],
        "actions": [{"action": "fail", "message": "no", "maintenance": True}],
    }
    assert inspector_rules.show(store, UUID) == changed
    assert inspector_rules.listed(store) == [
        {"uuid": UUID, "description": None, "scope": "rack"},
        {"uuid": OTHER, "description": "second", "scope": None},
    ]


def test_what_can_not_be_replaced(store: Store) -> None:
    with pytest.raises(InspectionRuleNotFound):
        inspector_rules.replace(store, UUID, BLUEPRINT)
    inspector_rules.create(store, BLUEPRINT | {"uuid": UUID})
    with pytest.raises(InvalidParameterValue, match="uuid is not that of the rule to replace"):
        inspector_rules.replace(store, UUID, BLUEPRINT | {"uuid": OTHER})
    with pytest.raises(InvalidParameterValue, match="a rule must be an object"):
        inspector_rules.replace(store, UUID, [])
    assert inspector_rules.show(store, UUID)["actions"] == BLUEPRINT["actions"]


def test_two_rules_can_not_have_the_same_uuid(store: Store) -> None:
    inspector_rules.create(store, BLUEPRINT | {"uuid": UUID})
    with pytest.raises(InspectionRuleAlreadyExists):
        inspector_rules.create(store, BLUEPRINT | {"uuid": UUID})


def test_rules_of_the_rule_language_are_left_alone(store: Store) -> None:
    new = post(store)
    inspector_rules.create(store, BLUEPRINT | {"uuid": UUID})
    inspector_rules.create(store, BLUEPRINT)
    for touch in (inspector_rules.show, inspector_rules.delete):
        with pytest.raises(InspectionRuleNotFound):
            touch(store, new)
    with pytest.raises(InspectionRuleNotFound):
        inspector_rules.replace(store, new, BLUEPRINT)
    inspector_rules.delete(store, UUID)
    assert len(inspector_rules.listed(store)) == 1
    assert inspector_rules.clear(store) == 1
    assert inspector_rules.listed(store) == []
    assert store.rules.get(new).dialect == "ironic"
