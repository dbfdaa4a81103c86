"""An inventory that can be read and not be written to."""

import copy
import json
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from ironic.inspection.read_only import InventoryIsReadOnly, read_only

DATA: dict[str, Any] = {"a": [1, {"b": [2]}], "c": {"d": "e"}}


@pytest.mark.demand("S82")
@pytest.mark.parametrize(
    "write",
    [
        lambda data: data.__setitem__("x", 1),
        lambda data: data["c"].__setitem__("x", 1),
        lambda data: data["a"][1].update(x=1),
        lambda data: data["a"][1].setdefault("x", []),
        lambda data: data.pop("a"),
        lambda data: data.popitem(),
        lambda data: data.clear(),
        lambda data: data.__delitem__("a"),
        lambda data: data.__ior__({"x": 1}),
        lambda data: data["a"].append(1),
        lambda data: data["a"][1]["b"].extend([1]),
        lambda data: data["a"].insert(0, 1),
        lambda data: data["a"].remove(1),
        lambda data: data["a"].pop(),
        lambda data: data["a"].sort(),
        lambda data: data["a"].reverse(),
        lambda data: data["a"].clear(),
        lambda data: data["a"].__setitem__(0, 1),
        lambda data: data["a"].__delitem__(0),
        lambda data: data["a"].__iadd__([1]),
        lambda data: data["a"].__imul__(2),
    ],
)
def test_it_refuses_every_write(write: Callable[[Any], Any]) -> None:
    data = read_only(DATA)
    with pytest.raises(InventoryIsReadOnly):
        write(data)
    assert data == DATA


def test_it_reads_like_plain_data() -> None:
    data: Any = read_only(DATA)
    assert data == DATA
    assert data.get("a")[1]["b"] == [2]
    assert json.loads(json.dumps(data)) == orjson.loads(orjson.dumps(data)) == DATA
    assert {**data}["c"] == {"d": "e"}
    assert isinstance(data, dict)
    assert isinstance(data["a"], list)


def test_it_shares_nothing_with_what_it_was_made_from() -> None:
    original = copy.deepcopy(DATA)
    data = read_only(original)
    original["a"][1]["b"].append(3)
    assert data == DATA


def test_it_gives_plain_deep_copies() -> None:
    plain = copy.deepcopy(read_only(DATA))
    plain["a"][1]["b"].append(3)
    assert plain["a"][1]["b"] == [2, 3]
    assert type(plain) is dict
