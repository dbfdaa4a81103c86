"""Each difference between BMCs has a source, and a test that plays a BMC which differs so."""

from pathlib import Path

import pytest

from ironic.drivers.modules.redfish.wire.differences import NO_REPORT, TABLE, Behaviour
from ironic.tests.repository import tool

PAGE = tool("differences_page")
# Rows that wait for the record of a machine: a new one has a source.
MOST_WITHOUT_A_REPORT = 19


def test_each_row_is_shown_by_tests_and_each_marker_names_a_row() -> None:
    names = [row.name for row in TABLE]
    assert len(set(names)) == len(names)
    assert set(PAGE.shown()) == set(names)


def test_what_shows_a_row_is_a_test_that_can_fail() -> None:
    tests = [test for tests in PAGE.shown().values() for test in tests]
    assert [f"{one.file}::{one.test.name}" for one in tests if not one.is_real] == []


@pytest.mark.parametrize(
    "name, text, is_real",
    [
        ("test_a.py", "def test_it():\n    assert look()", True),
        ("test_a.py", "def test_it():\n    with pytest.raises(ValueError):\n        look()", True),
        ("test_a.py", "def test_it():\n    look()", False),
        ("test_a.py", "def look():\n    assert True", False),
        ("a.py", "def test_it():\n    assert look()", False),
        ("test_a.py", "@pytest.mark.skip\ndef test_it():\n    assert look()", False),
    ],
)
def test_a_test_that_is_not_run_or_checks_nothing_shows_no_row(
    tmp_path: Path, name: str, text: str, is_real: bool
) -> None:
    (tmp_path / name).write_text(f'@pytest.mark.difference("a row", "another")\n{text}\n')
    found = PAGE.shown(tmp_path)
    assert set(found) == {"a row", "another"}
    assert found["a row"][0].is_real is is_real


def test_each_row_says_where_it_is_known_from() -> None:
    texts = [(row.name, row.machines, row.does, row.service, row.source) for row in TABLE]
    assert [row for row in texts if not all(row) or "|" in "".join(row)] == []
    assert sum(row.source == NO_REPORT for row in TABLE) <= MOST_WITHOUT_A_REPORT


def test_what_the_code_asks_for_is_known_by_the_machine_or_by_an_error() -> None:
    assert {row.behaviour for row in TABLE if row.behaviour} == set(Behaviour)
    for row in TABLE:
        is_known = bool(row.vendor or row.model or row.firmware) != bool(row.statuses and row.text)
        assert is_known == (row.behaviour is not None), row.name
