"""`/v1/rules`: the documents of the blueprint, in the store of all inspection rules."""

from typing import Any

import pytest

from ironic.tests.functional.wire.old_api.asking import ask, refused
from ironic.tests.functional.wire.service import BASE, Service

UUID = "44444444-0000-4000-8000-000000000001"
MISSING = "44444444-0000-4000-8000-000000000099"
# The example of the blueprint.
RULE: dict[str, Any] = {
    "description": "much memory",
    "conditions": [
        {"field": "inventory.disks.*.size", "op": "gt", "value": 4},
        {"field": "inventory.interfaces.*.ipv4_address", "op": "net", "value": "192.0.2.0/24"},
        {"field": "memory_mb", "op": "ge", "value": 4096},
    ],
    "actions": [
        {"action": "set-capability", "name": "much-memory", "value": "wow"},
        {"action": "append-attribute", "key": "/extra/matched", "value": "much-memory"},
    ],
}
MODERN = {
    "description": "of the other dialect",
    "conditions": [{"op": "eq", "args": {"values": ["a", "a"]}}],
    "actions": [{"op": "log", "args": {"msg": "x"}}],
}


def modern(service: Service) -> str:
    """Store a rule of the rule language."""
    return service.store.rules.create({**MODERN, "dialect": "ironic"}).uuid


@pytest.mark.demand("S174", "S187")
@pytest.mark.parametrize(("version", "status"), [("1.0", 200), ("1.5", 200), ("1.6", 201), ("1.18", 201), (None, 201)])
def test_a_rule_is_created_and_shown(service: Service, version: str | None, status: int) -> None:
    created = ask(service, "POST", "/v1/rules", RULE | {"uuid": UUID}, version=version)
    assert created.status == status
    link = {"href": f"{BASE}/v1/rules/{UUID}", "rel": "self"}
    assert created.json["links"] == [link]
    assert created.json["uuid"] == UUID
    shown = ask(service, "GET", f"/v1/rules/{UUID}", version=version).json
    assert shown == created.json
    assert shown["description"] == "much memory"
    assert [one["field"] for one in shown["conditions"]] == [one["field"] for one in RULE["conditions"]]
    assert [(one["multiple"], one["invert"]) for one in shown["conditions"]] == [("any", False)] * 3
    assert shown["actions"] == RULE["actions"]
    (listed,) = ask(service, "GET", "/v1/rules", version=version).json["rules"]
    assert listed == {"uuid": UUID, "description": "much memory", "scope": None, "links": [link]}


def test_a_rule_without_a_uuid_gets_one(service: Service) -> None:
    made = ask(service, "POST", "/v1/rules", {"conditions": [], "actions": RULE["actions"], "uuid": None}).json
    assert ask(service, "GET", f"/v1/rules/{made['uuid']}").json == made


def test_rules_are_listed_in_the_order_of_their_creation(service: Service) -> None:
    made = [ask(service, "POST", "/v1/rules", RULE | {"description": str(n)}).json["uuid"] for n in range(5)]
    assert [rule["uuid"] for rule in ask(service, "GET", "/v1/rules").json["rules"]] == made


@pytest.mark.demand("S174")
@pytest.mark.parametrize("version", ["1.0", "1.18", None])
def test_a_rule_is_replaced_as_a_whole(service: Service, version: str | None) -> None:
    ask(service, "POST", "/v1/rules", RULE | {"uuid": UUID})
    ask(service, "POST", "/v1/rules", RULE)
    changed = {"description": "less", "scope": "lab", "conditions": [], "actions": [{"action": "fail", "message": "m"}]}
    answer = ask(service, "PUT", f"/v1/rules/{UUID}", changed, version=version)
    assert answer.status == 200
    assert {name: answer.json[name] for name in changed} == changed
    assert ask(service, "GET", f"/v1/rules/{UUID}").json == answer.json
    # It keeps its place.
    assert [rule["uuid"] for rule in ask(service, "GET", "/v1/rules").json["rules"]][0] == UUID


