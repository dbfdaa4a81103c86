"""Every pair of state and event is either a move of the table or refused."""

import pytest

from ironic.core.errors import InvalidState
from ironic.core.flows import states

# What clients of the service rely on, state by state; the last words of a line lead to the next state.
CONTRACT = {
    "enroll": "manage > verifying",
    "manageable": "adopt > adopting, clean > cleaning, inspect > inspecting, provide > cleaning",
    "available": "deploy > deploying, manage > manageable",
    "active": "delete > deleting, rebuild > deploying, rescue > rescuing, service > servicing",
    "error": "delete > deleting, rebuild > deploying",
    "rescue": "delete > deleting, rescue > rescuing, unrescue > unrescuing",
    "verifying": "done > manageable, fail > enroll",
    "deploying": "done > active, fail > deploy failed, hold > deploy hold, wait > wait call-back",
    "wait call-back": "abort > deploy failed, delete > deleting, fail > deploy failed, hold > deploy hold, "
    "resume > deploying",
    "deploy failed": "delete > deleting, deploy > deploying, rebuild > deploying",
    "deploy hold": "abort > deploy failed, unhold > wait call-back",
    "cleaning": "done > available, fail > clean failed, hold > clean hold, manage > manageable, wait > clean wait",
    "clean wait": "abort > clean failed, fail > clean failed, hold > clean hold, resume > cleaning",
    "clean failed": "manage > manageable, clean > cleaning, provide > cleaning, available > available",
    "clean hold": "abort > clean failed, unhold > clean wait",
    "deleting": "clean > cleaning, fail > error",
    "inspecting": "done > manageable, fail > inspect failed, wait > inspect wait",
    "inspect failed": "inspect > inspecting, manage > manageable",
    "inspect wait": "abort > inspect failed, done > manageable, fail > inspect failed, resume > inspecting",
    "adopting": "done > active, fail > adopt failed",
    "adopt failed": "adopt > adopting, manage > manageable",
    "rescuing": "done > rescue, fail > rescue failed, wait > rescue wait",
    "rescue wait": "abort > rescue failed, delete > deleting, fail > rescue failed, resume > rescuing",
    "rescue failed": "delete > deleting, rescue > rescuing, unrescue > unrescuing",
    "unrescuing": "done > active, fail > unrescue failed",
    "unrescue failed": "delete > deleting, rescue > rescuing, unrescue > unrescuing",
    "servicing": "done > active, fail > service failed, hold > service hold, wait > service wait",
    "service wait": "abort > service failed, delete > deleting, fail > service failed, hold > service hold, "
    "resume > servicing",
    "service failed": "abort > active, delete > deleting, hold > service hold, rescue > rescuing, "
    "service > servicing, wait > service wait",
    "service hold": "abort > service failed, fail > service failed, service > servicing, unhold > service wait",
}

MOVES = {
    (state, event): target
    for state, moves in CONTRACT.items()
    for event, target in (move.split(" > ") for move in moves.split(", "))
}
EVENTS = sorted({event for _state, event in MOVES})


def test_it_knows_thirty_states():
    assert len(CONTRACT) == 30
    assert set(CONTRACT) == states.ALL


@pytest.mark.demand("S52", "S70")
@pytest.mark.parametrize("state", sorted(CONTRACT))
@pytest.mark.parametrize("event", [*EVENTS, "no such event"])
def test_it_allows_or_refuses_every_event(state, event):
    expected = MOVES.get((state, event))
    assert states.allows(state, event) is (expected is not None)
    if expected is not None:
        assert states.after(state, event) == expected
        return
    with pytest.raises(InvalidState) as refusal:
        states.after(state, event)
    assert refusal.value.facts == {"state": state, "event": event}
    assert refusal.value.status == 409


def test_it_has_no_move_twice_and_none_that_leads_nowhere():
    assert len(states.MOVES) == len({(state, event) for state, event, _target in states.MOVES}) == len(MOVES)
    assert {target for _state, _event, target in states.MOVES} <= states.ALL


@pytest.mark.parametrize("state", sorted(states.ALL - states.STABLE))
def test_it_leaves_every_unstable_state_again(state):
    assert any(start == state for start, _event, _target in states.MOVES)


def test_it_sorts_states_into_kinds_that_do_not_overlap():
    kinds = [states.STABLE, states.FAILED, states.HELD, states.WAITING, states.WORKING]
    assert sum(map(len, kinds)) == len(states.ALL)
    assert frozenset().union(*kinds) == states.ALL
    assert states.TRANSIENT == states.WORKING | states.WAITING


@pytest.mark.parametrize(
    "new_state, target, expected",
    [
        (states.AVAILABLE, states.AVAILABLE, None),
        (states.MANAGEABLE, states.AVAILABLE, None),
        (states.CLEANING, None, states.AVAILABLE),
        (states.CLEANING, states.MANAGEABLE, states.MANAGEABLE),
        (states.CLEANFAIL, states.MANAGEABLE, states.MANAGEABLE),
        (states.RESCUEWAIT, None, states.RESCUE),
        (states.SERVICEFAIL, None, states.ACTIVE),
        (states.DELETING, None, states.AVAILABLE),
    ],
)
def test_it_shows_where_a_node_is_going(new_state, target, expected):
    assert states.target_after(new_state, target) == expected


@pytest.mark.demand("S52", "S56")
@pytest.mark.parametrize(
    "state, verbs",
    [
        (states.ENROLL, {"manage"}),
        (states.AVAILABLE, {"active", "deploy", "manage"}),
        (states.CLEANFAIL, {"manage", "clean", "provide", "available"}),
        (states.INSPECTWAIT, {"abort"}),
        (states.ACTIVE, {"rebuild", "deleted", "undeploy", "rescue", "service"}),
        (states.VERIFYING, set()),
    ],
)
def test_it_lists_the_verbs_of_a_state(state, verbs):
    assert states.verbs_of(state) == verbs


def test_it_has_an_event_for_every_verb():
    assert set(states.VERBS.values()) <= set(EVENTS)
