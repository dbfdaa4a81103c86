"""Steps on child nodes: where they run, what they must not touch, and how a failure is reported."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, IronicError
from ironic.core.flows import states
from ironic.core.flows.steps import mark_of_child
from ironic.tests.unit.conductor.flows.kinds import CLEAN, SERVICE, Kind

both_flows = pytest.mark.parametrize("kind", [CLEAN, SERVICE], ids=lambda kind: kind.name)


def family(bench, kind: Kind, count: int = 2, **child: Any) -> tuple[str, list[str]]:
    """Store a node with children, whose power is as theirs; return its UUID and theirs."""
    power = child.get("power_state", "power on")
    parent = bench.node("vendor", "deploy", "power", provision_state=kind.begins_in, power_state=power)
    values = {"provision_state": states.MANAGEABLE, **child}
    return parent, [bench.node("vendor", "deploy", "power", parent_node=parent, **values) for _ in range(count)]


def on_children(name: str, *limit: str, **args: Any) -> dict[str, Any]:
    step = {"interface": "vendor", "step": name, "execute_on_child_nodes": True}
    return step | ({"limit_child_node_execution": list(limit)} if limit else {}) | ({"args": args} if args else {})


def own(name: str) -> dict[str, Any]:
    return {"interface": "vendor", "step": name}


def changing(bench, uuid: str, **values: Any) -> Any:
    """Return a step in the middle of which another user changes a row."""

    def change(task: Any) -> None:
        bench.store.nodes.update(uuid, values)

    return change


def noting(into: list[tuple[str, str]], name: str) -> Any:
    return lambda task: into.append((name, task.node.uuid))


@both_flows
def test_it_runs_a_step_on_every_child_in_its_place(bench, kind):
    parent, (one, other) = family(bench, kind)
    bench.node("vendor", provision_state=states.MANAGEABLE)  # without a parent
    ran: list[tuple[str, str]] = []
    bench.script.answers = {name: noting(ran, name) for name in ("first", "second", "third")}
    listed = [own("first"), on_children("second"), own("third")]
    assert bench.verb(parent, kind.verb, **{kind.asks: listed}) == kind.done
    assert ran == [("first", parent), ("second", one), ("second", other), ("third", parent)]
    assert all(bench.row(uuid).reservation is None for uuid in (parent, one, other))
    assert bench.state(one) == (states.MANAGEABLE, None)


@both_flows
def test_it_runs_a_step_on_the_children_that_are_named_only(bench, kind):
    parent, (_one, other) = family(bench, kind)
    ran: list[tuple[str, str]] = []
    bench.script.answers["first"] = noting(ran, "first")
    bench.verb(parent, kind.verb, **{kind.asks: [on_children("first", other.upper(), other)]})
    assert ran == [("first", other)]


def test_a_node_without_children_has_nothing_to_do(bench):
    parent, _none = family(bench, CLEAN, 0)
    assert bench.verb(parent, "clean", clean_steps=[on_children("first"), own("third")]) == CLEAN.done
    assert "first" not in bench.script.calls


@both_flows
def test_it_hands_arguments_to_the_step(bench, kind):
    parent, _children = family(bench, kind, 1)
    bench.verb(parent, kind.verb, **{kind.asks: [on_children("on_demand", speed=3)]})
    assert bench.script.arguments["on_demand"] == {"speed": 3}


def test_the_machine_of_the_parent_is_not_booted_for_it(bench):
    parent, _children = family(bench, CLEAN)
    bench.verb(parent, "clean", clean_steps=[on_children("second")])
    assert "prepare_cleaning" not in bench.script.calls


@both_flows
def test_it_stores_step_and_child_before_the_step_begins(bench, kind):
    parent, (one, other) = family(bench, kind)
    seen: list[tuple[str, Any, Any]] = []

    def look(task: Any) -> None:
        row = bench.row(parent)
        memory = row.driver_internal_info
        seen.append((getattr(row, kind.column)["step"], memory.get(f"{kind.name}_step_child_node"), task.holds_lock))

    bench.script.answers = {"first": look, "third": look}
    bench.verb(parent, kind.verb, **{kind.asks: [on_children("first"), own("third")]})
    assert seen == [("first", one, True), ("first", other, True), ("third", None, True)]
    assert f"{kind.name}_step_child_node" not in bench.row(parent).driver_internal_info


# Failures


@both_flows
def test_a_failure_names_step_and_child_and_spares_the_others(bench, kind):
    parent, (one, other) = family(bench, kind)
    bench.script.answers["first"] = IronicError("the card is on fire")
    bench.verb(parent, kind.verb, **{kind.asks: [on_children("first"), own("third")]})
    node = bench.row(parent)
    assert bench.state(parent)[0] == kind.failed
    assert all(words in node.last_error for words in ("vendor.first", one, "the card is on fire"))
    assert other not in node.last_error
    assert node.fault == kind.fault
    assert bench.script.calls.count("first") == 1
    assert "third" not in bench.script.calls
    assert bench.row(one).reservation is None


def test_the_history_of_the_child_tells_what_became_of_it(bench):
    parent, (one, other) = family(bench, CLEAN)

    def play(task: Any) -> None:
        if task.node.uuid == other:
            raise IronicError("the card is on fire")

    bench.script.answers["first"] = play
    bench.verb(parent, "clean", clean_steps=[on_children("first")])
    what = f"clean step vendor.first of its parent node {parent}"
    assert bench.history(one) == [("INFO", "cleaning", f"{what} begins"), ("INFO", "cleaning", f"{what} ended")]
    assert [entry[0] for entry in bench.history(other)] == ["INFO", "ERROR"]
    assert bench.history(other)[-1][2] == f"{what} failed: the card is on fire"


@both_flows
@pytest.mark.parametrize("permitted", [False, True])
def test_a_step_that_goes_on_elsewhere_is_a_failure_unless_permitted(bench, conf, kind, permitted):
    conf(conductor__permit_child_node_step_async_result=permitted)
    parent, (one,) = family(bench, kind, 1)
    bench.script.answers["first"] = kind.waiting
    bench.verb(parent, kind.verb, **{kind.asks: [on_children("first")]})
    assert bench.state(parent)[0] == (kind.done[0] if permitted else kind.failed)
    if not permitted:
        assert all(words in bench.row(parent).last_error for words in (one, "permit_child_node_step_async_result"))


@both_flows
def test_a_child_that_is_locked_fails_the_step_and_stays_locked(bench, conf, kind):
    conf(conductor__node_locked_retry_interval=0)
    parent, (one,) = family(bench, kind, 1)
    bench.store.nodes.update(one, {"reservation": "another conductor"})
    bench.verb(parent, kind.verb, **{kind.asks: [on_children("first")]})
    assert bench.state(parent)[0] == kind.failed
    assert "another conductor" in bench.row(parent).last_error
    assert bench.row(one).reservation == "another conductor"
    assert bench.script.calls.count("first") == 0


def test_a_child_that_is_taken_away_meanwhile_fails_the_parent_and_is_not_written_to(bench):
    parent, (one,) = family(bench, CLEAN, 1)

    def robbed(task: Any) -> None:
        task.node.driver_internal_info["mine"] = 1
        bench.store.nodes.update(one, {"reservation": "another"})

    bench.script.answers["first"] = robbed
    bench.verb(parent, "clean", clean_steps=[on_children("first")])
    assert bench.state(parent)[0] == states.CLEANFAIL
    assert bench.row(parent).reservation is None
    assert (bench.row(one).reservation, bench.row(one).driver_internal_info) == ("another", {})


def test_a_parent_that_is_taken_away_meanwhile_is_not_written_to(bench):
    parent, _children = family(bench, CLEAN, 1)
    bench.script.answers["first"] = changing(bench, parent, reservation="another")
    bench.verb(parent, "clean", clean_steps=[on_children("first"), own("third")])
    assert (bench.row(parent).reservation, bench.row(parent).last_error) == ("another", None)
    assert "third" not in bench.script.calls


def test_a_child_that_has_left_in_the_meantime_is_not_touched(bench):
    parent, (one, other) = family(bench, CLEAN)
    bench.script.answers["first"] = changing(bench, other, parent_node=None)
    bench.verb(parent, "clean", clean_steps=[on_children("first")])
    assert bench.script.calls.count("first") == 1
    assert f"{other} is no child of the node any more" in bench.row(parent).last_error
    assert one not in bench.row(parent).last_error


# What is refused before anything runs

REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a step that the child does not have": (own("of_nobody") | {"execute_on_child_nodes": True}, {}, "of_nobody"),
    "an argument that the step does not take": (on_children("first", odd=1), {}, "no argument odd"),
    "an argument that is missing": (on_children("on_demand"), {}, "needs the argument speed"),
    "a child of another owner": (on_children("first"), {"owner": "another project"}, "another owner"),
    "a child in maintenance": (on_children("first"), {"maintenance": True}, "maintenance"),
    "a child that waits": (on_children("first"), {"provision_state": states.CLEANWAIT}, states.CLEANWAIT),
    "a child that is held": (on_children("first"), {"provision_state": states.SERVICEHOLD}, states.SERVICEHOLD),
    "a child at work": (on_children("first"), {"provision_state": states.DEPLOYING}, states.DEPLOYING),
}


@both_flows
@pytest.mark.parametrize("what", REFUSED)
def test_it_refuses_what_a_child_can_not_do_before_anything_runs(bench, kind, what):
    step, child, words = REFUSED[what]
    parent, (one,) = family(bench, kind, 1, **child)
    bench.verb(parent, kind.verb, **{kind.asks: [own("first"), step]})
    node = bench.row(parent)
    assert bench.state(parent)[0] == kind.failed
    assert all(part in node.last_error for part in (one, words))
    assert bench.script.calls == ["power.validate"]
    assert node.maintenance is (kind is SERVICE)  # as every list that is refused


LIMITS = {
    "another node's child": (lambda parent, children, foreign: on_children("first", children[0], foreign), "children"),
    "the parent itself": (lambda parent, children, foreign: on_children("first", parent), "no children"),
    "no child": (
        lambda parent, children, foreign: on_children("first") | {"limit_child_node_execution": []},
        "at least one",
    ),
    "a limit alone": (
        lambda parent, children, foreign: own("first") | {"limit_child_node_execution": children},
        "it needs execute_on_child_nodes",
    ),
}


@both_flows
@pytest.mark.parametrize("what", LIMITS)
def test_it_refuses_a_limit_that_makes_no_sense_while_the_user_waits(bench, kind, what):
    parent, its = family(bench, kind)
    _other_parent, (foreign,) = family(bench, kind, 1)
    make, words = LIMITS[what]
    with pytest.raises(InvalidParameterValue, match=words):
        bench.verb(parent, kind.verb, **{kind.asks: [make(parent, its, foreign)]})
    assert bench.state(parent) == (kind.begins_in, None)
    assert bench.script.calls.count("first") == 0


# Reserved steps


@both_flows
@pytest.mark.parametrize(
    ("name", "before", "call", "after"),
    [
        ("power_on", "power off", "set power on", "power on"),
        ("power_off", "power on", "set power off", "power off"),
    ],
)
def test_it_changes_the_power_of_the_children(bench, kind, name, before, call, after):
    parent, its = family(bench, kind, power_state=before, maintenance=True)
    bench.verb(parent, kind.verb, **{kind.asks: [on_children(name)]})
    assert bench.state(parent) == kind.done
    assert [bench.row(uuid).power_state for uuid in its] == [after, after]
    # A child that comes on needs its parent on.
    assert bench.row(parent).power_state == "power on"
    assert bench.script.calls.count(call) == (3 if name == "power_on" else 2)


def test_it_restarts_the_children(bench):
    parent, its = family(bench, CLEAN)
    bench.verb(parent, "clean", clean_steps=[on_children("reboot")])
    assert [bench.row(uuid).power_state for uuid in its] == ["power on", "power on"]


def test_a_child_that_must_not_be_switched_off_fails_the_step(bench):
    parent, (one,) = family(bench, CLEAN, 1, disable_power_off=True, power_state="power on")
    bench.verb(parent, "clean", clean_steps=[on_children("power_off")])
    assert bench.state(parent)[0] == states.CLEANFAIL
    assert all(words in bench.row(parent).last_error for words in (one, "disable_power_off"))


@both_flows
def test_a_hold_stops_the_flow_whomever_it_is_meant_for(bench, kind):
    parent, _children = family(bench, kind)
    listed = [on_children("first"), on_children("hold"), on_children("third")]
    assert bench.verb(parent, kind.verb, **{kind.asks: listed})[0] == kind.held
    assert "third" not in bench.script.calls
    assert bench.verb(parent, "unhold") == kind.done
    assert bench.script.calls.count("third") == 2


@both_flows
def test_a_wait_waits_once(bench, kind):
    parent, _children = family(bench, kind)
    listed = [on_children("wait"), on_children("third")]
    assert bench.verb(parent, kind.verb, **{kind.asks: listed})[0] == kind.waiting
    bench.beat(parent)
    assert bench.state(parent) == kind.done
    assert bench.script.calls.count("third") == 2


def test_one_worker_is_enough_for_any_number_of_children(bench):
    parent, its = family(bench, CLEAN, 12)
    taken: list[int] = []
    bench.script.answers["first"] = lambda task: taken.append(len(bench.tasks.held))
    bench.verb(parent, "clean", clean_steps=[on_children("first")])
    assert taken == [2] * 12  # parent and child
    assert bench.pool.taken == 0


# Rights


@both_flows
def test_only_what_was_judged_is_acted_on(bench, kind):
    parent, (one, other) = family(bench, kind, owner="o", lessee="l")
    bench.store.nodes.update(parent, {"owner": "o"})
    ran: list[tuple[str, str]] = []
    bench.script.answers["first"] = noting(ran, "first")
    judged = {"judged_children": [mark_of_child(other, "o", "l")]}
    assert bench.verb(parent, kind.verb, **{kind.asks: [on_children("first") | judged]}) == kind.done
    assert ran == [("first", other)]
    assert bench.verb(parent, kind.verb, **{kind.asks: [on_children("first") | {"judged_children": []}]}) == kind.done
    assert ran == [("first", other)]


@both_flows
def test_a_child_that_comes_later_is_not_acted_on(bench, kind):
    parent, (one, other) = family(bench, kind)
    bench.store.nodes.update(other, {"parent_node": None})
    ran: list[tuple[str, str]] = []
    bench.script.answers = {
        "third": changing(bench, other, parent_node=parent),
        "first": noting(ran, "first"),
    }
    judged = {"judged_children": [mark_of_child(one, None, None)]}
    assert bench.verb(parent, kind.verb, **{kind.asks: [own("third"), on_children("first") | judged]}) == kind.done
    assert ran == [("first", one)]


@both_flows
@pytest.mark.parametrize("values", [{"lessee": "others"}, {"lessee": None}])
def test_a_child_that_is_lent_to_others_meanwhile_is_not_acted_on(bench, kind, values):
    parent, (one, other) = family(bench, kind, lessee="l")
    bench.script.answers = {"third": changing(bench, other, **values), "first": None}
    judged = {"judged_children": [mark_of_child(uuid, None, "l") for uuid in (one, other)]}
    bench.verb(parent, kind.verb, **{kind.asks: [own("third"), on_children("first") | judged]})
    assert bench.state(parent)[0] == kind.failed
    assert "another owner or lessee" in bench.row(parent).last_error
    assert "first" not in bench.script.calls


@both_flows
def test_a_child_that_is_lent_to_others_while_the_step_runs_is_not_acted_on(bench, kind):
    parent, (one, other) = family(bench, kind, lessee="l")
    bench.script.answers = {"first": changing(bench, other, lessee="others")}
    judged = {"judged_children": [mark_of_child(uuid, None, "l") for uuid in (one, other)]}
    bench.verb(parent, kind.verb, **{kind.asks: [on_children("first") | judged]})
    assert bench.state(parent)[0] == kind.failed
    assert all(words in bench.row(parent).last_error for words in (other, "another owner or lessee"))
    assert bench.script.calls.count("first") == 1


@both_flows
def test_a_child_that_was_not_judged_is_refused_where_it_is_named(bench, kind):
    parent, (one, other) = family(bench, kind)
    step = on_children("first", one, other) | {"judged_children": [mark_of_child(one, None, None)]}
    bench.verb(parent, kind.verb, **{kind.asks: [step]})
    assert bench.state(parent)[0] == kind.failed
    assert "first" not in bench.script.calls
