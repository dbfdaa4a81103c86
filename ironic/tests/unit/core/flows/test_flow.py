"""The records of the operations, and that no other module repeats them."""

import ast
from collections.abc import Iterator

import pytest

from ironic.conf import CONF
from ironic.core.errors import HardwareInspectionFailure, InstanceDeployFailure, InstanceRescueFailure
from ironic.core.flows import flow, state_names, states
from ironic.core.flows.flow import FLOWS, Flow
from ironic.core.hardware_interfaces import KINDS
from ironic.tests.product_trees import product_trees

every_flow = pytest.mark.parametrize("record", FLOWS, ids=lambda record: record.name)

NAMES = {name for name, value in vars(state_names).items() if name.isupper() and value in states.ALL}
# Words that mean other things as well: verbs, severities, interfaces, networks, topics.
AMBIGUOUS = {"active", "available", "error", "rescue", "rescuing", "cleaning", "servicing", "deploying"}


@every_flow
def test_its_states_are_those_of_the_table_of_moves(record: Flow):
    moves = {(state, event): target for state, event, target in states.MOVES}
    assert moves[record.working, "fail"] == record.failed
    assert {verb.event for verb in record.verbs} <= {
        event for _state, event, to in states.MOVES if to == record.working
    }
    assert moves.get((record.working, "wait")) == record.waiting
    assert moves.get((record.working, "hold")) == record.held
    if record.waiting:
        assert moves[record.waiting, "resume"] == record.working
        assert moves[record.waiting, "abort"] == moves[record.waiting, "fail"] == record.failed
    if record.held:
        assert moves[record.held, "unhold"] == record.waiting
    if record is not flow.TEAR_DOWN:
        assert moves[record.working, "done"] == record.done


@every_flow
def test_it_can_be_told_by_each_of_its_states(record: Flow):
    assert {flow.in_state(state) for state in record.states} == {record}
    assert set(record.interfaces) <= set(KINDS)
    assert (record.wait is None) == (record.waiting is None)


def test_every_state_that_is_left_again_belongs_to_one_operation():
    assert {state for record in FLOWS for state in record.states} == states.WORKING | states.WAITING | states.HELD
    assert {flow.in_state(state) for state in states.STABLE | states.FAILED} == {None}


@every_flow
def test_its_options_are_there(record: Flow):
    options = [record.wait.option] if record.wait else []
    options += [record.limit.option] if record.limit else []
    assert all(option in CONF.conductor for option in options)


@pytest.mark.parametrize(
    "record, step, expected",
    [
        (flow.CLEAN, "raid.create", "no disk. Clean step raid.create failed on node n1."),
        (flow.CLEAN, None, "no disk. Cleaning node n1 failed."),
        (flow.SERVICE, "raid.create", "no disk. Servicing node n1 failed in step raid.create."),
        (flow.INSPECT, None, "no disk. Inspection failed."),
        (flow.ADOPT, None, "no disk. Adopting node n1 failed."),
        (flow.TEAR_DOWN, None, "no disk. Removing the instance of node n1 failed."),
    ],
)
def test_it_says_why_it_failed(record, step, expected):
    assert record.failure_text("n1", "no disk", step) == expected


def test_it_does_not_say_twice_that_an_inspection_failed():
    assert flow.INSPECT.failure_text("n1", HardwareInspectionFailure(error="{odd}")) == "{odd}. Inspection failed."
    assert (
        flow.RESCUE.failure_text("n1", InstanceRescueFailure(node="n1", reason="no disk"))
        == "no disk. Rescuing node n1 failed."
    )
    said = flow.DEPLOY.failure_text("n1", InstanceDeployFailure(node="n1", reason="no disk"), "deploy.write_image")
    assert said == "no disk. Deploying node n1 failed in step deploy.write_image."


def test_it_says_where_outside_of_its_steps_it_failed():
    said = flow.VERIFY.failure_text("n1", "no power.", stage="preparing the machine")
    assert said == "no power. Verifying node n1 failed while preparing the machine."
    said = flow.CLEAN.failure_text("n1", "no power", "a.b", "restarting the machine")
    assert said == "no power. Clean step a.b failed on node n1 while restarting the machine."


def test_it_says_who_has_ended_it():
    assert flow.CLEAN.abort_text("n1", " in step raid.create") == (
        "The clean operation on node n1 was aborted by request in step raid.create."
    )


def test_one_comes_too_late_when_the_tables_are_made():
    with pytest.raises(RuntimeError, match="polish"):
        flow.register(Flow(name="polish", working="polishing", done="active", failed="error", topic="t", failure="f"))
    assert flow.in_state("polishing") is None


def test_no_table_outside_of_the_core_repeats_a_state():
    """What a table says about states is said by the records or stands beside the table of moves."""
    trees = {place: tree for place, tree in product_trees().items() if not place.startswith("core/")}
    assert len(trees) > 200
    assert {f"{place}: {name}" for place, tree in trees.items() for name in repeated(tree)} == set()


@pytest.mark.parametrize(
    "source, expected",
    [
        ("A = {states.CLEANWAIT: 1}", ["CLEANWAIT"]),
        ("A: Final = frozenset({states.ACTIVE, 'x'})", ["ACTIVE"]),
        ("A = {'clean wait'}", ["clean wait"]),
        ("from ironic.core.flows.states import ACTIVE\nif x:\n    A = (ACTIVE,)", ["ACTIVE"]),
        ("A = states.WAITING | {x}", []),
        ("A = {'rescue': states.POWER_ON}", []),
        ("A = states.INSPECTWAIT", []),
        ("def f():\n    return {states.CLEANWAIT: 1}", []),
    ],
)
def test_it_would_find_one(source, expected):
    assert list(repeated(ast.parse(source))) == expected


def repeated(module: ast.Module) -> Iterator[str]:
    """Return what names a state within a table of a module, outside of functions."""
    imports = (part for part in ast.walk(module) if isinstance(part, ast.ImportFrom) and "state" in str(part.module))
    by_itself = {alias.asname or alias.name for part in imports for alias in part.names} & NAMES
    for statement in outside_of_functions(module):
        tables = (part for part in ast.walk(statement) if isinstance(part, ast.Dict | ast.Set | ast.Tuple | ast.List))
        for part in {inner for table in tables for inner in ast.walk(table)}:
            if isinstance(part, ast.Attribute) and part.attr in NAMES:
                yield part.attr
            if isinstance(part, ast.Name) and part.id in by_itself:
                yield part.id
            if isinstance(part, ast.Constant) and part.value in states.ALL - AMBIGUOUS:
                yield str(part.value)


def outside_of_functions(tree: ast.Module | ast.If) -> Iterator[ast.Assign | ast.AnnAssign]:
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            yield statement
        elif isinstance(statement, ast.If):
            yield from outside_of_functions(statement)
