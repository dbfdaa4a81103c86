"""A third party's words for inspection rules: installed, checked when a rule is posted, run with the rules."""

import json
from pathlib import Path

import pytest

from ironic.tests.out_of_tree import install, run

PACKAGE = Path(__file__).parent / "acme_rules"

PROGRAM = """
import json, sys
from pathlib import Path
from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue, InspectionRuleFailure
from ironic.core.rules import check_rule
from ironic.inspection import phases
from ironic.inspection.rules import Inspection, RuleBook, load_built_in, run_early
from ironic.inspection.staged_task import StagedTask
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.inspection.lab import MAC, inventory, new_node, new_port, post, work_on

CONF([], default_config_files=[])
load_built_in(None)
store = sqlite_store(Path(sys.argv[1]))
node = new_node(store, driver_info={"acme_password": "hunter2"}, extra={"kept": 1})
new_port(store, node)
args = {"rack": "{inventory[cpu][architecture]}-7", "unit": "{inventory[cpu][count]}"}
locate = {"op": "acme-locate", "args": args}
even = {"op": "acme-even", "args": ["{inventory[cpu][count]}"]}
post(store, actions=[locate], conditions=[even], description="locator")
post(store, actions=[{"op": "fail", "args": ["odd"]}], conditions=[{"op": "! acme-even", "args": [8]}])
post(store, actions=[{"op": "acme-locate", "args": ["r", "l", 3]}], phase="early")

early = {}
run_early(RuleBook().early(store), store, inventory(MAC), early)
data = {}
staged = StagedTask(work_on(store, node))
Inspection(RuleBook(), staged).run(phases.PHASES["main"], inventory(MAC), data)
staged.commit()
after = store.nodes.get(node.uuid)

def refusal(**action):
    try:
        check_rule({"actions": [{"op": "acme-locate", **action}]})
    except InvalidParameterValue as error:
        return str(error)

def failure():
    store.rules.clear()
    post(store, actions=[{"op": "acme-locate", "args": ["r", "l", "{plugin_data[unit]}"]}])
    try:
        Inspection(RuleBook(), staged).run(phases.PHASES["main"], inventory(MAC), {"unit": 0})
    except InspectionRuleFailure as error:
        return str(error)

print(json.dumps({
    "early": early, "data": data, "extra": after.extra, "driver_info": after.driver_info,
    "description": after.description, "port": store.ports.find()[0].extra,
    "refusals": [refusal(args={}), refusal(args={"rack": "r", "odd": 1}), refusal(args=["r", "l", "x"])],
    "failure": failure(),
}))
"""


@pytest.mark.demand("S143")
def test_an_action_and_an_operator_of_a_vendor_run(tmp_path: Path) -> None:
    told = json.loads(run("-c", PROGRAM, str(tmp_path), cwd=tmp_path, path=str(install(tmp_path, PACKAGE))))
    assert told["early"] == {"located_early": ["r", 3]}
    assert told["data"] == {"located": True}
    place = {"rack": "x86_64-7", "label": "{rack}", "unit": 8, "by": "locator"}
    assert told["extra"] == {"kept": 1, "place": place}
    assert told["driver_info"] == {"acme_password": "hunter2", "acme_seen": "******"}
    assert told["description"] == "1 ports, 8 CPUs"
    assert told["port"] == {"place": "x86_64-7"}
    missing, odd, typed = told["refusals"]
    assert "argument 'rack' is missing" in missing
    assert "argument 'odd' is unknown; known: rack, label, unit" in odd
    assert "argument 'unit': must be a whole number" in typed
    assert "actions[0]: action acme-locate failed: ValueError: there is no unit 0" in told["failure"]
