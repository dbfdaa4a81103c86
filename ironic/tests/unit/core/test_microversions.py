"""The history of the API has no gaps, and every row says what it must."""

import pytest

from ironic.core.microversions import MAXIMUM, MICROVERSIONS, MINIMUM, Microversion


def test_versions_follow_each_other_without_a_gap() -> None:
    assert [one.minor for one in MICROVERSIONS] == list(range(MINIMUM, MAXIMUM + 1))
    assert MINIMUM == 1


@pytest.mark.parametrize("version", MICROVERSIONS, ids=lambda one: f"1.{one.minor}")
def test_a_version_is_told_in_one_sentence_that_fits_what_it_touched(version: Microversion) -> None:
    sentence = version.sentence
    assert sentence[0].isupper() and sentence.endswith(".") and ". " not in sentence and "|" not in sentence
    assert sentence.startswith("Nothing changes: ") == (version.touched == ())
    assert len(set(version.touched)) == len(version.touched)


def test_no_two_versions_have_the_same_sentence_and_nothing_comes_twice() -> None:
    assert len({one.sentence for one in MICROVERSIONS}) == len(MICROVERSIONS)
    added = [name for one in MICROVERSIONS for name in one.added]
    assert len(set(added)) == len(added)
