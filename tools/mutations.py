"""Show that tests of demands fail when the product breaks the demand: `python tools/mutations.py [S48 ...]`.

Each row of mutations.yaml is a small change of the product. It is made in a scratch copy of the tree, where the tests
marked with its demand must then fail; before, without any change, they must pass. Two rows are tried at a time, each in
a copy of its own. A row is "caught" if a test failed, "survived" if all passed, "stale" if the text to replace is not
in the file exactly once, and "broken" if no test ran to its end. The status is 1 unless every row is caught.
"""

import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import yaml
from scratch_tree import ROOT, copy_tree, run_tests

_AT_A_TIME = 2
_LONGEST = 120  # seconds
# The status of pytest: a failed test; other errors, and no test at all, prove nothing.
_VERDICTS = {0: "survived", 1: "caught"}


@dataclass(frozen=True)
class Mutation:
    """One row: ``old`` is replaced in ``file``, then a test of ``demand`` in ``tests`` (paths and options) fails."""

    demand: str
    file: str
    old: str
    new: str
    tests: str

    def is_fresh(self, tree: Path = ROOT) -> bool:
        """Return whether the text to replace is in the file exactly once."""
        path = tree / self.file
        return path.is_file() and path.read_text().count(self.old) == 1

    def judge(self, tree: Path) -> str:
        """Return the verdict of the tests on this change, and restore the file."""
        if not self.is_fresh(tree):
            return "stale"
        path = tree / self.file
        text = path.read_text()
        path.write_text(text.replace(self.old, self.new))
        try:
            tests = run_tests(tree, "-n", "0", "--demand", self.demand, *self.tests.split(), seconds=_LONGEST)
        except subprocess.TimeoutExpired:
            return "broken"
        finally:
            path.write_text(text)
        return _VERDICTS.get(tests.returncode, "broken")


def rows() -> list[Mutation]:
    """Return the rows of mutations.yaml."""
    return [Mutation(**row) for row in yaml.safe_load((ROOT / "tools" / "mutations.yaml").read_text())]


def main(chosen: Sequence[str]) -> int:
    """Try the mutations of these demands, or all, and print a line for each; the status is 0 if all are caught."""
    mutations = [row for row in rows() if not chosen or row.demand in chosen]
    if not mutations:
        sys.exit("mutations.yaml has no row of these demands.")
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(_AT_A_TIME) as pool:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(_AT_A_TIME):
            tree = Path(scratch) / str(number)
            copy_tree(tree)
            # Python compares such bytecode with the text of a file, not with its time stamp.
            compiling = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "ironic"]
            subprocess.run(compiling, cwd=tree, check=True)
            trees.put(tree)

        demands = [word for row in mutations for word in ("--demand", row.demand)]
        paths = sorted({word for row in mutations for word in row.tests.split()})
        unchanged = run_tests(tree, "-n", str(_AT_A_TIME), "--dist", "loadfile", *demands, *paths)
        if unchanged.returncode:
            print(unchanged.stdout[-8000:])
            sys.exit("The tests of the demands fail without a mutation. Correct that first.")

        def tried(mutation: Mutation) -> str:
            tree, since = trees.get(), time.monotonic()
            verdict = mutation.judge(tree)
            trees.put(tree)
            print(f"{mutation.demand:>5}  {verdict:<8} {time.monotonic() - since:>5.1f} s  {mutation.file}", flush=True)
            return verdict

        verdicts = Counter(pool.map(tried, mutations))
    print(f"{verdicts['caught']} of {len(mutations)} mutations are caught.")
    return int(verdicts["caught"] != len(mutations))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
