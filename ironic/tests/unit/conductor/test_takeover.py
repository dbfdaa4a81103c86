import pytest

from ironic.conductor.takeover import RESTARTED, TakeOver
from ironic.core.errors import TakenOver
from ironic.core.flows import states
from ironic.db.transactions import DatabaseUnreachable
from ironic.tests.databases import counting_statements


@pytest.fixture
def takeover(tasks, hash_ring):
    return TakeOver(tasks, hash_ring)


@pytest.fixture
def dead(store, clock):
    """Have a conductor that died, and this one alive."""
    store.conductors.register("dead", "", ["fake-hardware"], [])
    clock.pass_by(61)
    store.conductors.register("c1", "", ["fake-hardware"], [])


# A conductor's own earlier life


@pytest.mark.parametrize("state", sorted(states.WORKING))
def test_work_of_an_earlier_life_is_failed_with_a_reason(state, takeover, make_node, store):
    node = make_node(provision_state=state, target_provision_state="active", reservation="c1")
    takeover.own(RESTARTED)
    found = store.nodes.get(node)
    assert (found.provision_state, found.reservation) == (states.after(state, "fail"), None)
    assert found.last_error == (
        f"The operation in state '{state}' was lost: conductor c1 was restarted. Check the machine and try again."
    )
    (entry,) = store.history.rows(("event", "conductor", "severity"), filters={"node_id": found.id})
    assert entry == (found.last_error, "c1", "ERROR")


@pytest.mark.parametrize("state", sorted(states.ALL - states.WORKING))
def test_a_lock_of_an_earlier_life_is_freed_and_no_more(state, takeover, make_node, store):
    node = make_node(provision_state=state, reservation="c1", last_error="old")
    takeover.own(RESTARTED)
    found = store.nodes.get(node)
    assert (found.provision_state, found.reservation, found.last_error) == (state, None, "old")
    assert not found.maintenance


@pytest.mark.demand("S55")
def test_lost_cleaning_takes_the_node_into_maintenance(takeover, make_node, store):
    step = {"step": "erase", "interface": "deploy"}
    node = make_node(provision_state="cleaning", reservation="c1", target_provision_state="manageable", clean_step=step)
    takeover.own(RESTARTED)
    found = store.nodes.get(node)
    assert (found.provision_state, found.target_provision_state) == ("clean failed", "manageable")
    assert (found.maintenance, found.fault, found.clean_step) == (True, "clean failure", step)
    assert "c1 was restarted" in found.maintenance_reason


def test_a_power_change_of_an_earlier_life_is_given_up(takeover, make_node, store):
    node = make_node(provision_state="active", reservation="c1", target_power_state="power off")
    takeover.own(RESTARTED)
    found = store.nodes.get(node)
    assert (found.target_power_state, found.reservation) == (None, None)
    assert "power state to 'power off' was given up: conductor c1 was restarted" in found.last_error


def test_what_others_hold_and_what_waits_is_left_alone(takeover, make_node, store):
    other = make_node(provision_state="cleaning", reservation="c2")
    waits = make_node(provision_state="clean wait")
    takeover.own(RESTARTED)
    assert [store.nodes.get(node).provision_state for node in (other, waits)] == ["cleaning", "clean wait"]
    assert store.nodes.get(other).reservation == "c2"


def test_each_node_is_one_transaction(takeover, make_node, store):
    make_node(provision_state="cleaning", reservation="c1")
    with counting_statements(store) as seen:
        takeover.own(RESTARTED)
    assert (seen.selects, seen.writes, seen.commits) == (2, 2, 1)


# The dead


def test_the_nodes_of_a_dead_conductor_are_freed(dead, takeover, make_node, store):
    works = make_node(provision_state="deploying", target_provision_state="active", reservation="dead")
    rests = make_node(provision_state="active", reservation="dead")
    takeover.of_the_dead()
    found = store.nodes.get(works)
    assert (found.provision_state, found.reservation) == ("deploy failed", None)
    assert "conductor dead stopped giving signs of life" in found.last_error
    assert store.nodes.get(rests).reservation is None


