"""Leaves of a text of JSON, by their places."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironic.drivers.modules.redfish.records.json_leaves import Edit, edited, leaves, unescaped

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def texts_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for name, item in value.items() for text in (name, *texts_of(item))]
    if isinstance(value, list):
        return [text for item in value for text in texts_of(item)]
    return [value] if isinstance(value, str) else []


@given(values, st.booleans())
def test_all_texts_of_a_document_are_leaves_of_it(value: Any, is_ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii, indent=1)
    found = [unescaped(text[leaf.start : leaf.end]) for leaf in leaves(text) if leaf.is_quoted or leaf.is_name]
    # Halves of characters are put together by the reader of a text.
    assert "".join(found).encode("utf-16", "surrogatepass") == "".join(texts_of(value)).encode(
        "utf-16", "surrogatepass"
    )


def test_a_leaf_knows_what_leads_to_it() -> None:
    text = '{"a": [{"Name": "Tag", "Value": "x1"}, "y2"], "b": {"c": 3, }} and 4'
    found = {text[leaf.start : leaf.end]: leaf for leaf in leaves(text)}
    assert (found["x1"].name, found["x1"].above, found["x1"].beside["Name"]) == ("Value", "a", "Tag")
    assert (found["y2"].name, found["y2"].above) == ("a", "")
    assert (found["3"].name, found["3"].above, found["3"].is_quoted) == ("c", "b", False)
    assert found[" and 4"].name == "" and found["Value"].is_name


@pytest.mark.parametrize("text", ['{"a', "[[[", '{"a": "b\\', '"', "}{", '{"a": 1}}', ""])
def test_a_text_that_breaks_off_has_an_end(text: str) -> None:
    assert all(0 <= leaf.start <= leaf.end <= len(text) for leaf in leaves(text))


def test_an_edit_leaves_the_spelling_around_it() -> None:
    raw = r"a\/b \u0041\x é CZ1"
    assert unescaped(raw) == "a/b A\ufffd é CZ1"
    start = len(unescaped(raw)) - 3
    assert edited(raw, [Edit(0, 1, "z"), Edit(start, start + 3, "AA0")]) == r"z\/b \u0041\x é AA0"