def test_what_was_shown_may_be_sent_back(service: Service) -> None:
    made = ask(service, "POST", "/v1/rules", RULE).json
    assert ask(service, "PUT", f"/v1/rules/{made['uuid']}", made).json == made


@pytest.mark.demand("S174")
def test_one_rule_is_deleted_or_all(service: Service) -> None:
    made = [ask(service, "POST", "/v1/rules", RULE).json["uuid"] for _ in range(3)]
    other = modern(service)
    response = ask(service, "DELETE", f"/v1/rules/{made[0]}")
    assert (response.status, response.body) == (204, b"")
    assert [rule["uuid"] for rule in ask(service, "GET", "/v1/rules").json["rules"]] == made[1:]
    assert ask(service, "DELETE", "/v1/rules").status == 204
    assert ask(service, "GET", "/v1/rules").json == {"rules": []}
    assert [row[0] for row in service.store.rules.rows(("uuid",))] == [other]


def test_rules_of_the_other_dialect_are_not_there(service: Service) -> None:
    other = modern(service)
    assert ask(service, "GET", "/v1/rules").json == {"rules": []}
    for method, body in (("GET", None), ("PUT", RULE), ("DELETE", None)):
        assert other in refused(ask(service, method, f"/v1/rules/{other}", body), 404)
    assert service.store.rules.get(other).description == "of the other dialect"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_a_missing_rule_is_a_404(service: Service, method: str) -> None:
    assert MISSING in refused(ask(service, method, f"/v1/rules/{MISSING}", RULE if method == "PUT" else None), 404)
    refused(ask(service, method, "/v1/rules/first", RULE if method == "PUT" else None), 400)


def test_a_uuid_is_taken_once(service: Service) -> None:
    ask(service, "POST", "/v1/rules", RULE | {"uuid": UUID})
    assert UUID in refused(ask(service, "POST", "/v1/rules", RULE | {"uuid": UUID}), 409)
    other = ask(service, "POST", "/v1/rules", RULE).json["uuid"]
    refused(ask(service, "PUT", f"/v1/rules/{other}", RULE | {"uuid": UUID}), 400)


BAD: list[tuple[Any, str]] = [
    ([], "object"),
    ("x", "object"),
    ({}, "actions"),
    ({"conditions": []}, "actions"),
    ({"actions": []}, "actions"),
    (RULE | {"colour": "red"}, "colour"),
    (RULE | {"uuid": "not one"}, "uuid"),
    (RULE | {"scope": "x" * 256}, "scope"),
    (RULE | {"conditions": [{"op": "eq", "value": 1}]}, "conditions[0]"),
    (RULE | {"conditions": [*RULE["conditions"], {"field": "a", "op": "like", "value": 1}]}, "conditions[3]"),
    (RULE | {"conditions": [{"field": "a[?(", "op": "eq", "value": 1}]}, "conditions[0]"),
    (RULE | {"conditions": [{"field": "a", "op": "eq", "value": 1, "multiple": "most"}]}, "multiple"),
    (RULE | {"actions": [{"action": "explode"}]}, "actions[0]"),
    (RULE | {"actions": [{"action": "fail"}]}, "message"),
]


@pytest.mark.parametrize(("body", "part"), BAD)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_malformed_rule_is_refused_with_the_place(service: Service, method: str, body: Any, part: str) -> None:
    ask(service, "POST", "/v1/rules", RULE | {"uuid": UUID})
    before = service.contents()
    assert part in refused(ask(service, method, "/v1/rules" if method == "POST" else f"/v1/rules/{UUID}", body), 400)
    assert service.contents() == before


@pytest.mark.parametrize("raw", [b"{", b"\xff", b"[" * 100_000, b'{"actions": [' + b"1," * 150_000 + b"1]}"])
def test_a_body_that_is_no_document_is_refused(service: Service, raw: bytes) -> None:
    refused(ask(service, "POST", "/v1/rules", raw=raw), 400)
