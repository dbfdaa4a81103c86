"""Whose a runbook may be."""

from typing import Any

import pytest

from ironic.api.json_patch import Change
from ironic.api.resources import runbooks as runbook_rules
from ironic.api.resources.runbooks import Caller
from ironic.core.errors import InvalidParameterValue

MEMBER, OPERATOR = Caller("mine", True), Caller(None, False)


@pytest.mark.parametrize(
    ("caller", "values", "owner"),
    [
        (MEMBER, {}, "mine"),
        (MEMBER, {"public": False}, "mine"),
        (MEMBER, {"owner": "mine"}, "mine"),
        (MEMBER, {"owner": None}, "mine"),
        (OPERATOR, {}, None),
        (OPERATOR, {"owner": "anybody"}, "anybody"),
        (OPERATOR, {"public": True}, None),
        (Caller("admins", False), {"public": True}, None),
    ],
)
def test_a_new_runbook_has_its_owner(caller: Caller, values: dict[str, Any], owner: str | None) -> None:
    assert runbook_rules.settled_new(values, caller) == values | {"owner": owner}


@pytest.mark.parametrize(
    ("caller", "values"),
    [(MEMBER, {"owner": "yours"}), (MEMBER, {"public": True}), (OPERATOR, {"public": True, "owner": "x"})],
)
def test_a_new_runbook_is_refused(caller: Caller, values: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterValue):
        runbook_rules.settled_new(values, caller)


@pytest.mark.parametrize(
    ("values", "was_public", "expected"),
    [
        ({"name": "x"}, False, {"name": "x"}),
        ({"name": "x"}, True, {"name": "x"}),
        ({"public": True}, False, {"public": True, "owner": None}),
        ({"public": False, "owner": "x"}, True, {"public": False, "owner": "x"}),
        ({"owner": "x"}, False, {"owner": "x"}),
        ({"owner": None}, True, {"owner": None}),
        ({"owner": "x"}, True, None),
        ({"public": True, "owner": "x"}, False, None),
    ],
)
def test_a_public_runbook_has_no_owner(
    values: dict[str, Any], was_public: bool, expected: dict[str, Any] | None
) -> None:
    if expected is None:
        with pytest.raises(InvalidParameterValue):
            runbook_rules.settled_owner(values, was_public=was_public)
    else:
        assert runbook_rules.settled_owner(values, was_public=was_public) == expected


def test_each_rule_is_asked_once() -> None:
    changes = [Change("replace", (root,)) for root in ("name", "owner", "extra", "public", "owner")]
    assert runbook_rules.rules_for(changes) == [
        "baremetal:runbook:update",
        "baremetal:runbook:update:owner",
        "baremetal:runbook:update:public",
    ]
    assert runbook_rules.rules_for([]) == []
