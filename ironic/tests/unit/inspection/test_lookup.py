"""Finding the node that data belong to: every combination of what the sources say."""

import itertools
import logging

import pytest

from ironic.core import states
from ironic.core.errors import NotFound
from ironic.db import NodeRecord, Store
from ironic.inspection import lookup
from ironic.inspection.lookup import find_node
from ironic.tests.databases import counting_statements
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC, new_node, new_port

UNKNOWN_UUID = "b0420000-0000-4000-8000-00000000dead"
UNKNOWN_MAC = "52:54:00:00:00:99"


@pytest.fixture
def nodes(store: Store) -> dict[str, NodeRecord]:
    """Two nodes that wait for an inspection, each with a port and an address of its BMC."""
    made = {}
    for name, mac, address in (("a", MAC, "192.0.2.1"), ("b", OTHER_MAC, "192.0.2.2")):
        node = made[name] = new_node(store, provision_state=states.INSPECTWAIT)
        new_port(store, node, mac)
        store.nodes.set_bmc_addresses(node.id, [address])
    return made


MACS = {"none": [UNKNOWN_MAC], "a": [MAC, UNKNOWN_MAC], "both": [MAC, OTHER_MAC]}
BMCS = {"none": ["192.0.2.99"], "a": ["192.0.2.1"], "b": ["192.0.2.2"], "both": ["192.0.2.1", "192.0.2.2"]}

# Sources: the UUID (of a, of nobody, not given), the MAC addresses (nobody's, a's, of both), the BMC (nobody's, b's,
# both's): 27 cases. What is not named here is refused.
FOUND = {
    ("a", "none", "none"): "a",
    ("a", "none", "both"): "a",
    ("a", "a", "none"): "a",
    ("a", "a", "both"): "a",
    ("not given", "none", "b"): "b",
    ("not given", "a", "none"): "a",
    ("not given", "a", "both"): "a",
}


@pytest.mark.demand("S77")
@pytest.mark.parametrize("bmc", ["none", "b", "both"])
@pytest.mark.parametrize("macs", ["none", "a", "both"])
@pytest.mark.parametrize("uuid", ["a", "unknown", "not given"])
def test_it_finds_one_and_only_one_node(
    store: Store, nodes: dict[str, NodeRecord], uuid: str, macs: str, bmc: str
) -> None:
    node_uuid = {"a": nodes["a"].uuid, "unknown": UNKNOWN_UUID, "not given": None}[uuid]
    expected = FOUND.get((uuid, macs, bmc))
    if expected is None:
        with pytest.raises(NotFound) as refused:
            find_node(store, macs=MACS[macs], bmc_addresses=BMCS[bmc], node_uuid=node_uuid)
        assert str(refused.value) == str(lookup.nothing_found())
    else:
        found = find_node(store, macs=MACS[macs], bmc_addresses=BMCS[bmc], node_uuid=node_uuid)
        assert (found.uuid, found.driver) == (nodes[expected].uuid, "fake-hardware")


@pytest.mark.demand("S77")
def test_it_agrees_with_itself_when_everything_fits(store: Store, nodes: dict[str, NodeRecord]) -> None:
    a = nodes["a"]
    sources = itertools.product([a.uuid, a.uuid.upper(), None], [[MAC], [MAC.upper()], []], [["192.0.2.1"], []])
    for uuid, macs, bmc in sources:
        if uuid or macs or bmc:
            assert find_node(store, macs=macs, bmc_addresses=bmc, node_uuid=uuid).uuid == a.uuid


@pytest.mark.demand("S76")
@pytest.mark.parametrize("state", sorted(states.ALL - {states.INSPECTWAIT}))
def test_it_finds_no_node_that_does_not_wait(store: Store, state: str) -> None:
    node = new_node(store, provision_state=state)
    new_port(store, node)
    store.nodes.set_bmc_addresses(node.id, ["192.0.2.1"])
    answers = set()
    for sources in (
        {"macs": [MAC]},
        {"macs": [], "bmc_addresses": ["192.0.2.1"]},
        {"macs": [], "node_uuid": node.uuid},
    ):
        with pytest.raises(NotFound) as refused:
            find_node(store, **sources)
        answers.add((refused.value.status, str(refused.value), tuple(refused.value.facts)))
    assert answers == {(404, str(lookup.nothing_found()), ())}


def test_it_says_in_the_log_what_was_wrong(
    store: Store, nodes: dict[str, NodeRecord], caplog: pytest.LogCaptureFixture
) -> None:
    a, b = nodes["a"], nodes["b"]
    cases = [
        ({"macs": [MAC, OTHER_MAC]}, f"belong to node {a.uuid}, node {b.uuid}"),
        (
            {"macs": [OTHER_MAC], "node_uuid": a.uuid},
            f"names node {a.uuid}, but its MAC addresses belong to node {b.uuid}",
        ),
        ({"macs": [MAC], "bmc_addresses": ["192.0.2.2"]}, f"is node {a.uuid}, but its BMC addresses are those of"),
        ({"macs": [], "node_uuid": UNKNOWN_UUID}, f"there is no node {UNKNOWN_UUID}"),
        ({"macs": [UNKNOWN_MAC]}, "no node has any of its addresses"),
        ({"macs": [], "bmc_addresses": BMCS["both"]}, f"BMC addresses are those of node {a.uuid}, node {b.uuid}"),
    ]
    for sources, reason in cases:
        caplog.clear()
        with caplog.at_level(logging.WARNING, "ironic"), pytest.raises(NotFound):
            find_node(store, **sources)  # type: ignore[arg-type]
        assert reason in caplog.messages[0]


def test_it_lets_a_node_be_made_only_when_nothing_matches(store: Store, nodes: dict[str, NodeRecord]) -> None:
    made: list[str] = []

    def discover() -> lookup.NodeRow:
        made.append("one")
        return store.nodes.by_macs([MAC])[0]

    new_port(store, new_node(store, provision_state=states.ACTIVE), UNKNOWN_MAC)
    for sources in (
        {"macs": [UNKNOWN_MAC]},
        {"macs": [MAC, OTHER_MAC]},
        {"macs": ["52:54:00:00:00:77"], "node_uuid": UNKNOWN_UUID},
    ):
        with pytest.raises(NotFound):
            find_node(store, **sources, discover=discover)
    assert not made
    assert find_node(store, macs=["52:54:00:00:00:77"], bmc_addresses=["192.0.2.77"], discover=discover)
    assert made == ["one"]


def test_it_asks_the_database_once_per_source(store: Store, nodes: dict[str, NodeRecord]) -> None:
    with counting_statements(store) as seen:
        find_node(store, macs=[MAC, UNKNOWN_MAC], bmc_addresses=["192.0.2.1"])
    assert (seen.selects, seen.writes) == (2, 0)
    with counting_statements(store) as seen:
        find_node(store, macs=[MAC], bmc_addresses=["192.0.2.1"], node_uuid=nodes["a"].uuid)
    assert (seen.selects, seen.writes) == (3, 0)
