"""Generated pages are what the code says now, and tests point at demands that exist."""

import re

import pytest

from ironic.conf import CONF
from ironic.core.states import CLEANFAIL, CLEANING, CLEANWAIT, MOVES
from ironic.core.steps import INTERFACES, RESERVED
from ironic.tests.repository import ROOT, tool


def test_every_generated_page_is_up_to_date() -> None:
    stale = [path.name for path, text in tool("docs").pages().items() if path.read_text() != text]
    assert stale == [], "run `make docs`"


def test_every_move_of_a_node_is_in_a_picture() -> None:
    docs = tool("docs")
    drawn = {move for chapter in docs.CHAPTERS.values() for move in docs.states.MOVES if {move[0], move[2]} <= chapter}
    assert drawn == set(docs.states.MOVES)


def test_tests_point_at_demands_that_exist() -> None:
    demands = tool("demands")
    assert len(demands.rows()) == 188
    assert demands.marked().keys() <= demands.rows().keys()


@pytest.mark.demand("S66")
def test_the_page_on_cleaning_says_what_the_code_does() -> None:
    page = (ROOT / "doc" / "cleaning.md").read_text()
    assert f"\n    {', '.join(INTERFACES['clean'])}\n" in page
    named = re.findall(r"\[(conductor|deploy)\](\w+)", page)
    assert len(named) > 6
    assert [f"[{group}]{name}" for group, name in named if name not in CONF[group]] == []
    drawn = {
        (source.replace("_", " "), target.replace("_", " "))
        for source, target in re.findall(r"^    (\w+) --> (\w+):", page, re.MULTILINE)
    }
    held = "clean hold"
    moves = {
        (source, target)
        for source, _, target in MOVES
        if {source, target} & {CLEANING, CLEANWAIT, CLEANFAIL} and held not in (source, target)
    }
    assert drawn == moves


def test_the_page_on_lists_of_steps_says_what_the_code_does() -> None:
    page = (ROOT / "doc" / "steps.md").read_text()
    named = re.findall(r"\[(conductor|api)\](\w+)", page)
    assert len(named) > 6
    assert [f"[{group}]{name}" for group, name in named if name not in CONF[group]] == []
    table = page[page.index("## Steps of the service itself") : page.index("## Child nodes")]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == RESERVED
