from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ironic.core.model.inspection_rule import InspectionRule
from ironic.inspection.rules import RuleBook, load_built_in
from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire.service import Service

RULES = "/v1/inspection_rules"
CANARY = "canary-in-a-rule"
ACTIONS = [{"op": "fail", "args": {"msg": "no"}}]

BUILT_IN: list[dict[str, Any]] = [
    {"description": "last", "priority": -5, "actions": ACTIONS},
    {"description": "first", "priority": 20000, "scope": "rack", "phase": "early", "actions": ACTIONS},
    {"description": "hidden", "sensitive": True, "actions": [{"op": "fail", "args": [CANARY]}]},
]
LAST, FIRST, HIDDEN = (f"00000000-0000-0000-0000-{number:012x}" for number in (1, 2, 3))


def post(service: Service, **rule: Any) -> str:
    answer = service.call("POST", RULES, body={"actions": ACTIONS} | rule)
    assert answer.status == 201, answer.body
    return str(answer.json["uuid"])


def patch(service: Service, uuid: str, **values: Any) -> Any:
    body = [{"op": "add", "path": f"/{name}", "value": value} for name, value in values.items()]
    return service.call("PATCH", f"{RULES}/{uuid}", body=body)


def uuids(service: Service, query: str = "") -> list[str]:
    return [rule["uuid"] for rule in service.call("GET", f"{RULES}{query}").json["inspection_rules"]]


@pytest.mark.demand("S163")
def test_every_field_can_be_given_at_creation(service: Service) -> None:
    given: dict[str, Any] = {
        "uuid": "9c3fb1d5-4f5a-4a52-9b7d-0e6a8d8d3f10",
        "description": "all of it",
        "priority": 7,
        "phase": "preprocess",
        "scope": "rack",
        "sensitive": False,
        "conditions": [{"op": "is-true", "args": ["{node.auto_discovered}"]}],
        "actions": [{"op": "set-attribute", "args": ["/extra/a", 1]}],
    }
    assert given.keys() == InspectionRule.writable("create").keys()
    post(service, **given)
    shown = service.call("GET", f"{RULES}/{given['uuid']}").json
    assert {name: shown[name] for name in given} == given
    hidden = service.call("GET", f"{RULES}/{post(service, sensitive=True)}").json
    assert (hidden["sensitive"], hidden["actions"]) == (True, None)


@pytest.mark.demand("S155")
def test_only_actions_are_needed_and_the_answer_says_where_the_rule_is(service: Service) -> None:
    answer = service.call("POST", RULES, body={"actions": ACTIONS})
    assert answer.status == 201
    assert answer.headers["Location"].endswith(f"{RULES}/{answer.json['uuid']}")
    assert answer.json["conditions"] == []
    refused: list[dict[str, Any]] = [
        {},
        {"actions": []},
        {"actions": ACTIONS, "built_in": False},
        {"actions": ACTIONS, "odd": 1},
    ]
    assert [service.call("POST", RULES, body=body).status for body in refused] == [400] * 4
    assert len(service.store.rules.find()) == 1


# Of each field, a value that is not its default.
CHANGES: dict[str, Any] = {
    "description": "other",
    "priority": 7,
    "phase": "preprocess",
    "scope": "rack",
    "sensitive": True,
    "conditions": [{"op": "is-true", "args": ["{node.auto_discovered}"]}],
    "actions": [{"op": "set-attribute", "args": ["/extra/a", 1]}],
}


@pytest.mark.demand("S162")
@pytest.mark.parametrize("field", CHANGES)
def test_each_field_can_be_changed_and_shows_its_new_value(service: Service, field: str) -> None:
    uuid, value = post(service), CHANGES[field]
    before = service.call("GET", f"{RULES}/{uuid}").json
    assert before[field] != value
    assert patch(service, uuid, **{field: value}).json[field] == value
    after = service.call("GET", f"{RULES}/{uuid}").json
    hidden = {"conditions": None, "actions": None} if field == "sensitive" else {}
    assert after == before | {field: value, "updated_at": after["updated_at"]} | hidden
    assert getattr(service.store.rules.get(uuid), field) == value


@pytest.mark.demand("S162")
def test_the_uuid_alone_stays(service: Service) -> None:
    assert CHANGES.keys() == InspectionRule.writable("create").keys() - {"uuid"}
    uuid, other = post(service), "9c3fb1d5-4f5a-4a52-9b7d-0e6a8d8d3f10"
    for change in ({"op": "replace", "path": "/uuid", "value": other}, {"op": "remove", "path": "/uuid"}):
        assert service.call("PATCH", f"{RULES}/{uuid}", body=[change]).status == 404
    assert uuids(service) == [uuid]


