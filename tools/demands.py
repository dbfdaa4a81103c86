"""List the numbered demands without a test: `python tools/demands.py`.

It reads doc/contract/demands.md for the numbers and the test files for the markers, and imports neither.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^- (S\d+)\*?: (.+(?:\n  .+)*)", re.MULTILINE)


def rows(root: Path = ROOT) -> dict[str, str]:
    """Return the demands by number."""
    page = (root / "doc" / "contract" / "demands.md").read_text()
    return {number: " ".join(text.split()) for number, text in ROW.findall(page)}


def marked(root: Path = ROOT) -> dict[str, list[Path]]:
    """Return the test files that have a marker with each number."""
    found: dict[str, list[Path]] = {}
    for path in sorted((root / "ironic" / "tests").rglob("*.py")):
        numbers: dict[str, None] = {}
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "demand":
                numbers.update((str(ast.literal_eval(argument)), None) for argument in node.args)
        for number in numbers:
            found.setdefault(number, []).append(path.relative_to(root))
    return found


def main() -> None:
    """Print the demands without a test and the number of those with one."""
    demands, proved = rows(), marked()
    for number, text in demands.items():
        if number not in proved:
            print(f"{number:>5}  {text}")
    print(f"{len(demands.keys() & proved.keys())} of {len(demands)} demands have a test.")
    if strangers := sorted(proved.keys() - demands.keys()):
        sys.exit(f"Markers of tests have numbers that do not exist: {', '.join(strangers)}")


if __name__ == "__main__":
    main()