def test_the_nodes_of_a_conductor_that_left_for_good_are_freed(dead, takeover, make_node, store):
    node = make_node(provision_state="active", reservation="an unknown host")
    takeover.of_the_dead()
    assert store.nodes.get(node).reservation is None


def test_the_nodes_of_the_living_are_left_alone(dead, takeover, make_node, store):
    store.conductors.register("c2", "other group", ["redfish"], [])
    nodes = [make_node(provision_state="cleaning", reservation=host) for host in ("c1", "c2")]
    takeover.of_the_dead()
    assert [store.nodes.get(node).reservation for node in nodes] == ["c1", "c2"]
    assert {store.nodes.get(node).provision_state for node in nodes} == {"cleaning"}


def test_a_conductor_that_was_not_dead_can_not_write_any_more(dead, takeover, make_node, store):
    node = make_node(provision_state="cleaning")
    paused = store.nodes.reserve(node, "dead")
    takeover.of_the_dead()
    paused.provision_state = "available"
    with pytest.raises(TakenOver):
        paused.save()
    store.nodes.release(paused, "dead")
    assert store.nodes.get(node).provision_state == "clean failed"


def test_a_node_that_found_another_holder_in_the_meantime_is_left_alone(dead, tasks, hash_ring, make_node, store):
    class Late(TakeOver):
        def _free(self, lock, why, *, gives_up=False):
            store.nodes.update(lock.node_id, {"reservation": "c9"})
            super()._free(lock, why)

    node = make_node(provision_state="cleaning", reservation="dead")
    Late(tasks, hash_ring).of_the_dead()
    found = store.nodes.get(node)
    assert (found.provision_state, found.reservation) == ("cleaning", "c9")


def test_a_node_that_was_deleted_in_the_meantime_does_no_harm(dead, tasks, hash_ring, make_node, store):
    class Late(TakeOver):
        def _free(self, lock, why, *, gives_up=False):
            if lock.node_id == first:
                store.nodes.delete(first)
            super()._free(lock, why)

    first = store.nodes.get(make_node(reservation="dead")).id
    second = make_node(reservation="dead")
    Late(tasks, hash_ring).of_the_dead()
    assert store.nodes.get(second).reservation is None


def spoil(store, node):
    """Cut the text of a column, as a former database with shorter texts may have done."""
    with store.writing() as connection:
        connection.exec_driver_sql("UPDATE nodes SET driver_internal_info = '{\"cl' WHERE uuid = ?", (node,))


def test_a_node_that_can_not_be_read_keeps_no_other_one_locked(takeover, make_node, store, caplog):
    broken, sound = (make_node(provision_state="cleaning", reservation="c1") for _ in range(2))
    spoil(store, broken)
    takeover.own(RESTARTED)
    assert store.nodes.row(("provision_state", "reservation"), sound) == ("clean failed", None)
    assert store.nodes.row(("provision_state", "reservation"), broken) == ("cleaning", "c1")
    assert f"node with id {store.nodes.row(('id',), broken)[0]}" in caplog.text


def test_a_database_that_is_away_is_no_fault_of_a_node(takeover, make_node, store, monkeypatch):
    make_node(provision_state="cleaning", reservation="c1")

    def away(*args, **kwargs):
        raise DatabaseUnreachable

    monkeypatch.setattr(type(store.nodes), "lock_row", away)
    with pytest.raises(DatabaseUnreachable):
        takeover.own(RESTARTED)


def test_work_in_nobodys_hands_that_can_not_be_read_keeps_no_other_from_failing(
    dead, takeover, make_node, store, clock
):
    broken, sound = (make_node(provision_state="cleaning", provision_updated_at=clock()) for _ in range(2))
    spoil(store, broken)
    clock.pass_by(61)
    store.conductors.register("c1", "", ["fake-hardware"], [])
    takeover.of_the_dead()
    assert store.nodes.get(sound).provision_state == "clean failed"


