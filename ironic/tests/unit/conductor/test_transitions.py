import json
import logging
from datetime import timedelta

import pytest

from ironic.conductor.transitions import Recorder, decide
from ironic.core.errors import InvalidState
from ironic.core.flows import states
from ironic.db import NodeRecord
from ironic.tests.databases import counting_statements


@pytest.fixture
def recorder(store):
    return Recorder(store, "c1")


@pytest.fixture
def move(recorder, store, context):
    """Return a function that performs an event on a node and returns the node as it is stored then."""

    def move(uuid, event, target=None, last_error=None, clear_error=False):
        node = store.nodes.get(uuid)
        recorder.perform(
            context, node, decide(node, event, target=target, last_error=last_error, clear_error=clear_error)
        )
        return store.nodes.get(uuid)

    return move


def history(store, uuid):
    columns = ("event", "event_type", "severity", "conductor", "user", "project", "state", "target_provision_state")
    rows = store.history.rows(columns, filters={"node_id": store.nodes.get(uuid).id})
    return [dict(zip(columns, row, strict=True)) for row in rows]


@pytest.mark.parametrize("state", sorted(states.ALL))
def test_every_event_moves_as_the_table_says_or_is_refused(state, make_node, store):
    node = store.nodes.get(make_node(provision_state=state))
    for event in {event for _, event, _ in states.MOVES}:
        if states.allows(state, event):
            found = decide(node, event, target=None, last_error=None, clear_error=False)
            assert (found.old, found.new) == (state, states.after(state, event))
        else:
            with pytest.raises(InvalidState) as raised:
                decide(node, event, target=None, last_error=None, clear_error=False)
            assert raised.value.facts == {"node": node.uuid, "state": state, "event": event}


@pytest.mark.parametrize(
    "state, target, event, forced, expected",
    [
        ("manageable", None, "clean", "manageable", "manageable"),
        ("cleaning", "manageable", "wait", None, "manageable"),
        ("clean wait", "manageable", "resume", None, "manageable"),
        ("cleaning", "manageable", "hold", None, "manageable"),
        ("clean hold", "manageable", "unhold", None, "manageable"),
        ("clean wait", "manageable", "abort", None, "manageable"),
        ("cleaning", "manageable", "fail", None, "manageable"),
        ("cleaning", "manageable", "manage", None, None),
        ("clean failed", "manageable", "manage", None, None),
        ("clean failed", "manageable", "provide", None, "available"),
        ("clean failed", "available", "clean", "manageable", "manageable"),
        ("cleaning", "available", "done", None, None),
        ("deploy failed", "active", "delete", None, "available"),
        ("deleting", "available", "clean", None, "available"),
        ("rescue wait", "rescue", "delete", None, "available"),
        ("rescue failed", "rescue", "unrescue", None, "active"),
        ("unrescue failed", "active", "rescue", None, "rescue"),
        ("service failed", "active", "rescue", None, "rescue"),
        ("service failed", "active", "abort", None, None),
        ("enroll", None, "manage", None, "manageable"),
        ("verifying", "manageable", "fail", None, None),
        ("active", None, "rebuild", None, "active"),
    ],
)
def test_the_target_is_the_operations_own(state, target, event, forced, expected, make_node, move):
    node = make_node(provision_state=state, target_provision_state=target)
    assert move(node, event, target=forced).target_provision_state == expected


def test_a_move_is_one_update(make_node, store, recorder, context, clock):
    node = store.nodes.get(make_node(provision_state="deploying", target_provision_state="active"))
    node.deploy_step = {"step": "deploy", "interface": "deploy"}
    node.set_driver_internal_info("deploy_step_index", 0)
    clock.pass_by(5)
    with counting_statements(store) as seen:
        recorder.perform(context, node, decide(node, "wait", target=None, last_error=None, clear_error=False))
    assert (seen.selects, seen.writes, seen.commits) == (0, 1, 1)
    columns = ("provision_state", "target_provision_state", "provision_updated_at", "deploy_step")
    state, target, moved_at, step = store.nodes.row(columns, node.uuid)
    assert (state, target, moved_at) == ("wait call-back", "active", clock())
    assert json.loads(step) == {"step": "deploy", "interface": "deploy"}


def test_a_failure_is_written_down_with_the_move(make_node, store, recorder, context):
    node = store.nodes.get(make_node(provision_state="cleaning", target_provision_state="manageable"))
    with counting_statements(store) as seen:
        recorder.perform(context, node, decide(node, "fail", target=None, last_error="it broke", clear_error=False))
    assert (seen.writes, seen.commits) == (2, 1)
    assert history(store, node.uuid) == [
        {
            "event": "it broke",
            "event_type": "cleaning",
            "severity": "ERROR",
            "conductor": "c1",
            "user": "u1",
            "project": "p1",
            "state": "cleaning",
            "target_provision_state": "manageable",
        }
    ]


def test_history_may_be_switched_off(make_node, move, store, conf):
    conf(conductor__node_history=False)
    node = make_node(provision_state="cleaning")
    assert move(node, "fail", last_error="it broke").last_error == "it broke"
    assert history(store, node) == []


@pytest.mark.parametrize("state", sorted(states.WORKING | states.WAITING))
def test_every_failure_has_its_kind(state, make_node, move, store):
    node = make_node(provision_state=state)
    move(node, "fail", last_error="it broke")
    kinds = {"verify", "deploying", "cleaning", "unprovision", "introspection", "adoption", "rescue", "servicing"}
    assert history(store, node)[0]["event_type"] in kinds


