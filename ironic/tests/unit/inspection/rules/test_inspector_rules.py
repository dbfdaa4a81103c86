"""Rules of the standalone inspector, as they are stored."""

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.rules.inspector import stored_form
from ironic.db import Store
from ironic.inspection.rules import inspector_rules


def test_rules_of_the_inspectors_api_are_checked_when_their_actions_change(store: Store) -> None:
    bad = {"action": "set-attribute", "path": "/owner", "value": "{data[owner]}"}
    with pytest.raises(InvalidParameterValue, match="can never work"):
        inspector_rules.create(store, {"actions": [bad]})
    stored = inspector_rules.create(store, {"actions": [{"action": "fail", "message": "no"}]})
    with pytest.raises(InvalidParameterValue, match="can never work"):
        inspector_rules.replace(store, stored["uuid"], {"actions": [bad]})
    store.rules.update(stored["uuid"], stored_form({"uuid": stored["uuid"], "actions": [bad]}))
    old = {"description": "old", "actions": [bad]}
    assert inspector_rules.replace(store, stored["uuid"], old)["description"] == "old"
