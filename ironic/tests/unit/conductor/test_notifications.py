"""Notifications and node history of state moves, power and console changes: which are sent, and when."""

import pytest

from ironic.conductor import node_events, transitions
from ironic.conductor.locking import LockMode
from ironic.conductor.transitions import decide
from ironic.core.errors import IronicError
from ironic.core.flows import states
from ironic.tests.databases import counting_statements
from ironic.tests.listening import listening


@pytest.fixture
def listener():
    with listening() as made:
        yield made


def finish(tasks, context, uuid, event, **more):
    with tasks.acquire(context, uuid, purpose="test") as task:
        task.finish(event, **more)


@pytest.mark.parametrize(
    "state, event, status",
    [
        ("enroll", "manage", "start"),
        ("verifying", "done", "end"),
        ("cleaning", "wait", "success"),
        ("available", "manage", "success"),
        ("cleaning", "fail", "error"),
        ("verifying", "fail", "error"),
        ("clean wait", "abort", "success"),
    ],
)
def test_the_status_says_what_kind_of_move_it_was(make_node, store, state, event, status):
    node = store.nodes.get(make_node(provision_state=state))
    assert transitions.status_of(decide(node, event, target=None, last_error=None, clear_error=False)) == status


def test_a_move_is_told_with_where_it_came_from(tasks, context, make_node, listener):
    uuid = make_node(provision_state="cleaning", target_provision_state="available", last_error="old")
    finish(tasks, context, uuid, "done")
    assert listener.events == ["node.provision_set.end"]
    data = listener.data("node.provision_set.end")
    assert data["uuid"] == uuid
    assert (data["event"], data["provision_state"], data["target_provision_state"]) == ("done", "available", None)
    assert (data["previous_provision_state"], data["previous_target_provision_state"]) == ("cleaning", "available")
    assert data["last_error"] is None
    assert (listener.heard[0].publisher, listener.heard[0].context["request_id"]) == ("ironic-conductor.h1", "req-1")


def test_a_failure_is_told_as_one(tasks, context, make_node, listener):
    finish(tasks, context, make_node(provision_state="cleaning"), "fail", last_error="the disk is gone")
    assert listener.events == ["node.provision_set.error"]
    assert listener.heard[0].level == "error"
    assert listener.data("node.provision_set.error")["last_error"] == "the disk is gone"


def test_a_move_that_is_rolled_back_never_was(tasks, context, make_node, store, listener):
    uuid = make_node(provision_state="cleaning")
    with pytest.raises(RuntimeError), tasks.acquire(context, uuid, purpose="test") as task, store.writing():
        task.process_event("done")
        assert listener.events == []
        raise RuntimeError("the rest of the transaction fails")
    assert store.nodes.get(uuid).provision_state == "cleaning"
    assert listener.events == []


def test_a_power_change_is_told_around_it(tasks, context, make_node, listener):
    with tasks.acquire(context, make_node(power_state="power on"), purpose="test") as task:
        with node_events.power_set(task, states.POWER_OFF):
            assert listener.events == ["node.power_set.start"]
            task.node.power_state = "power off"
        with pytest.raises(IronicError), node_events.power_set(task, states.POWER_ON):
            raise IronicError("no")
    assert listener.events[1:] == ["node.power_set.end", "node.power_set.start", "node.power_set.error"]
    ended = listener.heard[1].payload["ironic_object.data"]
    assert (ended["to_power"], ended["power_state"]) == ("power off", "power off")


def test_a_corrected_power_state_is_told(tasks, context, make_node, listener):
    with tasks.acquire(context, make_node(power_state="power on"), mode=LockMode.SHARED, purpose="test") as task:
        node_events.power_corrected(task, "power on", "power off")
    data = listener.data("node.power_state_corrected.success")
    assert (data["from_power"], data["power_state"]) == ("power on", "power off")


def test_a_console_is_told_of(tasks, context, make_node, listener):
    with tasks.acquire(context, make_node(), purpose="test") as task, node_events.console_set(task):
        task.node.console_enabled = True
    assert listener.events == ["node.console_set.start", "node.console_set.end"]
    assert listener.data("node.console_set.end")["console_enabled"] is True


def test_when_nobody_listens_nothing_is_read_for_it(tasks, context, make_node, store):
    def statements(uuid):
        with counting_statements(store) as seen:
            finish(tasks, context, uuid, "done")
        return seen.selects

    silent = statements(make_node(provision_state="cleaning"))
    with listening():
        assert statements(make_node(provision_state="cleaning")) > silent
