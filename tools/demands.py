"""Tell which numbered demands no test points at: `python tools/demands.py`.

Reads doc/contract/demands.md for the numbers and the test files for the markers, without running or importing either.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^- (S\d+)\*?: (.+(?:\n  .+)*)", re.MULTILINE)


def rows(root: Path = ROOT) -> dict[str, str]:
    """Return the demands by number."""
    page = (root / "doc" / "contract" / "demands.md").read_text()
    return {number: " ".join(text.split()) for number, text in ROW.findall(page)}


def marked(root: Path = ROOT) -> dict[str, list[Path]]:
    """Return the test files that point at each number."""
    found: dict[str, list[Path]] = {}
    for path in sorted((root / "ironic" / "tests").rglob("*.py")):
        for number in dict.fromkeys(_numbers(path)):
            found.setdefault(number, []).append(path.relative_to(root))
    return found


def _numbers(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "demand":
            yield from (str(ast.literal_eval(argument)) for argument in node.args)


def main() -> None:
    """Print what is missing and the score."""
    demands, proved = rows(), marked()
    for number, text in demands.items():
        if number not in proved:
            print(f"{number:>5}  {text}")
    print(f"{len(demands.keys() & proved.keys())} of {len(demands)} demands have a test.")
    if strangers := sorted(proved.keys() - demands.keys()):
        sys.exit(f"Tests point at numbers that do not exist: {', '.join(strangers)}")


if __name__ == "__main__":
    main()
