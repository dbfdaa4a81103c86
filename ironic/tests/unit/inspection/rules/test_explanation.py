"""What is kept of rules that ran: counters per rule, an explanation per node."""

import json
from typing import Any

import pytest

from ironic.core.errors import HardwareInspectionFailure, IronicError, NotFound, TakenOver
from ironic.db import Store
from ironic.inspection.arrival import accept
from ironic.inspection.pipeline import Pipeline
from ironic.inspection.rules import RuleBook
from ironic.inspection.rules.explanation import _LONGEST, stored_explanation
from ironic.tests.conftest import Setter
from ironic.tests.unit.core.rules.lab import facts, rule
from ironic.tests.unit.core.rules.lab import run as evaluate
from ironic.tests.unit.inspection.lab import MAC, Work, inventory, new_node, new_port, post, stored_found, work_on


def counted(store: Store, *uuids: str) -> list[tuple[int, int, int]]:
    """Return evaluated, matched and failed of each rule."""
    found = store.rule_hits.of(uuids)
    assert all((found[uuid].last_matched_at is not None) == bool(found[uuid].matched) for uuid in uuids)
    return [found[uuid][:3] for uuid in uuids]


def later(store: Store, node: Any) -> Any:
    run = store.rule_runs.of(node.id)
    assert run is not None
    assert run.later is not None
    return json.loads(run.later)


NEVER = [{"op": "is-true", "args": [False]}]


def test_it_counts_and_explains_what_rules_did(store: Store, task: Work) -> None:
    first = post(store, phase="preprocess", actions=[{"op": "set-plugin-data", "args": ["a", 1]}])
    idle = post(store, conditions=NEVER)
    last = post(store, actions=[{"op": "set-attribute", "args": ["/extra/b", 2]}])
    other = post(store, scope="elsewhere")
    Pipeline([]).run(task, inventory(MAC))
    assert counted(store, first, idle, last, other) == [(1, 1, 0), (1, 0, 0), (1, 1, 0), (0, 0, 0)]
    told = later(store, task.node)
    assert [(one["uuid"], one["applies"]) for one in told["rules"]] == [(first, True), (idle, False), (last, True)]
    assert told["rules"][2]["changes"] == [{"op": "add", "path": "/node/extra/b", "value": 2}]
    assert told["changes"] == {
        "node": [{"op": "add", "path": "/extra/b", "value": 2}],
        "ports": {},
        "plugin_data": [{"op": "add", "path": "/a", "value": 1}],
    }


def test_it_keeps_a_failed_run_alone(store: Store, task: Work) -> None:
    before = post(store, actions=[{"op": "set-attribute", "args": ["/extra/a", 1]}], priority=2)
    failing = post(store, actions=[{"op": "fail", "args": ["no"]}], priority=1)
    after = post(store)
    with pytest.raises(IronicError):
        Pipeline([]).run(task, inventory(MAC))
    assert counted(store, before, failing, after) == [(1, 1, 0), (1, 1, 1), (0, 0, 0)]
    assert [one.get("error") for one in later(store, task.node)["rules"]] == [None, "phase main, actions[0]: no"]
    assert store.nodes.get(task.node.uuid).extra == {}
    assert stored_found(store, task.node) is None


def test_it_counts_in_the_transaction_that_keeps_what_was_found(store: Store, task: Work) -> None:
    uuid = post(store, actions=[{"op": "set-attribute", "args": ["/extra/a", 1]}])
    store.nodes.update(task.node.uuid, {"reservation": "another-host"})
    with pytest.raises(TakenOver):
        Pipeline([]).run(task, inventory(MAC))
    assert counted(store, uuid) == [(0, 0, 0)]
    assert store.rule_runs.of(task.node.id) is None


def test_changes_that_can_not_be_stored_leave_the_record(store: Store, task: Work) -> None:
    new_node(store, name="taken")
    uuid = post(store, actions=[{"op": "set-attribute", "args": ["/name", "taken"]}])
    with pytest.raises(HardwareInspectionFailure, match="can't be stored"):
        Pipeline([]).run(task, inventory(MAC))
    assert counted(store, uuid) == [(1, 1, 0)]


def test_it_keeps_nothing_when_no_rule_runs(store: Store, task: Work) -> None:
    post(store, scope="elsewhere")
    Pipeline([]).run(task, inventory(MAC))
    assert store.rule_runs.of(task.node.id) is None


def waiting(store: Store) -> Any:
    node = new_node(store, provision_state="inspect wait")
    new_port(store, node)
    return node


@pytest.mark.demand("S115")
def test_it_keeps_what_early_rules_did_with_the_node_that_was_found(store: Store, conf: Setter) -> None:
    node = waiting(store)
    early = post(store, phase="early", actions=[{"op": "set-plugin-data", "args": ["early", 1]}])
    main = post(store)
    arrival = accept(store, RuleBook().early(store), {"inventory": inventory(MAC)})
    Pipeline([]).run(work_on(store, node), arrival.inventory, arrival.plugin_data)
    run = store.rule_runs.of(node.id)
    assert run is not None
    assert [one["uuid"] for one in json.loads(run.early or "")["rules"]] == [early]
    assert counted(store, early, main) == [(1, 1, 0), (1, 1, 0)]


def test_it_counts_an_early_rule_that_keeps_data_out_and_none_for_strangers(store: Store) -> None:
    idle = post(store, phase="early", conditions=NEVER, priority=5)
    with pytest.raises(NotFound):
        accept(store, RuleBook().early(store), {"inventory": inventory(MAC)})
    assert counted(store, idle) == [(0, 0, 0)]
    failing = post(store, phase="early", actions=[{"op": "fail", "args": ["no"]}])
    with pytest.raises(NotFound):
        accept(store, RuleBook().early(store), {"inventory": inventory(MAC)})
    assert counted(store, idle, failing) == [(1, 0, 0), (1, 1, 1)]


def test_it_keeps_a_long_explanation_short() -> None:
    known = facts(plugin_data={"text": "x" * 60_000, "odd": "\0\ud800"})
    odd = rule(conditions=[{"op": "!is-none", "args": ["{plugin_data[odd]}"]}])
    assert json.loads(stored_explanation(evaluate(odd, known=known).explanation))["rules"][0]["applies"] is True
    big = rule([{"op": "set-plugin-data", "args": ["a", ["{plugin_data[text]}"]]}])
    told = stored_explanation(evaluate(*[big] * 30, known=known).explanation)
    assert len(told) < 100_000
    assert json.loads(told)["rules"][29]["changes"][0]["path"] == "/plugin_data/a"
    many = rule([{"op": "set-plugin-data", "args": ["a", "y" * 200]}] * 100)
    told = stored_explanation(evaluate(*[many] * 100, known=known).explanation)
    assert len(told) < _LONGEST
    assert [one["applies"] for one in json.loads(told)["rules"]] == [True] * 100
