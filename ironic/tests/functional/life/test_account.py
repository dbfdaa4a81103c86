"""The account of moves finds what must not be."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.core.errors import InvalidState
from ironic.core.flows import states
from ironic.db import Store
from ironic.tests.databases import sqlite_store
from ironic.tests.functional.life.account import check_ended, check_moves
from ironic.tests.suites.db.samples import node


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = sqlite_store(tmp_path)
    yield made
    made.close()


def line(at: int, uuid: str, old: str, event: str, new: str) -> str:
    moved = f"Node {uuid} moved from state '{old}' to '{new}' on event '{event}' (target 'None')"
    return f"2026-01-01 12:00:{at:02}.000 99 INFO ironic.conductor.transitions [-] {moved}\n"


def test_moves_of_several_processes_are_put_together(store: Store) -> None:
    one = node(store, provision_state=states.MANAGEABLE).uuid
    first = line(1, one, "enroll", "manage", "verifying")
    second = line(2, one, "verifying", "fail", "enroll") + line(9, one, "verifying", "done", "manageable")
    third = line(5, one, "enroll", "manage", "verifying")
    assert check_moves([first + third, second], {one: states.ENROLL}, store) == 4


def test_one_move_may_be_missing_where_its_process_was_killed(store: Store) -> None:
    one = node(store, provision_state=states.CLEANFAIL).uuid
    log = line(1, one, "cleaning", "wait", "clean wait")
    assert check_moves([log], {one: states.MANAGEABLE}, store) == 1


@pytest.mark.parametrize(
    "moves",
    [
        # Two who had it at once: both end the same work.
        [("verifying", "done", "manageable"), ("verifying", "fail", "enroll")],
        [("verifying", "done", "manageable"), ("deploying", "done", "active")],
        [("enroll", "manage", "manageable")],
    ],
)
def test_what_is_no_path_through_the_table_is_found(store: Store, moves: list[tuple[str, str, str]]) -> None:
    one = node(store, provision_state=moves[-1][2]).uuid
    log = "".join(line(at, one, *move) for at, move in enumerate(moves))
    with pytest.raises((AssertionError, InvalidState)):
        check_moves([log], {one: moves[0][0]}, store)


@pytest.mark.parametrize(
    "left",
    [
        {"reservation": "another-host"},
        {"target_power_state": "power on"},
        {"provision_state": states.CLEANING},
        {"provision_state": states.CLEANFAIL},
        {"provision_state": states.CLEANWAIT},
    ],
)
def test_what_was_left_over_is_found(store: Store, left: dict[str, str]) -> None:
    one = node(store, **left).uuid
    with pytest.raises(AssertionError):
        check_ended(store, [one])
