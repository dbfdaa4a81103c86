"""Every verb in every state, with and without a lock."""

from typing import Any

import pytest

from ironic.api.resources.nodes import provision_request
from ironic.core import node_rules
from ironic.core.errors import (
    InvalidParameterValue,
    InvalidStateRequested,
    NodeInMaintenance,
    NodeLocked,
    NotAcceptable,
)
from ironic.core.flows import states
from ironic.core.node_rules import NodeValues

NEEDS: dict[str, dict[str, Any]] = {
    "clean": {"clean_steps": [{"interface": "deploy", "step": "x"}]},
    "service": {"service_steps": [{"interface": "deploy", "step": "x"}]},
    "rescue": {"rescue_password": "x"},
}


def node(state: str, **more: Any) -> NodeValues:
    values: dict[str, Any] = dict.fromkeys(node_rules.COLUMNS)
    values |= {"uuid": "u", "provision_state": state, "maintenance": False, "protected": False, "retired": False}
    return node_rules.of_row(tuple((values | more).values()))


def check(facts: NodeValues, verb: str, minor: int = 115, **more: Any) -> None:
    provision_request.check(facts, {"target": verb} | NEEDS.get(verb, {}) | more, minor, {})


@pytest.mark.parametrize("state", sorted(states.ALL))
@pytest.mark.parametrize("verb", sorted(states.VERBS))
def test_a_verb_is_possible_just_where_the_table_of_states_says_so(state: str, verb: str) -> None:
    if node_rules.accepts_verb(state, verb):
        check(node(state), verb)
        return
    with pytest.raises(InvalidStateRequested):
        check(node(state), verb)
    with pytest.raises(NodeLocked):
        check(node(state, reservation="host"), verb)


@pytest.mark.parametrize(
    ("verb", "since", "state"),
    [
        ("manage", 4, states.ENROLL),
        ("provide", 4, states.MANAGEABLE),
        ("inspect", 6, states.MANAGEABLE),
        ("abort", 13, states.CLEANWAIT),
        ("abort", 41, states.INSPECTWAIT),
        ("abort", 110, states.DEPLOYWAIT),
        ("clean", 15, states.MANAGEABLE),
        ("available", 15, states.CLEANFAIL),
        ("adopt", 17, states.MANAGEABLE),
        ("rescue", 38, states.ACTIVE),
        ("unrescue", 38, states.RESCUE),
        ("deploy", 73, states.AVAILABLE),
        ("unhold", 85, states.CLEANHOLD),
        ("service", 87, states.ACTIVE),
    ],
)
def test_a_verb_has_a_first_version(verb: str, since: int, state: str) -> None:
    check(node(state), verb, since)
    with pytest.raises(NotAcceptable):
        check(node(state), verb, since - 1)


@pytest.mark.parametrize("verb", ["active", "deploy", "rebuild"])
def test_nothing_is_deployed_in_maintenance(verb: str) -> None:
    with pytest.raises(NodeInMaintenance):
        check(node(states.DEPLOYFAIL, maintenance=True), verb)


def test_maintenance_is_looked_at_before_the_state() -> None:
    with pytest.raises(NodeInMaintenance):
        check(node(states.ENROLL, maintenance=True), "active")


@pytest.mark.parametrize("verb", ["manage", "done", "delete", "", "active "])
def test_what_is_no_verb_of_this_state_is_no_way(verb: str) -> None:
    with pytest.raises((InvalidParameterValue, InvalidStateRequested)):
        check(node(states.ACTIVE), verb)


def test_the_event_behind_deleted_is_no_verb_but_came_with_the_others_of_its_time() -> None:
    with pytest.raises(NotAcceptable):
        check(node(states.ACTIVE), "delete", 72)
    with pytest.raises(InvalidParameterValue):
        check(node(states.ACTIVE), "delete", 73)


@pytest.mark.demand("S56")
def test_out_of_failed_cleaning_lead_clean_provide_available_and_manage() -> None:
    assert {verb for verb in states.VERBS if _is_possible(verb, states.CLEANFAIL)} == {
        "available",
        "clean",
        "manage",
        "provide",
    }


def _is_possible(verb: str, state: str) -> bool:
    try:
        check(node(state), verb)
    except InvalidStateRequested:
        return False
    return True