@pytest.mark.demand("S162")
@pytest.mark.parametrize("field", sorted(CHANGES.keys() - {"actions", "sensitive"}))
def test_a_field_that_is_removed_has_its_default_again(service: Service, field: str) -> None:
    default = service.call("GET", f"{RULES}/{post(service)}").json[field]
    uuid = post(service, **{field: CHANGES[field]})
    answer = service.call("PATCH", f"{RULES}/{uuid}", body=[{"op": "remove", "path": f"/{field}"}])
    assert (answer.status, answer.json[field]) == (200, default)
    assert service.call("GET", f"{RULES}/{uuid}").json[field] == default


@pytest.mark.demand("S159")
def test_one_rule_is_deleted_and_the_others_stay(service: Service) -> None:
    gone, kept = post(service), post(service)
    assert service.call("DELETE", f"{RULES}/{gone}").status == 204
    assert uuids(service) == [kept]
    assert [service.call(method, f"{RULES}/{gone}").status for method in ("GET", "DELETE")] == [404, 404]


@pytest.mark.demand("S118", "S158")
def test_a_rule_can_be_changed_within_its_bounds(service: Service) -> None:
    uuid = post(service)
    assert patch(service, uuid, priority=9999, scope="a", sensitive=True).status == 200
    before = service.contents()
    for values in ({"built_in": True}, {"sensitive": False}, {"priority": 10000}, {"priority": -1}):
        assert patch(service, uuid, **values).status == 400
    assert patch(service, "99999999-0000-4000-8000-000000000099", priority=1).status == 404
    assert service.contents() == before


@pytest.mark.demand("S157")
def test_a_plain_list_has_no_conditions_and_a_detailed_one_has(service: Service) -> None:
    post(service, phase="early")
    scoped = post(service, scope="rack")
    (plain, _), (detailed, _) = (
        service.call("GET", RULES + query).json["inspection_rules"] for query in ("", "?detail=true")
    )
    assert not plain.keys() & {"conditions", "actions"}
    assert detailed["actions"] == ACTIONS
    assert uuids(service, "?scope=rack") == [scoped]
    assert uuids(service, "?phase=main") == [scoped]
    assert service.call("GET", f"{RULES}?phase=odd").status == 400


class TestSensitive:
    @pytest.fixture
    def rule(self, service: Service) -> str:
        hidden = {"op": "set-attribute", "args": {"path": f"/extra/{CANARY}", "value": CANARY}}
        condition = {"op": "is-true", "args": [CANARY]}
        return post(service, sensitive=True, actions=[hidden], conditions=[condition])

    @pytest.mark.demand("S119")
    def test_no_answer_shows_what_it_does(self, service: Service, rule: str) -> None:
        answers = [
            service.call("GET", f"{RULES}/{rule}"),
            service.call("GET", f"{RULES}/{rule}?fields=actions,conditions"),
            service.call("GET", f"{RULES}?detail=true"),
            service.call("GET", f"{RULES}?fields=actions"),
            patch(service, rule, description="new"),
            patch(service, rule, conditions=[]),
        ]
        assert [answer.status for answer in answers] == [200] * 6
        assert not any(CANARY.encode() in answer.body for answer in answers)
        assert service.call("GET", f"{RULES}/{rule}").json["actions"] is None

    @pytest.mark.demand("S119")
    def test_it_never_becomes_an_open_one(self, service: Service, rule: str) -> None:
        change = [{"op": "remove", "path": "/sensitive"}]
        assert service.call("PATCH", f"{RULES}/{rule}", body=change).status == 400
        assert patch(service, rule, sensitive=False).status == 400
        assert patch(service, rule, sensitive=None).status == 400
        assert service.store.rules.get(rule).sensitive is True

    @pytest.mark.demand("S120")
    @pytest.mark.parametrize(
        "operation",
        [
            {"op": "replace", "path": "/phase", "value": "early"},
            {"op": "remove", "path": "/actions/0/args/value"},
            {"op": "add", "path": "/actions/0/args/other", "value": 1},
            {"op": "remove", "path": "/conditions/0/loop"},
            {"op": "replace", "path": "/conditions/5/op", "value": "eq"},
        ],
    )
    def test_no_error_tells_what_it_does(self, service: Service, rule: str, operation: dict[str, Any]) -> None:
        answer = service.call("PATCH", f"{RULES}/{rule}", body=[operation])
        assert answer.status == 400
        for word in (CANARY, "set-attribute", "is-true", "value", "actions[", "conditions["):
            assert word.encode() not in answer.body

    def test_an_open_rule_can_become_a_sensitive_one(self, service: Service) -> None:
        rule = post(service)
        answer = patch(service, rule, sensitive=True)
        assert (answer.status, answer.json["actions"], answer.json["conditions"]) == (200, None, None)


