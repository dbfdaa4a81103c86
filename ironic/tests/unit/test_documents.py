"""Generated pages are what the code says now, and tests point at demands that exist."""

from ironic.tests.repository import tool


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
