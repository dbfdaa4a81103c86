"""What a change costs: `make change-cost`.

In a scratch copy of the tree, each change of `changes.py` is made as a developer would make it. It is put to a test of
its own and to those that hold the tables of the service together; then the files and lines are counted. It fails when a
test does, or when more files of the product (`ironic/` without its tests) are touched than is wanted.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from changes import CHANGES, HELD_BY, Change

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Measure every change; the status is 0 when all are as wanted."""
    print(f"{'change':<44} {'product files':>13} {'lines':>6} {'wanted':>7}  tests")
    return max(_measured(change) for change in CHANGES)


def _measured(change: Change) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch)
        _copy(tree)
        change.make(tree)
        touched = _touched(tree)
        tests = _tested(tree, change)
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


def _copy(tree: Path) -> None:
    """Copy what the repository knows, as it is in the working tree, and make that a commit to compare with."""
    names = _git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes((ROOT / name).read_bytes())
    _git(tree, "init", "-q")
    _git(tree, "add", "-A")
    _git(tree, "-c", "user.name=scratch", "-c", "user.email=scratch@localhost", "commit", "-q", "-m", "before")


def _touched(tree: Path) -> dict[str, int]:
    """Return how many lines were added or removed, by file."""
    _git(tree, "add", "-A")
    rows = (row.split("\t") for row in _git(tree, "diff", "--cached", "--numstat").splitlines())
    return {name: int(added) + int(removed) for added, removed, name in rows}


def _tested(tree: Path, change: Change) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *change.tests, *HELD_BY]
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)


def _git(tree: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=tree, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
