"""A package with conditions and actions for the standalone inspector: installed, checked when rules are posted, run."""

import json
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.out_of_tree import install, run

PACKAGE = Path(__file__).parent / "rack_rules"

PROGRAM = """
import json, sys
from pathlib import Path
from ironic.conf import CONF
from ironic.core.errors import IronicError
from ironic.inspection.pipeline import Pipeline
from ironic.inspection.rules import inspector_rules, load_built_in
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.inspection.lab import HOST, MAC, inventory, new_node, work_on

CONF([], default_config_files=[])
load_built_in(None)
store = sqlite_store(Path(sys.argv[1]))
node, other = new_node(store), new_node(store)
told = {"seen": [], "refusals": [], "failures": []}

def inspect(node, cpus, **data):
    task = work_on(store, node)
    try:
        Pipeline([]).run(task, inventory(MAC, cpu={"count": cpus}), data)
    except IronicError as error:
        told["failures"].append(str(error))
    store.nodes.release(task.node, HOST)
    found = store.nodes.get(node.uuid)
    told["seen"].append([found.extra, found.properties, store.traits.of([node.id])[node.id]])

even = {"field": "cpus", "op": "rack-even"}
known = {"field": "rack", "op": "rack-known", "value": ["r1", "none"]}
place = {"action": "rack-place", "rack": "{data[rack]}", "label": "{data[rack]}"}
uuid = inspector_rules.create(store, {"conditions": [even, known], "actions": [place]})["uuid"]
inspect(node, 8, rack="r1")
inspect(node, 8, rack="r1")
told["effects"] = store.rule_effects.of(node.id)[uuid]
inspect(node, 7, rack="r1")
inspect(node, 8, rack="none")
inspect(other, "many", rack="r1")
inspect(other, 8, rack="r1")
inspector_rules.delete(store, uuid)
inspect(other, 8)

def refusal(conditions=(), actions=(place,)):
    try:
        inspector_rules.create(store, {"conditions": list(conditions), "actions": list(actions)})
    except IronicError as error:
        told["refusals"].append(str(error))

refusal([even | {"value": 1}])
refusal([known | {"value": "r1"}])
refusal([known | {"odd": True}])
refusal([{"field": "rack", "op": "rack-known"}])
refusal(actions=[{"action": "rack-place"}])
refusal(actions=[place | {"rack": "{data.rack}"}])

inspector_rules.create(store, {"actions": [{"action": "rack-note", "path": "/provision_state"}]})
inspect(node, 8)
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    directory = tmp_path_factory.mktemp("plugins")
    made: dict[str, Any] = json.loads(
        run("-c", PROGRAM, str(directory), cwd=directory, path=str(install(directory, PACKAGE)))
    )
    return made


@pytest.mark.demand("S186", "S180")
def test_its_actions_are_performed_and_taken_back(told: dict[str, Any]) -> None:
    first, second, cleaned, _ = told["seen"][:4]
    label = {"capabilities": "rack:r1", "label": "{data[rack]}"}
    assert first == [{"rack": "r1", "moves": 1}, label, ["CUSTOM_RACKED"]]
    assert second == [{"rack": "r1", "moves": 2}, label, ["CUSTOM_RACKED"]]
    assert cleaned == [{"moves": 2}, label, []]
    assert told["effects"] == [{"action": "rack-place", "at": "", "value": {"rack": "r1", "label": "{data[rack]}"}}]


@pytest.mark.demand("S186")
def test_its_faults_fail_one_inspection_and_no_other(told: dict[str, Any]) -> None:
    assert "phase main, actions[0]: action rack-place failed: Error: there is no such rack" in told["failures"][0]
    assert "phase main, conditions[0]: operator rack-even failed: ValueError: invalid literal" in told["failures"][1]
    assert "phase main, actions[0]: rules can't write field 'provision_state'" in told["failures"][2]
    assert len(told["failures"]) == 3
    # The node that had failed before, and what the deleted rule leaves of it.
    racked, left = told["seen"][5:7]
    assert racked[0] == {"rack": "r1", "moves": 1}
    assert (left[0], left[2]) == ({"moves": 1}, [])


@pytest.mark.demand("S186")
def test_its_own_checks_decide_on_a_posted_rule(told: dict[str, Any]) -> None:
    even, racks, odd, missing, rack, attribute = told["refusals"]
    assert "conditions[0] (rack-even): plug-in rack-even refuses the parameters: it takes no value; known: none" in even
    assert "conditions[0] (rack-known): plug-in rack-known refuses the parameters: value must be a list" in racks
    assert "it takes no odd; known: strict, value" in odd
    assert "the rule has to give value" in missing
    assert "actions[0] (rack-place): plug-in rack-place refuses the parameters: the rule has to give rack" in rack
    assert "actions[0] (rack-place): an expression can't have attributes" in attribute


def test_a_package_that_can_not_be_loaded_stops_the_start(tmp_path: Path) -> None:
    source = tmp_path / "broken.py"
    source.write_text("class Eq:\n    def check(self, node_info, field, params): pass\n")
    described = tmp_path / "broken-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    points = "[ironic_inspector.rules.conditions]\neq = broken:Eq\nno = broken:No\n"
    (described / "entry_points.txt").write_text(f"{points}[ironic_inspector.rules.actions]\nact = broken:Eq\n")
    program = """
from ironic.core.errors import InvalidParameterValue
from ironic.core.rules.inspector import rule_plugins
for load in (rule_plugins.conditions, rule_plugins.actions):
    try:
        load()
    except InvalidParameterValue as error:
        print(error)
"""
    conditions, actions = run("-c", program, cwd=tmp_path, path=str(tmp_path)).splitlines()
    assert "ironic_inspector.rules.conditions can't be used" in conditions
    assert "eq (broken:Eq): TypeError: the name belongs to a part of this service" in conditions
    assert "no (broken:No): AttributeError" in conditions
    assert "act (broken:Eq): TypeError: it has no method apply" in actions
