"""Each fault of a document is refused when it is posted, and the error names its place."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.rules.inspector import compile_rule, stored_form

FAIL = {"action": "fail", "message": "no"}


def refusal(document: Any) -> str:
    with pytest.raises(InvalidParameterValue) as error:
        stored_form(document)
    return str(error.value)


def condition(**changed: Any) -> dict[str, Any]:
    return {"field": "cpus", "op": "eq", "value": 8} | changed


@pytest.mark.demand("S174")
@pytest.mark.parametrize(
    ("document", "place"),
    [
        ([], "a rule must be an object"),
        ({"actions": [FAIL], "phase": "main"}, "a rule has no field phase"),
        ({"actions": [FAIL], "uuid": "rule"}, "uuid must be a UUID"),
        ({"actions": [FAIL], "description": 7}, "description must be text of at most 255 characters"),
        ({"actions": [FAIL], "scope": "x" * 256}, "scope must be text of at most 255 characters"),
        ({"actions": []}, "actions must have at least one item"),
        ({"conditions": []}, "actions must have at least one item"),
        ({"actions": FAIL}, "actions must be a list"),
        ({"actions": [FAIL] * 1001}, "actions must be a list of at most 1000"),
        ({"actions": [FAIL, "fail"]}, "actions[1] must be an object"),
        ({"actions": [FAIL], "conditions": {}}, "conditions must be a list"),
        ({"actions": [{"action": "fail", "message": [2**70]}]}, "numbers of up to 64 bits"),
    ],
)
def test_a_malformed_rule_is_refused(document: Any, place: str) -> None:
    assert place in refusal(document)


@pytest.mark.demand("S174", "S178")
@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"op": None}, "conditions[1].op is missing or not text"),
        ({"op": "like"}, "conditions[1].op: there is no operator 'like'; known: contains, eq"),
        ({"multiple": "some"}, "conditions[1].multiple must be one of any, all, first"),
        ({"multiple": []}, None),
        ({"multiple": ["any"]}, "conditions[1].multiple must be one of any, all, first"),
        ({"invert": "yes"}, "conditions[1].invert must be true or false"),
        ({"field": None}, "conditions[1].field is missing or not text"),
        ({"field": 7}, "conditions[1].field is missing or not text"),
        ({"field": "http://x"}, "conditions[1].field: the scheme 'http' is unknown; known: data, node"),
        ({"field": "node://"}, "conditions[1].field: not a JSON path"),
        ({"field": "a[?b=1]"}, "conditions[1].field: not a JSON path"),
        ({"field": "a.`parent`"}, "conditions[1].field: a JSON path may have names"),
        ({"field": "a where b"}, "conditions[1].field: a JSON path may have names"),
        ({"field": "a.($.b)"}, "conditions[1].field: $ may stand only at the beginning"),
        ({"field": "a[::0]"}, "conditions[1].field: a JSON path may have names"),
        ({"field": f"a[{2**40}]"}, "conditions[1].field: a JSON path may have names"),
        ({"field": ".".join("a" * 40)}, "conditions[1].field: a JSON path has more than 32 parts"),
        ({"field": "a" * 1025}, "conditions[1].field: a JSON path is longer than 1024 characters"),
        ({"field": "(" * 500}, "conditions[1].field: not a JSON path"),
        ({"value": None}, "conditions[1] (eq): parameter 'value' is missing"),
        ({"regex": "x"}, "conditions[1] (eq): there is no parameter 'regex'; known: value"),
        ({"op": "is-empty"}, "conditions[1] (is-empty): there is no parameter 'value'; known: none"),
        ({"op": "in-net"}, "conditions[1] (in-net): parameter 'value': must be a subnet"),
        ({"op": "net", "value": "192.0.2.0/99"}, "conditions[1] (net): parameter 'value': must be a subnet"),
        ({"op": "matches", "value": "("}, "conditions[1] (matches): parameter 'value': not a regular expression"),
        ({"op": "contains", "value": r"(a)\1"}, "conditions[1] (contains): parameter 'value': not a regular"),
        ({"op": "contains", "value": 8}, "conditions[1] (contains): parameter 'value': must be a regular"),
    ],
)
def test_a_malformed_condition_is_refused(changed: dict[str, Any], place: str | None) -> None:
    document = {"conditions": [condition(), condition(**changed)], "actions": [FAIL]}
    if place is None:
        assert stored_form(document)["conditions"][1]["args"]["multiple"] == "any"
    else:
        assert place in refusal(document)


def test_the_value_may_be_missing_only_where_nothing_is_compared() -> None:
    document = {"conditions": [{"field": "cpus", "op": "is-empty"}], "actions": [FAIL]}
    assert compile_rule(stored_form(document)).conditions[0].reference is None
    assert "parameter 'value' is missing" in refusal({"conditions": [{"field": "a", "op": "eq"}], "actions": [FAIL]})


@pytest.mark.demand("S182", "S183", "S184", "S185")
@pytest.mark.parametrize(
    ("action", "place"),
    [
        ({"message": "no"}, "actions[1].action is missing or not text"),
        ({"action": "reboot"}, "actions[1].action: there is no action 'reboot'; known: add-trait, append-attribute"),
        ({"action": "fail"}, "actions[1] (fail): parameter 'message' is missing"),
        ({"action": "fail", "message": ["x"]}, "actions[1] (fail): parameter 'message' must be text"),
        ({"action": "fail", "message": "x", "maintenance": 1}, "parameter 'maintenance' must be true or false"),
        ({"action": "fail", "message": "x", "code": 1}, "there is no parameter 'code'; known: message, maintenance"),
        ({"action": "set-attribute", "path": "/extra/a"}, "parameter 'value' is missing"),
        ({"action": "set-attribute", "value": 1}, "parameter 'path' is missing"),
        (
            {"action": "set-attribute", "path": "/extra/a", "key": "/extra/a", "value": 1},
            "parameters 'path' and 'key' are the same",
        ),
        ({"action": "set-attribute", "path": "", "value": 1}, "parameter 'path': the path is missing"),
        ({"action": "set-attribute", "path": "/extra//a", "value": 1}, "parameter 'path': a path must be"),
        (
            {"action": "set-attribute", "path": "/provision_state", "value": "active"},
            "parameter 'path': rules can't write field 'provision_state' of a node",
        ),
        ({"action": "set-attribute", "path": "/maintenance", "value": "on"}, "parameter 'value': must be"),
        ({"action": "set-attribute", "path": "/extra/a", "value": "{data.cpus}"}, "can't have attributes"),
        ({"action": "set-attribute", "path": "/extra/a", "value": "{data.__class__}"}, "can't have attributes"),
        ({"action": "set-attribute", "path": "/extra/a", "value": ["{data[a]!r}"]}, "is not an expression"),
        ({"action": "set-attribute", "path": "/extra/a", "value": {"b": "{data[a]:>9}"}}, "is not an expression"),
        ({"action": "set-attribute", "path": "/extra/a", "value": "{node[a]}"}, "unknown name; known: data"),
        ({"action": "set-attribute", "path": "/extra/a", "value": "{0}"}, "is not an expression"),
        ({"action": "set-attribute", "path": "/extra/a", "value": "{"}, "a single '{'"),
        (
            {"action": "set-attribute", "path": "/extra/a", "value": 1, "reset_interfaces": True},
            "parameter 'reset_interfaces' belongs to the path /driver",
        ),
        ({"action": "set-attribute", "path": "/retired", "value": True, "cleanup": "x"}, "parameter 'cleanup'"),
        ({"action": "append-attribute", "key": "/id", "value": 1}, "parameter 'path': rules can't write field 'id'"),
        ({"action": "extend-attribute", "path": "/extra/a", "value": 1, "unique": "x"}, "'unique' must be true or"),
        ({"action": "set-capability", "name": "a:b"}, "a capability must have a name without ':'"),
        ({"action": "set-capability", "name": "a:b", "value": "{data[cpus]}"}, "parameter 'name': a capability"),
        ({"action": "set-capability", "name": "a", "value": "b,c"}, "parameter 'value': a capability"),
        ({"action": "set-capability", "name": "a", "value": ["b"]}, "parameter 'value': a capability"),
        ({"action": "set-capability", "name": 7}, "parameter 'name': must be a name"),
        ({"action": "add-trait", "name": "gpu"}, "parameter 'name': a trait must have"),
        ({"action": "remove-trait"}, "parameter 'name' is missing"),
    ],
)
def test_a_malformed_action_is_refused(action: dict[str, Any], place: str) -> None:
    refused = refusal({"actions": [FAIL, action]})
    assert "actions[1]" in refused
    assert place in refused
