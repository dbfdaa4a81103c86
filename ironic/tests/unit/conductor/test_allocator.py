"""Finding nodes for allocations, alone and against others."""

import threading
from typing import Any

import pytest

from ironic.conductor.allocator import Allocator
from ironic.conductor.rpc_endpoint import Endpoint
from ironic.conductor.tasks import TaskFactory
from ironic.core.allocation_matching import ACTIVE, ALLOCATING, ERROR
from ironic.core.errors import NoFreeConductorWorker
from ironic.core.errors.resource_errors import AllocationNotFound
from ironic.db import connect
from ironic.tests.clocks import as_clock
from ironic.tests.unit.conductor.conftest import fake_composition, wait_until

GIVEN = {"provision_state": "available", "power_state": "power off", "resource_class": "gold"}


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def allocator(store, tasks, pauses):
    store.conductors.register("c1", "", ["fake-hardware"], [])
    return Allocator(tasks, sleep=pauses.append, shuffle=lambda nodes: None)


@pytest.fixture
def free(make_node):
    return lambda **columns: make_node(**(GIVEN | columns))


@pytest.fixture
def ask(store):
    def create(**columns):
        return store.allocations.create({"state": ALLOCATING, "resource_class": "gold"} | columns).uuid

    return create


@pytest.fixture
def settle(allocator, context, store):
    """Return a function that has an allocation processed and returns its record afterwards."""

    def process(uuid):
        allocator.start(context, uuid)
        wait_until(lambda: store.allocations.get(uuid).state != ALLOCATING)
        return store.allocations.get(uuid)

    return process


def test_an_allocation_gets_a_node(store, free, ask, settle):
    node = free(instance_info={"a": 1, "traits": ["OLD"]})
    store.traits.replace(store.nodes.get(node).id, ["CUSTOM_A", "CUSTOM_B"])
    uuid = ask(traits=["CUSTOM_A"])
    made = settle(uuid)
    found = store.nodes.get(node)
    assert (made.state, made.node_id, made.last_error) == (ACTIVE, found.id, None)
    assert (found.instance_uuid, found.allocation_id) == (uuid, made.id)
    assert found.instance_info == {"a": 1, "traits": ["CUSTOM_A"]}
    assert (found.reservation, found.provision_state) == (None, "available")


def test_the_node_of_the_same_name_comes_first(store, free, ask, settle):
    free(name="n1")
    wished = free(name="wished")
    assert settle(ask(name="wished")).node_id == store.nodes.get(wished).id


def test_without_a_node_it_fails_at_once_and_says_so(free, ask, settle, pauses):
    free(resource_class="tin")
    made = settle(ask())
    assert made.state == ERROR
    assert "gold" in made.last_error
    assert pauses == []


def test_a_locked_node_is_waited_for_a_while(store, free, ask, settle, pauses):
    node = free(reservation="another")
    made = settle(ask())
    assert (made.state, len(pauses)) == (ERROR, 7)
    assert made.last_error.startswith("1 nodes")
    assert store.nodes.get(node).instance_uuid is None


def test_a_node_that_is_released_in_time_is_taken(store, tasks, free, ask, context):
    store.conductors.register("c1", "", ["fake-hardware"], [])
    node = store.nodes.get(free(reservation="another"))
    uuid = ask()
    Allocator(tasks, sleep=lambda seconds: store.nodes.release(node.id, "another")).start(context, uuid)
    wait_until(lambda: store.allocations.get(uuid).state != ALLOCATING)
    assert store.allocations.get(uuid).node_id == node.id


class Meanwhile(Allocator):
    """Lets something happen between looking for nodes and taking one."""

    def __init__(self, tasks: TaskFactory, act: Any) -> None:
        super().__init__(tasks, sleep=lambda seconds: None)
        self._act = act

    def _ordered(self, wanted, nodes):
        self._act()
        return super()._ordered(wanted, nodes)


@pytest.mark.parametrize(
    "change",
    [
        {"instance_uuid": "8a2cd4a3-7f25-4a37-8d6e-2a0a6c5a8b10"},
        {"maintenance": True},
        {"provision_state": "manageable"},
        {"power_state": None},
        {"resource_class": "tin"},
        {"owner": "you"},
    ],
)
def test_a_node_that_changes_in_between_is_left_alone(store, tasks, free, ask, context, change):
    store.conductors.register("c1", "", ["fake-hardware"], [])
    node = free(owner="me")
    uuid = ask(owner="me")
    Meanwhile(tasks, lambda: store.nodes.update(node, change)).start(context, uuid)
    wait_until(lambda: store.allocations.get(uuid).state != ALLOCATING)
    assert store.allocations.get(uuid).state == ERROR
    assert store.nodes.get(node).allocation_id is None


def test_a_node_that_is_deleted_in_between_is_no_failure(store, tasks, free, ask, context):
    store.conductors.register("c1", "", ["fake-hardware"], [])
    nodes = [free(), free()]
    uuid = ask()

    def remove():
        if store.nodes.count() == 2:
            store.nodes.delete(nodes[0])

    Meanwhile(tasks, remove).start(context, uuid)
    wait_until(lambda: store.allocations.get(uuid).state != ALLOCATING)
    assert store.allocations.get(uuid).node_id == store.nodes.get(nodes[1]).id


