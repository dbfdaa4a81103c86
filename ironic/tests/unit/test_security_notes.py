"""The table of security notes in doc/security.md names tests that exist."""

import ast
import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = (ROOT / "doc" / "security.md").read_text()
ROWS: Final = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.partition("## Notes about neighbours")[2].splitlines()
    if line.startswith("| ") and not line.startswith(("| note |", "| ---"))
]


def test_the_table_has_rows() -> None:
    assert len(ROWS) > 30
    assert all(len(row) == 4 and all(row) for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_note_is_about_what_is_not_built_or_has_a_test(row: list[str]) -> None:
    if row[3] == "none":
        assert row[2].startswith("not built")
        return
    found = re.fullmatch(r"`([\w./]+\.py)::(test_\w+)`", row[3])
    assert found is not None
    tree = ast.parse((ROOT / found[1]).read_text())
    assert found[2] in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
