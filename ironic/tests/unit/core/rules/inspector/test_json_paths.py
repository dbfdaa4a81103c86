"""JSON paths find what jsonpath-ng finds, and their work is bounded, whatever the path and the document."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonpath_ng.parser import parse

from ironic.core.rules.inspector.inspected_data import inspected_data
from ironic.core.rules.inspector.json_paths import BadJsonPath, parsed_path
from ironic.core.rules.limits import STEPS, VERDICT, Budget, RuleFault, TooMuchWork

DATA = Path(__file__).parents[4] / "data" / "inventories"
PAYLOADS = sorted(path for path in DATA.glob("*.json") if "malformed" not in path.name)
PATHS = (
    "$", "memory_mb", "inventory.disks[*].size", "inventory.disks.*.size", "inventory.*.*", "inventory.disks[0].name",
    "inventory.disks[-1]", "inventory.interfaces[1:3].name", "inventory.interfaces[::2].mac_address", "$..size", "*",
    "inventory..name", "inventory..interfaces..name", "$.inventory.cpu.count,architecture", "inventory['cpu'].count",
    "inventory.interfaces[0,2].name", "inventory.cpu[0]", "inventory.cpu.count.x", "no.such[*].thing", "[*]",
    "(inventory.disks)[0]", "`this`.inventory.cpu", "inventory.*..vendor",
)  # fmt: skip


def document(path: Path) -> dict[str, Any]:
    payload = json.loads(path.read_bytes())
    return inspected_data(payload.pop("inventory", None) or {}, payload)


@pytest.mark.demand("S175")
@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda path: path.stem)
def test_it_finds_what_the_library_finds(payload: Path) -> None:
    data = document(payload)
    for text in PATHS:
        assert parsed_path(text).find(data, Budget()) == [one.value for one in parse(text).find(data)], text


@pytest.mark.demand("S175")
def test_a_wildcard_stands_for_keys_and_items() -> None:
    data = {"disk": {"a": {"size": 1}, "b": {"size": 2}}, "disks": [{"size": 3}, {"size": None}, {}]}
    assert parsed_path("disk.*.size").find(data, Budget()) == [1, 2]
    assert parsed_path("disks.*.size").find(data, Budget()) == [3, None]


@pytest.mark.parametrize("text", ["", ".", "..", "a.", "a..", "[", "a[", "a|b", "a&b", "a where b", "a.`len`", "\0"])
def test_it_refuses_other_text(text: str) -> None:
    with pytest.raises(BadJsonPath):
        parsed_path(text)


def wide(depth: int, width: int = 4) -> Any:
    return {f"k{number}": wide(depth - 1, width) for number in range(width)} if depth else 0


@pytest.mark.demand("S175")
@pytest.mark.parametrize(
    "text", ["$..*..*", "$..*..*..*..*", "$..k0..k1..k2..k3..k0", "*.*.*.*.*.*.*.*.*..*", "$" + "..*" * 15]
)
def test_its_work_is_bounded_on_a_big_document(text: str) -> None:
    budget = Budget()
    with pytest.raises(TooMuchWork, match="name more of the path"):
        parsed_path(text).find(wide(9), budget)
    assert budget.left == STEPS


def test_it_pays_for_what_it_visits() -> None:
    budget = Budget()
    assert len(parsed_path("$..k0").find(wide(3), budget)) == 21
    visited = STEPS - budget.left
    # All 85 values, each once to go down and once to look into, and those that are found.
    assert 85 * 2 <= visited <= 85 * 4
    budget.left = 50
    with pytest.raises(TooMuchWork):
        parsed_path("$..k0").find(wide(3), budget)


def test_many_searches_end_with_the_steps_of_the_phase() -> None:
    budget, path, data = Budget(), parsed_path("$..*"), wide(6)
    assert 5000 < len(path.find(data, budget)) < STEPS - budget.left <= VERDICT
    with pytest.raises(TooMuchWork):
        for _ in range(STEPS // 5000):
            path.find(data, budget)


def test_a_document_that_is_too_deep_is_refused() -> None:
    data: Any = 0
    for _ in range(5000):
        data = [data]
    with pytest.raises(RuleFault, match="nested more than 64 levels deep"):
        parsed_path("$..*").find(data, Budget())
    assert parsed_path("$[0][0]").find([[1]], Budget()) == [1]
