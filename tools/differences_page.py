"""The table of differences between BMCs in doc/contract/drivers.md, and the tests that show them.

The markers of tests are read, and no test is imported.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ironic.drivers.modules.redfish.wire.differences import TABLE

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "doc" / "contract" / "drivers.md"
TESTS = ROOT / "ironic" / "tests"
HEADING = "## Quirks of Redfish BMCs\n"

HEAD = """
Vendor and model are those of the node's properties. Most differences show by what a BMC answers, so they are met at
every machine. "The reference" means that the reference treats these machines so. A row without a public report waits
for the [record of a machine](../record-a-bmc.md).

| row | machines | what they do | what the service does | known from | shown by |
| --- | --- | --- | --- | --- | --- |
"""
MADE = "\n*Generated from `ironic/drivers/modules/redfish/wire/differences.py` by `make pages`.*\n"


class Marked(NamedTuple):
    """A test with the marker: its file below ``ironic/tests``, and its node in the syntax tree."""

    file: Path
    test: ast.FunctionDef

    @property
    def is_real(self) -> bool:
        """Whether it is run and can fail: it asserts something, or expects an error."""
        calls = {node.attr for node in ast.walk(self.test) if isinstance(node, ast.Attribute)}
        checks = any(isinstance(node, ast.Assert) for node in ast.walk(self.test)) or "raises" in calls
        is_run = self.file.name.startswith("test_") and self.test.name.startswith("test_")
        return is_run and checks and not calls & {"skip", "skipif", "xfail"}


def shown(root: Path = TESTS) -> dict[str, list[Marked]]:
    """Return the tests by the rows that their markers name."""
    found: dict[str, list[Marked]] = {}
    for path in sorted(root.rglob("*.py")):
        if "mark.difference(" not in (text := path.read_text()):
            continue
        for node in ast.walk(ast.parse(text)):
            for name in _names(node):
                assert isinstance(node, ast.FunctionDef)
                found.setdefault(name, []).append(Marked(path.relative_to(root), node))
    return found


def _names(node: ast.AST) -> Iterator[str]:
    for one in node.decorator_list if isinstance(node, ast.FunctionDef | ast.ClassDef) else ():
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "difference":
            yield from (str(ast.literal_eval(argument)) for argument in one.args)


def page() -> str:
    """Return the page with the section of differences as the table has them now."""
    before, _, rest = PAGE.read_text().partition(HEADING)
    tests = shown()
    cells = [
        (row.name, row.machines, row.does, row.service, row.source, _files(tests.get(row.name, []))) for row in TABLE
    ]
    rows = [f"| {' | '.join(row)} |\n" for row in cells]
    _, mark, after = rest.partition("\n## ")
    return f"{before}{HEADING}{HEAD}{''.join(rows)}{MADE}{mark}{after}"


def _files(tests: list[Marked]) -> str:
    return ", ".join(dict.fromkeys(f"`{one.file.stem.removeprefix('test_')}`" for one in tests))
