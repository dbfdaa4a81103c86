"""Where flows stand on their nodes: what earlier releases have stored is read, and written in the same form."""

import ast
import json
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from ironic.core.flows.flow import CLEAN, DEPLOY, FLOWS, SERVICE, VERIFY, Flow, named
from ironic.core.flows.step_cursor import StepCursor, keys_of, step_keys_of
from ironic.core.flows.steps import Step
from ironic.tests.product_trees import product_trees
from ironic.tests.repository import ROOT

# Rows of nodes under way, as the release before the cursor has stored them.
ROWS: dict[str, dict[str, Any]] = json.loads((ROOT / "ironic/tests/data/rows-under-way.json").read_text())

NOW = datetime(2026, 1, 1, 12)
FIRST, SECOND = Step("first", interface="vendor", args={"speed": 7}), Step("second", interface="vendor", abortable=True)


def node_of(row: dict[str, Any]) -> Any:
    """Return a node with the stored values, as a record has them."""
    info = dict(row["driver_internal_info"])
    return SimpleNamespace(
        driver_internal_info=info,
        set_driver_internal_info=info.__setitem__,
        del_driver_internal_info=info.pop,
        **{record.column: row.get(record.column, {}) for record in FLOWS if record.column},
    )


def row_of(node: Any) -> dict[str, Any]:
    columns = {record.column: step for record in FLOWS if record.column and (step := getattr(node, record.column))}
    return {**columns, "driver_internal_info": node.driver_internal_info}


def stored(name: str) -> StepCursor:
    words = name.split()
    return StepCursor.of(
        node_of(ROWS[name]), named(next(word for word in words if word in ("clean", "deploy", "service")))
    )


@pytest.mark.parametrize("name", ROWS)
def test_it_writes_what_it_has_read(name):
    node = node_of(ROWS[name])
    for record in FLOWS:
        # A flow that is not under way there shares one key with the others: whether its steps were decided on.
        if record.name in name.split():
            StepCursor.of(node, record).put(node)
    row = {key: value for key, value in ROWS[name].items() if key != "provision_state"}
    assert row_of(node) == row


def test_it_reads_a_wait_in_the_middle_of_a_list():
    cursor = stored("clean waits in the second step of a list")
    assert (cursor.index, cursor.next_index, cursor.is_planned, cursor.repeats) == (1, 2, True, False)
    assert [step.step for step in cursor.plan] == ["first", "second", "on_demand"]
    assert cursor.asked == cursor.plan
    assert cursor.current is not None and cursor.current.name == "vendor.second"
    assert cursor.position_text == " in step vendor.second"
    assert cursor.began is not None and cursor.seconds(cursor.began + timedelta(seconds=90)) == 90


def test_it_reads_what_else_may_be_so():
    marked = stored("clean restarts, is polled and is to be aborted")
    assert (marked.restarts, marked.is_polled, marked.current and marked.current.abort_after) == (True, True, True)
    assert stored("clean has to repeat its step").next_index == 1
    assert stored("clean works on a child").child is not None
    assert stored("clean waits without a ramdisk").has_no_ramdisk is True
    begun = stored("clean waits for its ramdisk")
    assert (begun.index, begun.current, begun.is_planned, begun.next_index) == (None, None, False, 0)
    assert begun.asked is not None


def test_a_plan_that_the_flow_has_made_itself_is_no_request():
    cursor = stored("automated clean waits")
    assert (cursor.asked, len(cursor.plan)) == (None, 3)


def test_what_a_user_wants_of_a_deployment_stands_beside_the_plan():
    cursor = stored("deploy waits in the second step of a list")
    assert cursor.asked is not None
    assert {step.step for step in cursor.asked} - {step.step for step in cursor.plan} == {"first", "third"} & {
        step.step for step in cursor.asked if not step.is_enabled
    }


@pytest.mark.parametrize("record", [CLEAN, DEPLOY, SERVICE], ids=lambda record: record.name)
def test_a_flow_that_is_left_keeps_its_list_without_arguments(record: Flow):
    node = node_of({"driver_internal_info": {"other": 1}})
    cursor = StepCursor.begun(record, [FIRST, SECOND]).planned([FIRST, SECOND]).entered(0, FIRST, NOW)
    replace(cursor, repeats=True, restarts=True, is_polled=True, child="c").put(node)
    StepCursor.of(node, record).ended().put(node)
    left = StepCursor.of(node, record)
    assert left == replace(
        StepCursor(flow=record), listed=left.listed, user_list=left.user_list, is_by_request=left.is_by_request,
        is_planned=True,
    )  # fmt: skip
    assert [step.step for step in left.plan] == ["first", "second"]
    assert "speed" not in str(node.driver_internal_info)
    assert getattr(node, str(record.column)) == {}
    StepCursor(flow=record).put(node)
    assert node.driver_internal_info == {"other": 1}


def test_a_flow_that_keeps_no_place_writes_nothing():
    node = node_of({"driver_internal_info": {}})
    StepCursor(flow=VERIFY).planned([FIRST]).entered(0, FIRST, NOW).put(node)
    assert node.driver_internal_info == {}


def test_a_flow_without_a_column_keeps_the_running_step_among_its_keys():
    polish = replace(CLEAN, name="polish", column=None, gerund="polishing", prepared_as=None)
    node = node_of({"driver_internal_info": {}})
    cursor = StepCursor.begun(polish, [FIRST]).planned([FIRST]).entered(0, FIRST, NOW)
    cursor.put(node)
    assert node.driver_internal_info["polish_step"] == FIRST.as_dict()
    assert StepCursor.of(node, polish) == cursor
    StepCursor(flow=polish).put(node)
    assert node.driver_internal_info == {}


def test_no_other_module_spells_one_of_the_keys():
    keys = {key for record in (CLEAN, DEPLOY, SERVICE) for key in keys_of(record).values()}
    # Names of the lists in requests as well, where users hand them in.
    public = {f"{record.name}_steps" for record in (CLEAN, DEPLOY, SERVICE)}
    assert public < keys and len(keys) > 25
    spelled = {
        (place, part.value)
        for place, tree in product_trees().items()
        if not place.endswith("/step_cursor.py")
        for part in ast.walk(tree)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
        if part.value in keys - public or part.value.startswith("skip_current_")
    }
    assert spelled == set()
    assert step_keys_of(DEPLOY) == ["deploy_steps", "user_deploy_steps"]
