from typing import Any

import pytest

from ironic.api import json_patch
from ironic.api.json_patch import Change
from ironic.core.errors import InvalidParameterValue, NotAcceptable
from ironic.core.model.fields import Field, Resource
from ironic.core.values.value_types import Object, Text


class Thing(Resource):
    collection = "things"
    singular = "thing"

    extra = Field(Object(), empty={})
    name = Field(Text(), since=5)


FIELDS = Thing.writable("patch")


def run(document: dict[str, Any], *operations: dict[str, Any]) -> dict[str, Any]:
    return json_patch.apply(document, json_patch.read(list(operations), FIELDS, 115, 100))


@pytest.mark.parametrize(
    ("before", "op", "path", "value", "after"),
    [
        ({}, "add", "/extra/a", 1, {"a": 1}),
        ({"a": 1}, "add", "/extra/a", None, {"a": None}),
        ({"a": 1}, "replace", "/extra/a", [], {"a": []}),
        ({"a": 1, "b": 2}, "remove", "/extra/a", None, {"b": 2}),
        ({"a": [1, 3]}, "add", "/extra/a/1", 2, {"a": [1, 2, 3]}),
        ({"a": [1]}, "add", "/extra/a/-", 2, {"a": [1, 2]}),
        ({"a": [1]}, "add", "/extra/a/1", 2, {"a": [1, 2]}),
        ({"a": [1, 2]}, "replace", "/extra/a/0", 9, {"a": [9, 2]}),
        ({"a": [1, 2]}, "remove", "/extra/a/0", None, {"a": [2]}),
        ({"a": [{"b": {}}]}, "add", "/extra/a/0/b/c", 1, {"a": [{"b": {"c": 1}}]}),
        ({"-": 1}, "remove", "/extra/-", None, {}),
        ({}, "replace", "/extra", {"x": 1}, {"x": 1}),
        ({"x": 1}, "remove", "/extra", None, None),
    ],
)
def test_it_changes_what_the_path_says(before: Any, op: str, path: str, value: Any, after: Any) -> None:
    operation = {"op": op, "path": path} | ({} if op == "remove" else {"value": value})
    assert run({"extra": before}, operation)["extra"] == after


@pytest.mark.parametrize(
    ("before", "op", "path"),
    [
        ({}, "remove", "/extra/a"),
        ({}, "replace", "/extra/a"),
        ({}, "add", "/extra/a/b"),
        ({"a": 1}, "add", "/extra/a/b"),
        ({"a": []}, "add", "/extra/a/1"),
        ({"a": []}, "replace", "/extra/a/-"),
        ({"a": [1]}, "remove", "/extra/a/1"),
        ({"a": [1]}, "replace", "/extra/a/-1"),
        ({"a": [1, 2]}, "replace", "/extra/a/01"),
        ({"a": [1]}, "add", "/extra/a/x"),
        ({"a": [1]}, "add", "/extra/a/5/b"),
        (None, "add", "/extra/a"),
    ],
)
def test_it_refuses_a_path_that_leads_nowhere(before: Any, op: str, path: str) -> None:
    operation = {"op": op, "path": path} | ({} if op == "remove" else {"value": 1})
    with pytest.raises(InvalidParameterValue):
        run({"extra": before}, operation)


def test_the_document_itself_and_the_values_of_the_patch_stay_as_they_are() -> None:
    before = {"extra": {"l": [1]}}
    value: dict[str, Any] = {"deep": []}
    after = run(
        before,
        {"op": "add", "path": "/extra/l/-", "value": 2},
        {"op": "add", "path": "/extra/v", "value": value},
        {"op": "add", "path": "/extra/v/deep/-", "value": 1},
    )
    assert before == {"extra": {"l": [1]}}
    assert value == {"deep": []}
    assert after == {"extra": {"l": [1, 2], "v": {"deep": [1]}}}


@pytest.mark.parametrize(
    "raw",
    [
        {},
        "text",
        None,
        [1],
        [[]],
        [{"path": "/extra", "value": {}}],
        [{"op": "test", "path": "/extra", "value": {}}],
        [{"op": 1, "path": "/extra", "value": {}}],
        [{"op": "add", "value": {}}],
        [{"op": "add", "path": 7, "value": {}}],
        [{"op": "add", "path": "extra", "value": {}}],
        [{"op": "add", "path": "/", "value": {}}],
        [{"op": "add", "path": "/extra/", "value": {}}],
        [{"op": "add", "path": "/extra/a.b", "value": {}}],
        [{"op": "add", "path": "/extra/a~0b", "value": {}}],
        [{"op": "add", "path": "/extra/a\n", "value": {}}],
        [{"op": "add", "path": "/extra"}],
        [{"op": "add", "path": "/extra", "value": {}, "from": "/x"}],
        [{"op": "add", "path": "/other", "value": {}}],
        [{"op": "remove", "path": "/extra"}] * 101,
    ],
)
def test_it_refuses_what_is_no_patch(raw: Any) -> None:
    with pytest.raises(InvalidParameterValue):
        json_patch.read(raw, FIELDS, 115, 100)


def test_a_field_of_a_later_version_can_be_removed_but_not_set() -> None:
    assert json_patch.read([{"op": "remove", "path": "/name"}], FIELDS, 4, 100) == [Change("remove", ("name",))]
    with pytest.raises(NotAcceptable):
        json_patch.read([{"op": "add", "path": "/name", "value": "x"}], FIELDS, 4, 100)


def test_removal_may_carry_a_value_that_nobody_looks_at() -> None:
    assert run({"extra": {"a": 1}}, {"op": "remove", "path": "/extra/a", "value": 5}) == {"extra": {}}


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("/extra/a b", ("extra", "a b")),
        ("/extra/a~1b~0c", ("extra", "a/b~c")),
        ("/extra/~01", ("extra", "~1")),
        ("/extra/", ("extra", "")),
        ("/extra/a.b/é", ("extra", "a.b", "é")),
    ],
)
def test_where_any_path_is_allowed_keys_are_unescaped(path: str, keys: tuple[str, ...]) -> None:
    operation = {"op": "add", "path": path, "value": 1}
    assert json_patch.read([operation], FIELDS, 115, 100, json_patch.ANY_PATH) == [Change("add", keys, 1)]


@pytest.mark.parametrize("path", ["", "extra", "/extra/a~2", "/extra/~", "/nope/a~1b"])
def test_even_there_a_path_has_a_form(path: str) -> None:
    with pytest.raises(InvalidParameterValue):
        json_patch.read([{"op": "remove", "path": path}], FIELDS, 115, 100, json_patch.ANY_PATH)
