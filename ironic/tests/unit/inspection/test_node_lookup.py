"""Finding the node that data belong to: every combination of what the sources say."""

import itertools

import pytest

from ironic.core.flows import states
from ironic.db import NodeRecord, Store
from ironic.inspection import node_lookup
from ironic.inspection.node_lookup import Found, Refused, Unknown, judge
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


MACS = {"none": [UNKNOWN_MAC], "a": [MAC, UNKNOWN_MAC], "b": [OTHER_MAC], "both": [MAC, OTHER_MAC]}
BMCS = {"none": ["192.0.2.99"], "a": ["192.0.2.1"], "b": ["192.0.2.2"], "both": ["192.0.2.1", "192.0.2.2"]}

# Sources: the UUID (of a, unknown, not given), the MAC addresses (unknown, a's, b's, of both), the BMC (unknown, b's,
# both's): 36 cases. What is not named here is refused.
FOUND = {
    ("a", "none", "none"): "a",
    ("a", "none", "both"): "a",
    ("a", "a", "none"): "a",
    ("a", "a", "both"): "a",
    ("not given", "none", "b"): "b",
    ("not given", "a", "none"): "a",
    ("not given", "a", "both"): "a",
    ("not given", "b", "none"): "b",
    ("not given", "b", "b"): "b",
    ("not given", "b", "both"): "b",
}


@pytest.mark.demand("S77")
@pytest.mark.parametrize("bmc", ["none", "b", "both"])
@pytest.mark.parametrize("macs", ["none", "a", "b", "both"])
@pytest.mark.parametrize("uuid", ["a", "unknown", "not given"])
def test_it_finds_one_and_only_one_node(
    store: Store, nodes: dict[str, NodeRecord], uuid: str, macs: str, bmc: str
) -> None:
    node_uuid = {"a": nodes["a"].uuid, "unknown": UNKNOWN_UUID, "not given": None}[uuid]
    expected = FOUND.get((uuid, macs, bmc))
    if expected is None:
        assert not isinstance(judge(store, macs=MACS[macs], bmc_addresses=BMCS[bmc], node_uuid=node_uuid), Found)
    else:
        found = judge(store, macs=MACS[macs], bmc_addresses=BMCS[bmc], node_uuid=node_uuid)
        assert isinstance(found, Found)
        assert (found.node.uuid, found.node.driver) == (nodes[expected].uuid, "fake-hardware")


@pytest.mark.demand("S77")
def test_it_agrees_with_itself_when_everything_fits(store: Store, nodes: dict[str, NodeRecord]) -> None:
    a = nodes["a"]
    sources = itertools.product([a.uuid, a.uuid.upper(), None], [[MAC], [MAC.upper()], []], [["192.0.2.1"], []])
    for uuid, macs, bmc in sources:
        if uuid or macs or bmc:
            found = judge(store, macs=macs, bmc_addresses=bmc, node_uuid=uuid)
            assert isinstance(found, Found)
            assert found.node.uuid == a.uuid


@pytest.mark.demand("S76")
@pytest.mark.parametrize("state", sorted(states.ALL - {states.INSPECTWAIT}))
def test_it_finds_no_node_that_does_not_wait(store: Store, state: str) -> None:
    node = new_node(store, provision_state=state)
    new_port(store, node)
    store.nodes.set_bmc_addresses(node.id, ["192.0.2.1"])
    assert isinstance(judge(store, macs=[MAC]), Refused)
    assert isinstance(judge(store, macs=[], node_uuid=node.uuid), Refused)
    assert isinstance(judge(store, macs=[], bmc_addresses=["192.0.2.1"]), Unknown)
    error = node_lookup.nothing_found()
    assert (error.status, error.facts) == (404, {})


def test_it_says_what_was_wrong(store: Store, nodes: dict[str, NodeRecord]) -> None:
    a, b = nodes["a"], nodes["b"]
    cases = [
        ({"macs": [MAC, OTHER_MAC]}, f"belong to node {a.uuid}, node {b.uuid}"),
        (
            {"macs": [OTHER_MAC], "node_uuid": a.uuid},
            f"names node {a.uuid}, but its MAC addresses belong to node {b.uuid}",
        ),
        ({"macs": [MAC], "bmc_addresses": ["192.0.2.2"]}, f"is node {a.uuid}, but its BMC addresses are those of"),
        ({"macs": [], "node_uuid": UNKNOWN_UUID}, f"there is no node {UNKNOWN_UUID}"),
        ({"macs": [], "bmc_addresses": BMCS["both"]}, f"BMC addresses are those of node {a.uuid}, node {b.uuid}"),
    ]
    for sources, reason in cases:
        verdict = judge(store, **sources)  # type: ignore[arg-type]
        assert isinstance(verdict, Refused)
        assert reason in verdict.reason


@pytest.mark.demand("S79")
def test_it_says_that_nothing_at_all_matches(store: Store, nodes: dict[str, NodeRecord]) -> None:
    new_port(store, new_node(store, provision_state=states.ACTIVE), UNKNOWN_MAC)
    for sources in (
        {"macs": [UNKNOWN_MAC]},
        {"macs": [MAC, OTHER_MAC]},
        {"macs": ["52:54:00:00:00:77"], "node_uuid": UNKNOWN_UUID},
    ):
        assert isinstance(judge(store, **sources), Refused)
    assert judge(store, macs=["52:54:00:00:00:77"], bmc_addresses=["192.0.2.77"]) == Unknown()


def test_it_asks_the_database_once_per_source(store: Store, nodes: dict[str, NodeRecord]) -> None:
    with counting_statements(store) as seen:
        judge(store, macs=[MAC, UNKNOWN_MAC], bmc_addresses=["192.0.2.1"])
    assert (seen.selects, seen.writes) == (2, 0)
    with counting_statements(store) as seen:
        judge(store, macs=[MAC], bmc_addresses=["192.0.2.1"], node_uuid=nodes["a"].uuid)
    assert (seen.selects, seen.writes) == (3, 0)
