"""Rules of the standalone inspector in the API of the rule language: shown, tried out with their cleanups, deleted."""

from typing import Any

import pytest

from ironic.db.column_types import encode_json
from ironic.inspection.rules import inspector_rules
from ironic.tests.functional.wire.service import Service
from ironic.tests.unit.inspection.lab import MAC, inventory, new_node

RULES = "/v1/inspection_rules"
EVALUATE = f"{RULES}/evaluate"
UUID = "6f5d3a0e-9a39-4f0e-8a57-3d0c6b4f1a01"
DOCUMENT: dict[str, Any] = {
    "uuid": UUID,
    "description": "many CPUs",
    "scope": None,
    "conditions": [{"field": "cpus", "op": "ge", "value": 8}],
    "actions": [{"action": "set-attribute", "path": "/extra/cpus", "value": "{data[cpus]}", "cleanup": "few"}],
}
ARGS = {"field": "cpus", "value": 8, "multiple": "any", "invert": False}
CHECKED = {"op": "ge", "args": ARGS, "values": {"field": [8]}, "verdict": True}


def explained(**changed: Any) -> dict[str, Any]:
    return {"uuid": UUID, "description": "many CPUs", "applies": True, "conditions": [CHECKED]} | changed


@pytest.mark.demand("S174")
def test_they_are_shown_listed_and_deleted(service: Service) -> None:
    inspector_rules.create(service.store, DOCUMENT)
    shown = service.call("GET", f"{RULES}/{UUID}").json
    assert (shown["dialect"], shown["phase"], shown["priority"]) == ("inspector", "main", 0)
    assert shown["conditions"] == [{"op": "ge", "args": ARGS}]
    assert shown["actions"] == [
        {"op": "set-attribute", "args": {"path": "/extra/cpus", "value": "{data[cpus]}", "cleanup": "few"}}
    ]
    assert [one["uuid"] for one in service.call("GET", RULES).json["inspection_rules"]] == [UUID]
    body = [{"op": "replace", "path": "/description", "value": "x"}]
    refused = service.call("PATCH", f"{RULES}/{UUID}", body=body)
    assert refused.status == 400
    assert f"PUT /v1/rules/{UUID}" in str(refused.json)
    assert service.call("DELETE", f"{RULES}/{UUID}").status == 204
    assert inspector_rules.listed(service.store) == []


def test_only_they_are_shown_with_a_dialect(service: Service) -> None:
    """Clients know no such field."""
    own = {"actions": [{"op": "fail", "args": {"msg": "x"}}]}
    assert "dialect" not in service.call("POST", RULES, body=own).json
    inspector_rules.create(service.store, DOCUMENT)
    for query in ("detail=true", "fields=dialect,uuid"):
        shown = service.call("GET", f"{RULES}?{query}").json["inspection_rules"]
        assert {one.get("dialect") for one in shown} == {None, "inspector"}


def test_deleting_all_rules_deletes_them_too(service: Service) -> None:
    inspector_rules.create(service.store, DOCUMENT)
    assert service.call("DELETE", RULES).status == 204
    assert inspector_rules.listed(service.store) == []


@pytest.mark.demand("S174", "S180")
def test_a_dry_run_shows_them_with_their_cleanups(service: Service) -> None:
    inspector_rules.create(service.store, DOCUMENT)
    node = new_node(service.store, provision_state="manageable", extra={"cpus": "8", "a": 1, "b": 3})
    service.store.inventories.put_texts(node.id, encode_json(inventory(MAC, cpu={"count": 4})), encode_json({}))
    own = {"action": "set-attribute", "at": "/extra/cpus", "value": "8", "cleanup": "few"}
    gone = "6f5d3a0e-9a39-4f0e-8a57-3d0c6b4f1a02"
    left = [{"action": "set-attribute", "at": f"/extra/{name}", "value": 1} for name in "ab"]
    service.store.rule_effects.replace(node.id, {UUID: [own], gone: left})
    before = service.contents()
    told = service.call("POST", EVALUATE, body={"node": node.uuid}).json
    assert service.contents() == before
    few = {"op": "add", "path": "/node/extra/cpus", "value": "few"}
    checked = CHECKED | {"values": {"field": [4]}, "verdict": False}
    undone = {"action": "set-attribute", "at": "/extra/cpus", "undone": True}
    deleted = [
        {"action": "set-attribute", "at": "/extra/a", "undone": True},
        {"action": "set-attribute", "at": "/extra/b", "undone": False, "reason": "it was changed since"},
    ]
    assert told["rules"] == [
        explained(applies=False, conditions=[checked], changes=[few], cleanups=[undone]),
        {
            "uuid": gone,
            "description": None,
            "applies": False,
            "conditions": [],
            "changes": [{"op": "remove", "path": "/node/extra/a"}],
            "cleanups": deleted,
            "deleted": True,
        },
    ]
    assert told["changes"]["node"] == [few | {"path": "/extra/cpus"}, {"op": "remove", "path": "/extra/a"}]


def test_rules_of_the_request_may_have_their_dialect(service: Service) -> None:
    body: dict[str, Any] = {"inventory": inventory(MAC), "rules": [DOCUMENT | {"dialect": "inspector"}]}
    told = service.call("POST", EVALUATE, body=body).json
    change = {"op": "add", "path": "/node/extra/cpus", "value": "8"}
    assert told["rules"] == [explained(changes=[change])]
    body["rules"][0]["conditions"] = [{"field": "a[?x]", "op": "eq", "value": 1}]
    refused = service.call("POST", EVALUATE, body=body)
    assert (refused.status, "conditions[0].field: not a JSON path" in str(refused.json)) == (400, True)


def test_other_rules_are_not_deleted_for_a_dry_run_of_one(service: Service) -> None:
    node = new_node(service.store, provision_state="manageable", extra={"a": 1})
    service.store.inventories.put_texts(node.id, encode_json(inventory(MAC)), encode_json({}))
    effects = {"6f5d3a0e-9a39-4f0e-8a57-3d0c6b4f1a02": [{"action": "set-attribute", "at": "/extra/a", "value": 1}]}
    service.store.rule_effects.replace(node.id, effects)
    body = {"node": node.uuid, "rules": [DOCUMENT | {"dialect": "inspector"}]}
    assert [one["uuid"] for one in service.call("POST", EVALUATE, body=body).json["rules"]] == [UUID]