def test_nothing_to_do_costs_little(dead, takeover, make_node, store):
    make_node(provision_state="active")
    takeover.of_the_dead()
    with counting_statements(store) as seen:
        takeover.of_the_dead()
    assert (seen.selects, seen.writes) == (3, 0)


# Nodes at work without a lock


def test_work_in_nobodys_hands_is_failed_after_a_while(dead, takeover, make_node, store, clock):
    node = make_node(provision_state="verifying", provision_updated_at=clock())
    elsewhere = make_node(provision_state="verifying", provision_updated_at=clock(), conductor_group="elsewhere")
    takeover.of_the_dead()
    assert store.nodes.get(node).provision_state == "verifying"
    clock.pass_by(61)
    store.conductors.touch("c1")
    takeover.of_the_dead()
    found = store.nodes.get(node)
    assert found.provision_state == "enroll"
    assert "no conductor was working on it any more" in found.last_error
    assert store.nodes.get(elsewhere).provision_state == "verifying"


# Forgotten locks


def test_a_lock_without_a_task_is_freed_at_the_second_look(takeover, make_node, store):
    node = make_node(provision_state="inspecting", reservation="c1")
    takeover.forgotten()
    assert store.nodes.get(node).reservation == "c1"
    takeover.forgotten()
    found = store.nodes.get(node)
    assert (found.provision_state, found.reservation) == ("inspect failed", None)
    assert "lost track of it" in found.last_error


def test_a_lock_with_a_task_is_not_forgotten(takeover, tasks, context, make_node, store):
    node = make_node(provision_state="cleaning")
    with tasks.acquire(context, node, purpose="work"):
        for _ in range(3):
            takeover.forgotten()
            assert store.nodes.get(node).reservation == "c1"
    assert store.nodes.get(node).provision_state == "cleaning"


def test_a_lock_that_is_taken_again_between_the_looks_is_not_forgotten(takeover, tasks, context, make_node, store):
    node = make_node(provision_state="cleaning", reservation="c1")
    takeover.forgotten()
    store.nodes.update(node, {"reservation": None})
    with tasks.acquire(context, node, purpose="work"):
        takeover.forgotten()
        takeover.forgotten()
        assert store.nodes.get(node).reservation == "c1"


# Two lives of one name


def test_a_reservation_taken_anew_in_between_is_not_freed(takeover, tasks, make_node, store):
    node = make_node(provision_state="active")
    store.nodes.reserve(node, "c1")
    held = takeover._all_locks()
    store.nodes.release(store.nodes.get(node).id, "c1")
    store.nodes.reserve(node, "c1")
    takeover._free(held[0], RESTARTED)
    assert store.nodes.get(node).reservation == "c1"


def test_an_older_life_frees_nothing_of_the_newer(takeover, tasks, make_node, store):
    tasks.locks.incarnation = store.conductors.begin("c1")
    newer = store.conductors.begin("c1")
    node = make_node(provision_state="active")
    store.nodes.reserve(node, "c1", incarnation=newer)
    takeover.own(RESTARTED)
    takeover.forgotten()
    takeover.forgotten()
    assert store.nodes.get(node).reservation == "c1"


def test_a_paused_conductor_can_not_write_after_its_node_was_taken_over(dead, tasks, hash_ring, make_node, store):
    """Not even when a later task of the same conductor has the node by then."""
    node = make_node(provision_state="active")
    paused = store.nodes.reserve(node, "dead")
    TakeOver(tasks, hash_ring).of_the_dead()
    later = store.nodes.reserve(node, "dead")
    paused.extra["written"] = "by the paused one"
    with pytest.raises(TakenOver):
        paused.save()
    with pytest.raises(TakenOver):
        store.nodes.save_and_release(paused)
    store.nodes.release(paused, "dead")
    assert store.nodes.get(node).reservation == "dead"
    later.extra["written"] = "by the later one"
    later.save()
    assert store.nodes.get(node).extra == {"written": "by the later one"}
