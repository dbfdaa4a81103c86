import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironic.inspection.posted_data import (
    KEY,
    copy_of,
    posted_part,
    processed_part,
    processed_text,
    with_difference,
)

VALUES = st.recursive(st.none() | st.integers(-9, 9) | st.text(max_size=3), lambda one: st.lists(one, max_size=2))
DATA = st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), VALUES)


@given(DATA, DATA)
def test_both_forms_come_back(posted: dict[str, Any], processed: dict[str, Any]) -> None:
    stored = json.loads(json.dumps(with_difference(processed, posted)))
    assert posted_part(stored) == posted
    assert processed_part(stored) == processed
    assert json.loads(processed_text(json.dumps(stored))) == processed


def test_only_the_difference_is_stored_twice() -> None:
    posted = {"same": "x" * 1000, "changed": 1, "removed": 2}
    stored = with_difference({"same": "x" * 1000, "changed": 3, "new": 4}, posted)
    assert stored[KEY] == {"added": ["new"], "former": {"changed": 1, "removed": 2}}


def test_equal_data_are_stored_as_they_are() -> None:
    assert with_difference({"a": 1}, {"a": 1}) == {"a": 1}


def test_a_machine_can_not_post_a_difference() -> None:
    forged = {KEY: {"added": ["a"], "former": {"a": 2}}, "a": 1}
    stored = with_difference(dict(forged), copy_of(forged))
    assert stored == {"a": 1}
    assert posted_part(stored) == {"a": 1}


@pytest.mark.parametrize("odd", [5, None, []])
def test_data_of_before_are_their_own_posted_form(odd: object) -> None:
    assert posted_part({"a": 1, KEY: odd}) == {"a": 1}
