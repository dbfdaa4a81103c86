"""The changes of `make change-cost` fit the tree: it is run rarely, so a renamed anchor or module shows here."""

import ast
import importlib.util
import re
from typing import Any

import pytest

from ironic.tests.repository import ROOT, tool

changes = tool("change_cost/changes")
STEPS = [step for change in changes.CHANGES for step in change.steps]
ADDED = {
    name for step in STEPS if isinstance(step, changes.Line) for name in re.findall(r"^class (\w+)", step.text, re.M)
}
NEW = {step.file for step in STEPS if isinstance(step, changes.NewFile)}


@pytest.mark.parametrize("step", [step for step in STEPS if step.file not in NEW])
def test_what_a_step_changes_is_there(step: Any) -> None:
    content = (ROOT / step.file).read_text()
    if isinstance(step, changes.Line):
        assert content.count(step.anchor) == 1
    else:
        assert step.old in content


@pytest.mark.parametrize("step", [step for step in STEPS if step.file in NEW and step.file.endswith(".py")])
def test_what_a_new_file_imports_is_there(step: Any) -> None:
    for node in ast.walk(ast.parse(step.text)):
        if isinstance(node, ast.ImportFrom) and node.module and f"{node.module.replace('.', '/')}.py" not in NEW:
            module = importlib.import_module(node.module)
            for name in (one.name for one in node.names):
                assert hasattr(module, name) or name in ADDED or importlib.util.find_spec(f"{node.module}.{name}"), name
