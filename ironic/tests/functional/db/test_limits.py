"""Limits on what goes on at once hold for requests of the same moment, on every kind of database."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from ironic.conductor import transitions
from ironic.conductor.transitions import Recorder
from ironic.core.context import service_context
from ironic.core.errors import ConcurrentActionLimit, RowLimit
from ironic.core.flows import states
from ironic.db import Store
from ironic.rpc.hash_ring import HashRingManager
from ironic.services import nodes, row_changes
from ironic.services.node_authors import Author
from ironic.services.node_changes import LockRetries
from ironic.services.row_limits import Room
from ironic.tests.databases import counting_statements
from ironic.tests.suites.db.samples import node

ROUNDS = 5
REQUESTS = 16
LIMIT = 3

Asked = tuple[str, str]


def enter(store: Store, held: Any, event: str) -> None:
    """Do what a conductor does with a node it holds when a verb has been accepted."""
    move = transitions.decide(held, event, target=None, last_error=None, clear_error=True)
    Recorder(store, "here").perform(service_context(), held, move)


def at_once(stores: list[Store], asked: list[Asked], groups: list[str]) -> list[str]:
    """Have one thread per entry send its event to a node in its state; return how each of them ended."""
    starting, ends = threading.Barrier(len(asked)), [""] * len(asked)
    nodes = [
        stores[0].nodes.reserve(node(stores[0], provision_state=state, conductor_group=group).id, "here")
        for (state, _event), group in zip(asked, groups, strict=True)
    ]

    def work(number: int) -> None:
        store = stores[number % len(stores)]
        held = store.nodes.get(nodes[number].id)
        held.held_by, held.held_token = "here", nodes[number].held_token
        starting.wait()
        try:
            enter(store, held, asked[number][1])
            ends[number] = store.nodes.get(held.id).provision_state
        except ConcurrentActionLimit:
            ends[number] = "refused"

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(asked))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return ends


DEPLOYED = [(states.AVAILABLE, "deploy"), (states.ACTIVE, "rebuild")]
CLEANED = [(states.MANAGEABLE, "provide"), (states.MANAGEABLE, "clean"), (states.ACTIVE, "delete")]


@pytest.mark.parametrize(
    "option, ways, entered",
    [
        ("max_concurrent_deploy", DEPLOYED, {states.DEPLOYING}),
        ("max_concurrent_clean", CLEANED, {states.CLEANING, states.DELETING}),
    ],
    ids=["deploy", "clean"],
)
def test_as_many_as_allowed_get_in_and_not_one_more(
    store: Store, other: Store, conf: Callable[..., None], option: str, ways: list[Asked], entered: set[str]
) -> None:
    conf(**{f"conductor__{option}": LIMIT})
    store.conductors.begin("here")
    asked = [ways[number // 2 % len(ways)] for number in range(REQUESTS)]
    for _ in range(ROUNDS):
        ends = at_once([store, other], asked, [""] * REQUESTS)
        assert ends.count("refused") == REQUESTS - LIMIT
        assert set(ends) <= entered | {"refused"}
        assert store.nodes.count(provision_state_in=tuple(entered)) == LIMIT
        for row in store.nodes.rows(("id",)):
            store.nodes.delete(row[0])


def test_every_conductor_group_has_its_own_places(store: Store, other: Store, conf: Callable[..., None]) -> None:
    conf(conductor__max_concurrent_deploy=LIMIT, conductor__max_concurrent_per_conductor_group=True)
    store.conductors.begin("here")
    groups = ["", "", "far", "far"] * (REQUESTS // 4)
    ends = at_once([store, other], [(states.AVAILABLE, "deploy")] * REQUESTS, groups)
    for group in ("", "far"):
        mine = [end for end, of in zip(ends, groups, strict=True) if of == group]
        assert sorted(set(mine)) == [states.DEPLOYING, "refused"]
        assert mine.count(states.DEPLOYING) == LIMIT


def test_a_refused_node_is_left_as_it_was_and_nobody_waits_for_it(store: Store, conf: Callable[..., None]) -> None:
    conf(conductor__max_concurrent_deploy=1)
    store.conductors.begin("here")
    one, two = (store.nodes.reserve(node(store, provision_state=states.AVAILABLE).id, "here") for _ in range(2))
    enter(store, one, "deploy")
    before = store.nodes.get(two.id)
    two.extra["a"] = 1
    with pytest.raises(ConcurrentActionLimit):
        enter(store, two, "deploy")
    after = store.nodes.get(two.id)
    assert (after.provision_state, after.extra, after.updated_at) == (states.AVAILABLE, {}, before.updated_at)
    assert (two.provision_state, two.target_provision_state) == (states.AVAILABLE, None)
    enter(store, one, "fail")
    enter(store, two, "deploy")
    assert store.nodes.get(two.id).extra == {"a": 1}


def test_counting_is_one_statement_and_a_second_one_where_others_may_write(
    store: Store, conf: Callable[..., None]
) -> None:
    store.conductors.begin("here")
    held = store.nodes.reserve(node(store, provision_state=states.AVAILABLE).id, "here")
    with counting_statements(store) as seen:
        enter(store, held, "deploy")
    counts = 1 if store.engine.dialect.name == "sqlite" else 2
    assert (seen.selects, seen.writes, seen.commits) == (counts, 1, 1)


def create_at_once(stores: tuple[Store, Store], create: Callable[[Store, int], object]) -> list[str]:
    """Have one thread per request call this with a store and a number; return how each ended."""
    starting, ends = threading.Barrier(REQUESTS), [""] * REQUESTS

    def work(number: int) -> None:
        starting.wait()
        try:
            create(stores[number // 2 % 2], number)
            ends[number] = "created"
        except RowLimit:
            ends[number] = "refused"

    threads = [threading.Thread(target=work, args=(number,)) for number in range(REQUESTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return ends


def owned(number: int) -> Room:
    """Return the room of one of two projects."""
    return Room(LIMIT, "rows", "[api]x", filters={"owner": f"p{number % 2}"})


class Project(Author):
    """A project whose nodes are limited."""

    def room(self, owner: str | None) -> Room:
        return Room(LIMIT, "rows", "[api]x", filters={"owner": owner})


def enroll(store: Store, number: int) -> None:
    values = {"driver": "fake-hardware", "provision_state": states.ENROLL, "owner": f"p{number % 2}"}
    nodes.enroll(values, Project(store, HashRingManager(store, heartbeat_timeout=60)))


def allocate(store: Store, number: int) -> None:
    values = {"owner": f"p{number % 2}", "state": "allocating", "resource_class": "gold"}
    row_changes.add(store, store.allocations, values, lambda values: values, lambda columns: owned(number))


def write_runbook(store: Store, number: int) -> None:
    step = {"interface": "bios", "step": "apply", "order": 1}
    values = {"name": f"CUSTOM_{number}", "owner": f"p{number % 2}"}
    row_changes.add_step_list(store, store.runbooks, values, [step], owned(number))


@pytest.mark.parametrize(
    ("kind", "create"), [("nodes", enroll), ("allocations", allocate), ("runbooks", write_runbook)]
)
def test_a_project_gets_as_many_as_it_may_and_not_one_more(
    store: Store, other: Store, kind: str, create: Callable[[Store, int], object]
) -> None:
    store.conductors.begin("here")
    ends = create_at_once((store, other), create)
    rows: Any = getattr(store, kind)
    for project in ("p0", "p1"):
        assert rows.count(owner=project) == LIMIT
    assert (ends.count("created"), ends.count("refused")) == (2 * LIMIT, REQUESTS - 2 * LIMIT)


@pytest.mark.parametrize("kind", ["ports", "portgroups", "volume_connectors", "volume_targets"])
def test_a_node_gets_as_many_parts_as_it_may_and_not_one_more(store: Store, other: Store, kind: str) -> None:
    nodes = [node(store).id for _ in range(2)]
    values: dict[str, Callable[[int], dict[str, Any]]] = {
        "ports": lambda number: {"address": f"52:54:00:00:00:{number:02x}"},
        "portgroups": lambda number: {"mode": "active-backup"},
        "volume_connectors": lambda number: {"type": "iqn", "connector_id": f"iqn.{number}"},
        "volume_targets": lambda number: {"volume_type": "iscsi", "boot_index": number, "volume_id": "v"},
    }

    def create(store: Store, number: int) -> None:
        of_node = values[kind](number) | {"node_id": nodes[number % 2]}
        room = Room(LIMIT, kind, "[api]x", of_node=of_node["node_id"])
        row_changes.add(store, getattr(store, kind), of_node, lambda values: values, lambda columns: room)

    ends = create_at_once((store, other), create)
    for node_id in nodes:
        assert getattr(store, kind).count(node_id=node_id) == LIMIT
    assert (ends.count("created"), ends.count("refused")) == (2 * LIMIT, REQUESTS - 2 * LIMIT)


def test_are_all_of_knows_owner_lessee_and_the_site(store: Store) -> None:
    assert store.nodes.are_all_of("p0")
    assert store.nodes.are_all_of(None)
    one = node(store, owner="p0", lessee="p1")
    assert store.nodes.are_all_of("p0")
    assert not store.nodes.are_all_of("p1")
    assert not store.nodes.are_all_of(None)
    leased = node(store, lessee="p0")
    assert store.nodes.are_all_of("p0")
    site = node(store)
    assert not store.nodes.are_all_of("p0")
    for made in (one, leased):
        store.nodes.delete(made.id)
    assert store.nodes.are_all_of(None)
    assert not store.nodes.are_all_of("p0")
    store.nodes.update(site.id, {"lessee": "p1"})
    assert store.nodes.are_all_of("p1")


def test_a_node_gets_as_many_moved_volumes_as_it_may_and_not_one_more(store: Store, other: Store) -> None:
    target = store.nodes.get(node(store, power_state="power off").id)
    uuids = []
    for number in range(REQUESTS):
        old = node(store, power_state="power off").id
        values = {"type": "iqn", "connector_id": f"iqn.{number}", "node_id": old}
        uuids.append(store.volume_connectors.create(values).uuid)

    def move(store: Store, number: int) -> None:
        row_changes.change_volume(
            store,
            store.volume_connectors,
            uuids[number],
            "connector",
            lambda *_: {"node_id": target.id},
            LockRetries(1, 0),
            lambda columns: Room(LIMIT, "connectors", "[api]x", of_node=columns["node_id"]),
        )

    ends = create_at_once((store, other), move)
    assert store.volume_connectors.count(node_id=target.id) == LIMIT
    assert (ends.count("created"), ends.count("refused")) == (LIMIT, REQUESTS - LIMIT)
