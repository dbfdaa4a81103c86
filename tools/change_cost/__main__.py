"""Measure how many files and lines a change touches: `make change-cost`.

Each change of `changes.py` and `operations.py` is made in a scratch copy of the tree, as a developer would make it. Its
own test and the tests that keep the tables of the service consistent are run; then files and lines are counted. The
command fails when a test fails, or when a change touches more files of the product (`ironic/` without its tests) than
it should.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from change_cost.changes import CHANGES, HELD_BY
from change_cost.edits import Change
from scratch_tree import copy_tree, run_tests


def main() -> int:
    """Measure every change; the status is 0 when all pass."""
    print(f"{'change':<44} {'product files':>13} {'lines':>6} {'wanted':>7}  tests")
    return max(_measured(change) for change in CHANGES)


def _measured(change: Change) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch)
        copy_tree(tree)
        _git(tree, "init", "-q")
        _git(tree, "add", "-A")
        _git(tree, "-c", "user.name=scratch", "-c", "user.email=scratch@localhost", "commit", "-q", "-m", "before")
        change.make(tree)
        touched = _touched(tree)
        tests = run_tests(tree, "-n", "0", *change.tests, *HELD_BY)
    product = [lines for name, lines in touched.items() if _is_product(name)]
    is_cheap = len(product) <= change.wanted
    verdict = "pass" if tests.returncode == 0 else "FAIL"
    print(f"{change.name:<44} {len(product):>13} {sum(product):>6} {change.wanted:>7}  {verdict}", flush=True)
    for name in touched:
        print(f"    {'' if _is_product(name) else '(not counted) '}{name}")
    if tests.returncode:
        print(tests.stdout[-8000:])
    return 0 if is_cheap and tests.returncode == 0 else 1


def _is_product(name: str) -> bool:
    return name.startswith("ironic/") and not name.startswith("ironic/tests/") and name.endswith(".py")


def _touched(tree: Path) -> dict[str, int]:
    """Return the number of added and removed lines by file."""
    _git(tree, "add", "-A")
    rows = (row.split("\t") for row in _git(tree, "diff", "--cached", "--numstat").splitlines())
    return {name: int(added) + int(removed) for added, removed, name in rows}


def _git(tree: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=tree, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