@pytest.mark.parametrize("way", ["deleted", "taken over"])
def test_an_allocation_that_is_lost_in_between_leaves_no_trace(store, tasks, pool, free, ask, context, way, caplog):
    for host in ("c1", "c2"):
        store.conductors.register(host, "", ["fake-hardware"], [])
    node, uuid = free(), ask()
    made = store.allocations.get(uuid)

    def lose():
        if way == "deleted":
            store.allocations.delete(uuid)
        else:
            before = store.allocations.get(uuid).conductor_affinity
            assert store.allocations.claim(made.id, "c2", after=before)

    Meanwhile(tasks, lose).start(context, uuid)
    wait_until(lambda: not pool.taken)
    found = store.nodes.get(node)
    assert (found.instance_uuid, found.allocation_id, found.instance_info) == (None, None, {})
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    if way == "taken over":
        assert store.allocations.get(uuid).state == ALLOCATING


def test_each_of_many_gets_a_node_of_its_own(store, tmp_path, pool, free, ask, context, clock):
    """Two conductors with stores of their own, more allocations than nodes."""
    nodes, allocations = [free() for _ in range(12)], [ask() for _ in range(16)]
    others = connect(str(store.engine.url), clock=as_clock(clock))
    allocators = []
    for host, their_store in (("c1", store), ("c2", others)):
        store.conductors.register(host, "", ["fake-hardware"], [])
        allocators.append(
            Allocator(TaskFactory(their_store, fake_composition(), pool, host), sleep=lambda seconds: None)
        )
    threads = [
        threading.Thread(target=_start_when_free, args=(allocators[number % 2], context, uuid))
        for number, uuid in enumerate(allocations)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_until(lambda: store.allocations.count(state=ALLOCATING) == 0)
    others.close()
    active = store.allocations.find(state=ACTIVE)
    assert {one.node_id for one in active} == {store.nodes.get(node).id for node in nodes}
    assert (len(active), store.allocations.count(state=ERROR)) == (12, 4)
    for one in active:
        assert store.nodes.row(["instance_uuid", "allocation_id"], one.node_id) == (one.uuid, one.id)


def _start_when_free(allocator, context, uuid):
    def begun():
        try:
            allocator.start(context, uuid)
        except NoFreeConductorWorker:
            return False
        return True

    wait_until(begun)


def test_a_full_pool_refuses_and_leaves_the_allocation_free(store, tasks, pool, allocator, ask, context):
    uuid = ask()
    slots = [pool.take("x") for _ in range(4)]
    with pytest.raises(NoFreeConductorWorker):
        allocator.start(context, uuid)
    for slot in slots:
        slot.release()
    assert store.allocations.get(uuid).conductor_affinity is None


def test_what_is_taken_up_already_is_not_begun_again(store, pool, allocator, ask, context):
    other = store.conductors.register("c2", "", ["fake-hardware"], [])
    uuid = ask(conductor_affinity=other)
    allocator.start(context, uuid)
    assert (pool.taken, store.allocations.get(uuid).state) == (0, ALLOCATING)
    with pytest.raises(AllocationNotFound):
        allocator.start(context, "8a2cd4a3-7f25-4a37-8d6e-2a0a6c5a8b10")


def test_what_dead_conductors_and_earlier_lives_left_is_taken_up(store, allocator, free, ask, clock):
    dead = store.conductors.register("dead", "", ["fake-hardware"], [])
    clock.pass_by(3600)
    mine, alive = store.conductors.register("c1", "", [], []), store.conductors.register("c2", "", [], [])
    for _ in range(5):
        free()
    left = [ask(conductor_affinity=affinity) for affinity in (dead, None, mine, 4711)]
    others = ask(conductor_affinity=alive)
    allocator.take_up()
    wait_until(lambda: all(store.allocations.get(uuid).state == ACTIVE for uuid in left))
    assert store.allocations.get(others).state == ALLOCATING
    assert {store.allocations.get(uuid).conductor_affinity for uuid in left} == {mine}


def test_what_is_under_way_here_is_not_taken_up_twice(store, tasks, free, ask, context, pool):
    store.conductors.register("c1", "", ["fake-hardware"], [])
    free(reservation="another")
    proceed = threading.Event()
    allocator = Allocator(tasks, sleep=lambda seconds: proceed.wait(10))
    uuid = ask()
    allocator.start(context, uuid)
    allocator.take_up()
    assert pool.taken == 1
    proceed.set()
    wait_until(lambda: store.allocations.get(uuid).state == ERROR)


def test_an_unexpected_failure_is_written_down_without_details_that_projects_must_not_read(store, tasks, ask, context):
    store.conductors.register("c1", "", ["fake-hardware"], [])
    uuid = ask()

    def break_down():
        raise ZeroDivisionError("boom")

    Meanwhile(tasks, break_down).start(context, uuid)
    wait_until(lambda: store.allocations.get(uuid).state == ERROR)
    told = store.allocations.get(uuid).last_error
    assert "ZeroDivisionError" in told and context.request_id in told and "boom" not in told


def test_a_conductor_is_asked_through_its_endpoint(store, tasks, free, ask, context):
    store.conductors.register("c1", "", ["fake-hardware"], [])
    free()
    uuid = ask()
    Endpoint(tasks).process_allocation(context, uuid)
    wait_until(lambda: store.allocations.get(uuid).state == ACTIVE)


def test_an_earlier_life_of_the_conductor_gives_away_nothing_any_more(store, tasks, free, ask, context):
    tasks.locks.incarnation = store.conductors.begin("c1")
    free(reservation="another")
    paused, proceed = threading.Event(), threading.Event()

    def pause(seconds):
        paused.set()
        proceed.wait(10)

    older = Allocator(tasks, sleep=pause)
    uuid = ask()
    older.start(context, uuid)
    assert paused.wait(10)
    store.conductors.begin("c1")
    proceed.set()
    wait_until(lambda: not tasks.pool.taken)
    assert store.allocations.get(uuid).state == ALLOCATING
    other = ask()
    older.start(context, other)
    assert store.allocations.get(other).conductor_affinity is None
