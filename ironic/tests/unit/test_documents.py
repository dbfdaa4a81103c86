"""Generated pages are what the code says now, and tests point at demands that exist."""

import re
from importlib.metadata import entry_points

import pytest

from ironic.conf import CONF
from ironic.core.flows.states import CLEANFAIL, CLEANING, CLEANWAIT, MOVES, verbs_of
from ironic.core.flows.steps import INTERFACES, RESERVED
from ironic.core.model.node import FAULTS
from ironic.tests.repository import ROOT, tool


def test_every_generated_page_is_up_to_date() -> None:
    stale = [path.name for path, text in tool("pages").pages().items() if path.read_text() != text]
    assert stale == [], "run `make pages`"


def test_every_move_of_a_node_is_in_a_picture() -> None:
    pages = tool("pages")
    drawn = {
        move for chapter in pages.CHAPTERS.values() for move in pages.states.MOVES if {move[0], move[2]} <= chapter
    }
    assert drawn == set(pages.states.MOVES)


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


def test_the_page_for_those_who_come_from_elsewhere_knows_every_program() -> None:
    page = tool("coming_page")
    programs = {point.name for point in entry_points(group="console_scripts") if point.value.startswith("ironic.")}
    assert page.OWN_PROGRAMS.keys() <= programs
    assert not page.MISSING_PROGRAMS.keys() & programs


def recipes() -> str:
    """Return the page that is read when something is broken."""
    return (ROOT / "doc" / "troubleshooting.md").read_text()


def test_the_recipes_name_verbs_that_the_state_accepts() -> None:
    table = recipes().partition("| state | to try again | to give up |")[2].partition("## ")[0]
    rows = [line.split("|")[1:4] for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) > 6
    for row in rows:
        states, *verbs = (re.findall(r"`([a-z ]+)`", cell) for cell in row)
        assert {verb for cell in verbs for verb in cell} <= {verb for state in states for verb in verbs_of(state)}, row


def test_the_recipes_are_for_every_fault() -> None:
    table = recipes().partition("| `fault` | what to do |")[2].partition("## ")[0]
    assert {*re.findall(r"`([a-z ]+ failure)`", table)} == {*FAULTS}


def test_the_recipes_quote_what_machines_show() -> None:
    shown = "".join(path.read_text() for path in (ROOT / "ironic").rglob("*.j2"))
    quoted = re.findall(r'^\| "(.+?)" \|', recipes(), re.MULTILINE)
    assert quoted
    assert [text for text in quoted if text not in shown] == []


def test_the_recipes_quote_answers_of_the_service() -> None:
    table = recipes().partition("| text of the answer | what to do |")[2].partition("## A node waits")[0]
    quoted = re.findall(r"^\| `(.+?)` \||^A request gets \d+ `(.+?)`", table, re.MULTILINE)
    pieces = [piece.strip() for first, second in quoted for piece in (first or second).split("...") if len(piece) > 5]
    assert len(pieces) > 8
    code = "".join(path.read_text() for room in ("core", "db") for path in (ROOT / "ironic" / room).rglob("*.py"))
    assert [piece for piece in pieces if piece not in code] == []


def test_every_hook_has_a_description_of_its_own() -> None:
    rows = re.findall(
        r"^\| `([\w-]+)`[^|]*\| ([^|]+) \|", (ROOT / "doc" / "inspection-hooks.md").read_text(), re.MULTILINE
    )
    assert len(rows) > 10
    assert len({meaning for _, meaning in rows}) == len(rows)