@pytest.mark.parametrize(
    "event, last_error, clear, expected",
    [
        ("wait", None, False, "old"),
        ("wait", None, True, None),
        ("wait", "new", True, "new"),
        ("done", None, False, None),
        ("done", "a warning", False, "a warning"),
        ("fail", None, False, "old"),
        ("fail", "new", False, "new"),
    ],
)
def test_the_error_after_a_move(event, last_error, clear, expected, make_node, move):
    node = make_node(provision_state="cleaning", last_error="old")
    assert move(node, event, last_error=last_error, clear_error=clear).last_error == expected


def test_a_long_error_is_cut_to_what_is_kept(make_node, move, conf):
    conf(log_in_db_max_size=10)
    assert move(make_node(provision_state="cleaning"), "fail", last_error="0123456789abc").last_error == "0123456789"


def test_nothing_of_a_move_is_left_when_it_can_not_be_stored(make_node, store, recorder, context):
    node = store.nodes.reserve(make_node(provision_state="cleaning", last_error="old"), "c1")
    node.extra["pending"] = 1
    store.nodes.update(node.id, {"reservation": "survivor"})
    with pytest.raises(Exception, match="no longer held"):
        recorder.perform(context, node, decide(node, "fail", target=None, last_error="new", clear_error=False))
    assert (node.provision_state, node.last_error, node.changes()) == ("cleaning", "old", {"extra": {"pending": 1}})
    assert history(store, node.uuid) == []
    assert NodeRecord is type(node)


@pytest.mark.parametrize(
    "state, event, error, level",
    [
        ("cleaning", "wait", None, logging.INFO),
        ("cleaning", "fail", "it broke", logging.ERROR),
        # A user asked for it.
        ("clean wait", "abort", "it was aborted", logging.INFO),
    ],
)
def test_a_move_is_logged_with_its_node(state, event, error, level, make_node, move, caplog):
    caplog.set_level(logging.INFO)
    node = make_node(provision_state=state)
    move(node, event, last_error=error)
    (record,) = [record for record in caplog.records if record.name == "ironic.conductor.transitions"]
    assert record.levelno == level
    assert node in record.getMessage()
    assert (error or "") in record.getMessage()


STEP = {"step": "erase_devices", "interface": "deploy", "priority": 10}


@pytest.mark.parametrize(
    ("before", "state", "option", "awaited"),
    [
        (
            "cleaning",
            "clean wait",
            "clean_callback_timeout",
            "a heartbeat of the agent about step deploy.erase_devices",
        ),
        ("deploying", "wait call-back", "deploy_callback_timeout", "a heartbeat of the agent"),
        ("servicing", "service wait", "service_callback_timeout", "a heartbeat of the agent"),
        ("rescuing", "rescue wait", "rescue_callback_timeout", "a heartbeat of the agent"),
        ("inspecting", "inspect wait", "inspect_wait_timeout", "the inspection data of the ramdisk"),
    ],
)
def test_a_wait_for_the_ramdisk_is_shown_with_its_begin_and_end(before, state, option, awaited, make_node, move, conf):
    conf(**{f"conductor__{option}": 600})
    step = {"clean_step": STEP} if before == "cleaning" else {}
    node = move(make_node(provision_state=before, **step), "wait")
    began = node.provision_updated_at
    since, until = (f"{moment:%Y-%m-%d %H:%M:%S} UTC" for moment in (began, began + timedelta(seconds=600)))
    told = node.driver_internal_info["waiting_for"]
    assert told == f"the ramdisk: {awaited}, since {since}, until {until}"
    assert node.provision_state == state
    assert "waiting_for" not in move(node.uuid, "fail", last_error="It is over.").driver_internal_info


@pytest.mark.parametrize(("columns", "limit"), [({}, 0), ({"maintenance": True}, 600)])
def test_a_wait_without_a_limit_has_no_end(columns, limit, make_node, move, conf):
    conf(conductor__clean_callback_timeout=limit)
    told = move(make_node(provision_state="cleaning", **columns), "wait").driver_internal_info["waiting_for"]
    assert "until" not in told


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (
            {"waits": [["a", "the BMC to report boot_mode uefi"]], "waiting_for": "the BMC to report boot_mode uefi"},
            "the BMC to report boot_mode uefi",
        ),
        ({"waiting_for": "what an operation before has left"}, "the ramdisk"),
        ({"cleaning_polling": True}, None),
        ({"cleaning_disable_ramdisk": True}, None),
    ],
)
def test_a_wait_for_something_else_is_none_for_the_ramdisk(info, expected, make_node, move):
    node = move(make_node(provision_state="cleaning", driver_internal_info=info), "wait")
    found = node.driver_internal_info.get("waiting_for")
    assert (found or "").startswith(expected or "") and (found is None) is (expected is None)


def test_a_move_that_is_not_stored_announces_nothing(make_node, recorder, store, context):
    node = store.nodes.get(make_node(provision_state="cleaning"))

    def fail(_connection):
        recorder.perform(context, node, decide(node, "wait", target=None, last_error=None, clear_error=False))
        raise InvalidState("no")

    with pytest.raises(InvalidState):
        store.run(fail)
    assert (node.provision_state, node.driver_internal_info) == ("cleaning", {})
