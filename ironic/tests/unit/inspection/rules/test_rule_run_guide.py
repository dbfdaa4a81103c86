"""The examples of the guide do what the guide says, and the rule it shows first can be posted."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ironic.core.rules import Facts, check_rule, evaluate
from ironic.core.rules.paths import apply, copy
from ironic.db import Store
from ironic.inspection.dry_run import HookRun
from ironic.inspection.hooks.base import load_hooks
from ironic.inspection.phases import PHASES
from ironic.inspection.rules import facts_without_node
from ironic.inspection.rules.rule_run import chosen
from ironic.tests.repository import ROOT

GUIDE = (ROOT / "doc" / "inspection-rules.md").read_text()
EXAMPLE = re.compile(r"^### (\d+\. [^\n]+)\n(.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)
VENDOR = {"manufacturer": "Nobody"}
BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = {title: [yaml.safe_load(block) for block in BLOCK.findall(text)] for title, text in EXAMPLE.findall(GUIDE)}


def facts(given: dict[str, Any], phase: str) -> Facts:
    unknown = facts_without_node(given.get("inventory", {}), given.get("plugin_data", {}))
    node = None if phase == "early" else {**(unknown.node or {}), **given.get("node", {})}
    return Facts(unknown.inventory, unknown.plugin_data, node, given.get("ports", []))


def patched(data: Any, patch: Any) -> Any:
    data = copy(data)
    apply(data, patch)
    return data


def test_there_are_twelve_examples() -> None:
    assert [title.split(".")[0] for title in EXAMPLES] == [str(number) for number in range(1, 13)]


@pytest.mark.demand("S171", "S173")
@pytest.mark.parametrize("title", EXAMPLES)
def test_an_example_does_what_the_guide_says(store: Store, title: str) -> None:
    document, told = EXAMPLES[title]
    given, then = told["given"], told["then"]
    rule = check_rule(document)
    known = facts(given, rule.phase)
    if names := given.get("hooks"):
        known = HookRun(store, None, load_hooks(names)).before(PHASES["main"], known)
    assert chosen([rule], PHASES[rule.phase], (known.node or {}).get("properties") or {}) == [rule]
    outcome = evaluate([rule], known)
    assert outcome.explanation[0]["applies"] is True
    assert (outcome.failure and outcome.failure.text) == then.get("fails")
    node = patched(known.node or {}, outcome.changes.node)
    assert {name: node[name] for name in then.get("node", {})} == then.get("node", {})
    ports = [patched(port, outcome.changes.ports.get(port["uuid"], [])) for port in known.ports]
    for port, wanted in zip(ports, then.get("ports", []), strict=False):
        assert {name: port[name] for name in wanted} == wanted
    if "plugin_data" in then:
        assert patched(known.plugin_data, outcome.changes.plugin_data) == then["plugin_data"]
    assert [line.text for line in outcome.log] == then.get("logs", [])
    assert [one.call.url for one in outcome.calls] == then.get("calls", [])
    # Every kind of effect that the rule has is one that the guide names.
    effects = {"node": outcome.changes.node, "ports": outcome.changes.ports, "plugin_data": outcome.changes.plugin_data}
    assert {name for name, changed in effects.items() if changed} <= then.keys()


@pytest.mark.parametrize("title", EXAMPLES)
def test_an_example_leaves_a_machine_alone_that_is_not_meant(title: str) -> None:
    document, _ = EXAMPLES[title]
    if document.get("conditions"):
        fine = {
            "inventory": {"bmc_address": "192.0.2.1", "memory": {"physical_mb": 2**20}, "system_vendor": VENDOR},
            "node": {"extra": {"keep": True}},
        }
        rule = check_rule(document)
        assert evaluate([rule], facts(fine, rule.phase)).explanation[0]["applies"] is False


def test_the_rules_in_json_can_be_posted() -> None:
    first, trial = (json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL))
    check_rule(first)
    assert [check_rule(rule).phase for rule in trial["rules"]] == ["main"]


def test_the_line_of_the_lldp_example_enables_the_hook(tmp_path: Path) -> None:
    (line,) = re.findall(r"^```ini\n(\[inspector\]\nhooks = .*\n)```", GUIDE, re.MULTILINE)
    (tmp_path / "ironic.conf").write_text(line)
    code = (
        "from ironic.conf import CONF; from ironic.inspection.hooks.base import *;"
        f"CONF(['--config-file', {str(tmp_path / 'ironic.conf')!r}], project='ironic');"
        "print(*(hook.name for hook in load_hooks(hook_names(CONF.inspector.hooks))))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split()[-1] == "parse-lldp" and "validate-interfaces" in told.stdout
