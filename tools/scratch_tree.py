"""Scratch copies of the working tree, in which `change_cost` and `mutations` change the product and run its tests."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def copy_tree(tree: Path) -> None:
    """Copy the files of the repository as they are in the working tree."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes((ROOT / name).read_bytes())


def run_tests(tree: Path, *arguments: str, seconds: float | None = None) -> subprocess.CompletedProcess[str]:
    """Run tests of a copy, up to the first failure; raises TimeoutExpired after ``seconds``.

    No bytecode is written: a file may change twice within the second that its time stamp can show.
    """
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments]
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=False, timeout=seconds
    )
