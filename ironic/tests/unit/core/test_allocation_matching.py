"""Which node an allocation gets."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from ironic.core.allocation_matching import (
    DEPLOYED,
    AllocationRequest,
    failure,
    in_order,
    objection,
    objection_to_deployed,
)
from ironic.core.flows import states


@dataclass(frozen=True)
class Node:
    uuid: str = "u"
    name: str | None = None
    provision_state: str = states.AVAILABLE
    maintenance: bool = False
    instance_uuid: str | None = None
    power_state: str | None = states.POWER_OFF
    resource_class: str | None = "gold"
    owner: str | None = None
    lessee: str | None = None


WANTED = AllocationRequest("gold")


@pytest.mark.parametrize(
    ("node", "wanted", "traits", "against"),
    [
        ({}, {}, (), None),
        ({"power_state": "power on"}, {}, (), None),
        ({"provision_state": "active"}, {}, (), "state"),
        ({"provision_state": "manageable"}, {}, (), "state"),
        ({"maintenance": True}, {}, (), "maintenance"),
        ({"instance_uuid": "i"}, {}, (), "instance"),
        ({"power_state": None}, {}, (), "power"),
        ({"power_state": "error"}, {}, (), "power"),
        ({"resource_class": "tin"}, {}, (), "class"),
        ({"resource_class": None}, {}, (), "class"),
        ({}, {"resource_class": None}, (), "class"),
        ({}, {"traits": ["A"]}, ("A", "B"), None),
        ({}, {"traits": ["A", "C", "B"]}, ("A",), "traits B, C"),
        ({}, {"candidates": ["u", "v"]}, (), None),
        ({}, {"candidates": ["v"]}, (), "candidates"),
        ({"owner": "me"}, {"owner": "me"}, (), None),
        ({"lessee": "me"}, {"owner": "me"}, (), None),
        ({"owner": "you"}, {"owner": "me"}, (), "project me"),
        ({"owner": "you"}, {}, (), None),
    ],
)
def test_a_free_node_fits_or_not(
    node: dict[str, Any], wanted: dict[str, Any], traits: tuple[str, ...], against: str | None
) -> None:
    found = objection(replace(WANTED, **wanted), Node(**node), traits)
    assert (found is None) if against is None else (against in (found or ""))


@pytest.mark.parametrize("state", sorted(states.ALL))
def test_an_instance_is_written_down_only_where_one_is(state: str) -> None:
    node = Node(provision_state=state, instance_uuid="i", power_state=None, maintenance=True)
    assert (objection_to_deployed(WANTED, node, ()) is None) is (state in DEPLOYED)
    assert objection_to_deployed(AllocationRequest(None), node, ()) == objection_to_deployed(WANTED, node, ())


def test_states_with_an_instance_are_those_it_can_be_deleted_from() -> None:
    # Beside those where it is not there yet, or half gone.
    deletable = {state for state in states.ALL if states.allows(state, "delete")}
    assert deletable - DEPLOYED == {states.DEPLOYWAIT, states.DEPLOYFAIL, states.ERROR}


@pytest.mark.parametrize(
    "wanted",
    [
        AllocationRequest("tin"),
        AllocationRequest("gold", traits=["A"]),
        AllocationRequest("gold", candidates=["v"]),
        AllocationRequest("gold", owner="me"),
    ],
)
def test_a_deployed_node_has_to_be_what_is_asked_for(wanted: AllocationRequest) -> None:
    assert objection_to_deployed(wanted, Node(provision_state="active"), ()) is not None


def test_nodes_are_tried_by_chance_but_the_one_of_the_same_name_first() -> None:
    nodes = [Node(name=name) for name in ("a", "b", None, "c")]
    assert [node.name for node in in_order(AllocationRequest("gold", name="c"), nodes, list.reverse)] == [
        "c",
        None,
        "b",
        "a",
    ]
    assert [node.name for node in in_order(AllocationRequest("gold"), nodes, list.reverse)] == ["c", None, "b", "a"]
    assert [node.name for node in in_order(AllocationRequest("gold", name="z"), nodes, lambda mixed: None)] == [
        "a",
        "b",
        None,
        "c",
    ]
    assert nodes[0].name == "a"


def test_a_failure_says_what_was_looked_for() -> None:
    wanted = AllocationRequest("gold", traits=["A"], candidates=["u"], owner="me")
    for text in (failure(wanted, 0), failure(wanted, 3)):
        assert all(word in text for word in ("gold", "traits A", "1 candidate", "me"))
    assert failure(wanted, 3).startswith("3 nodes")
