"""Reading data that may be anything."""

from typing import Any

import pytest

from ironic.inspection.read_only import read_only
from ironic.inspection.reading import at, list_at, listed, text_at, whole_number_at

DATA: dict[str, Any] = {"a": {"b": "text", "n": 5, "l": [1], "none": None}, "s": "x"}


@pytest.mark.parametrize("data", [DATA, read_only(DATA)])
def test_it_reads_what_is_there(data: Any) -> None:
    assert at(data, "a", "n") == 5
    assert text_at(data, "a", "b") == "text"
    assert list_at(data, "a", "l") == [1]


@pytest.mark.parametrize("keys", [("x",), ("a", "x"), ("s", "x"), ("a", "none"), ("a", "n", "x"), ("a", "l", "0")])
def test_it_gives_nothing_for_what_is_not_there(keys: tuple[str, ...]) -> None:
    assert (at(DATA, *keys), text_at(DATA, *keys), list_at(DATA, *keys)) == (None, None, [])


@pytest.mark.parametrize(
    ("value", "expected"),
    [(5, 5), ("5", 5), ("0", 0), (True, None), (1.5, None), ("-5", None), ("²", None), ("9" * 30, None), (None, None)],
)
def test_it_reads_whole_numbers(value: Any, expected: int | None) -> None:
    assert whole_number_at({"x": value}, "x") == expected


@pytest.mark.parametrize("data", [None, [], "x", 5, [{"a": 1}]])
def test_it_reads_nothing_from_other_things(data: Any) -> None:
    assert at(data, "a") is None


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], ""),
        (["eth0", "a\nb"], r"'eth0', 'a\nb'"),
        (["x" * 100], f"'{'x' * 32}'"),
        (["e"] * 50, "'e', " * 15 + "'e' and more"),
    ],
)
def test_it_lists_names_that_machines_chose(names: list[str], expected: str) -> None:
    assert listed(names) == expected