class TestBuiltIn:
    @pytest.fixture
    def service(self, start: Callable[..., Service], tmp_path: Path) -> Service:
        file = tmp_path / "rules.yaml"
        file.write_text(yaml.safe_dump(BUILT_IN))
        return start(rule_book=RuleBook(load_built_in(str(file))))

    @pytest.mark.demand("S114", "S156")
    def test_they_are_listed_and_shown_as_built_in(self, service: Service) -> None:
        stored = post(service)
        rules = service.call("GET", f"{RULES}?detail=true").json["inspection_rules"]
        assert [(rule["uuid"], rule["built_in"]) for rule in rules] == [
            (stored, False),
            (LAST, True),
            (FIRST, True),
            (HIDDEN, True),
        ]
        one = service.call("GET", f"{RULES}/{FIRST}").json
        assert (one["priority"], one["scope"], one["phase"], one["built_in"]) == (20000, "rack", "early", True)
        assert (one["actions"], one["conditions"], one["created_at"]) == (ACTIONS, [], None)
        assert service.call("GET", f"{RULES}/{stored}").json["built_in"] is False

    def test_a_sensitive_one_is_as_silent_as_a_stored_one(self, service: Service) -> None:
        for path in (f"{RULES}/{HIDDEN}", f"{RULES}?detail=true"):
            assert CANARY.encode() not in service.call("GET", path).body
        assert service.call("GET", f"{RULES}/{HIDDEN}").json["actions"] is None

    @pytest.mark.demand("S114", "S159")
    def test_they_can_be_neither_changed_nor_deleted_nor_replaced(self, service: Service) -> None:
        assert patch(service, LAST, description="mine").status == 400
        assert service.call("DELETE", f"{RULES}/{LAST}").status == 400
        assert service.call("POST", RULES, body={"uuid": LAST, "actions": ACTIONS}).status == 409
        assert service.store.rules.find() == []

    @pytest.mark.demand("S160")
    def test_deleting_all_leaves_them(self, service: Service) -> None:
        post(service)
        assert service.call("DELETE", RULES).status == 204
        assert uuids(service) == [LAST, FIRST, HIDDEN]

    def test_they_are_filtered_like_the_others(self, service: Service) -> None:
        scoped = post(service, scope="rack", phase="early")
        assert uuids(service, "?phase=early&scope=rack") == [scoped, FIRST]
        assert uuids(service, "?scope=other") == []

    def test_they_are_sorted_among_the_others(self, service: Service) -> None:
        one, two = post(service, priority=7), post(service, description="b")
        assert uuids(service, "?sort_key=priority") == [LAST, two, HIDDEN, one, FIRST]
        assert uuids(service, "?sort_key=priority&sort_dir=desc") == [FIRST, one, HIDDEN, two, LAST]
        assert uuids(service, "?sort_key=description") == [one, two, FIRST, HIDDEN, LAST]
        assert uuids(service, "?sort_key=updated_at&sort_dir=desc") == [HIDDEN, FIRST, LAST, two, one]

    def test_pages_go_through_all(self, service: Service) -> None:
        expected = [post(service), post(service), LAST, FIRST, HIDDEN]
        found, path = [], f"{RULES}?limit=2"
        while path:
            page = service.call("GET", path).json
            found += [rule["uuid"] for rule in page["inspection_rules"]]
            path = page.get("next", "").removeprefix("http://wire.test:6385")
        assert found == expected
        assert service.call("GET", f"{RULES}?marker=99999999-0000-4000-8000-000000000099").status == 404


@pytest.mark.demand("S118")
def test_a_change_that_somebody_else_was_quicker_with_is_a_conflict(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = post(service)
    read = service.store.rules.get

    def read_and_be_overtaken(ident: str | int) -> Any:
        record = read(ident)
        service.store.rules.update(ident, {"description": "theirs"})
        return record

    monkeypatch.setattr(service.store.rules, "get", read_and_be_overtaken)
    assert patch(service, uuid, description="mine").status == 409
    assert read(uuid).description == "theirs"


def test_rules_are_read_and_written_in_few_statements(service: Service) -> None:
    with counting_statements(service.store) as sent:
        uuid = post(service)
    assert (sent.writes, sent.commits) == (1, 1)
    with counting_statements(service.store) as sent:
        service.call("GET", f"{RULES}?detail=true")
    assert (sent.selects, sent.commits) == (2, 0)  # rules, their counters
    with counting_statements(service.store) as sent:
        patch(service, uuid, priority=3)
    assert (sent.selects, sent.writes, sent.commits) == (3, 1, 1)


def test_an_action_that_can_never_work_is_refused_by_post_and_patch(service: Service) -> None:
    never = [{"op": "set-attribute", "args": ["/owner", "{inventory[hostname]}"]}]
    uuid = post(service)
    for answer in (service.call("POST", RULES, body={"actions": never}), patch(service, uuid, actions=never)):
        assert answer.status == 400
        assert "actions[0] (set-attribute) can never work: /owner can't be set" in answer.body.decode()
    assert uuids(service) == [uuid]
    assert service.call("GET", f"{RULES}/{uuid}").json["actions"] == ACTIONS
