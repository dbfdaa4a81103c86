"""Capabilities as text and back."""

import pytest

from ironic.core.texts import syntax


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, {}),
        ("", {}),
        ("a:1", {"a": "1"}),
        ("a:1,b:x:y", {"a": "1", "b": "x:y"}),
        (" a:1 , b:2,", {"a": "1", "b": "2"}),
        ("a:1,a:2", {"a": "2"}),
        ("a:", {"a": ""}),
    ],
)
def test_it_reads_text(text: str | None, expected: dict[str, str]) -> None:
    assert syntax.parse_capabilities(text) == expected


@pytest.mark.parametrize("text", ["a", "a:1,b", ":1", {"a": "1"}])
def test_it_refuses_other_text(text: str) -> None:
    with pytest.raises(ValueError, match="form name:value"):
        syntax.parse_capabilities(text)


def test_it_sets_some_and_keeps_the_order() -> None:
    assert syntax.updated_capabilities("a:1,b:2", {"a": "3", "c": "4"}) == "a:3,b:2,c:4"
