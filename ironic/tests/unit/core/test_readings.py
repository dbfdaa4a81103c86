"""How much is known of a list, as mypy sees it and as it runs."""

import subprocess
import sys
from pathlib import Path

from ironic.core.readings import Seen, Whole

SOURCE = """from ironic.core.readings import Seen, Whole

def delete(volumes: Whole[str]) -> None: ...

"""
RIGHT = ("delete(Whole(['a']))", "delete(Whole())")
WRONG = ("delete(['a'])", "delete(('a',))", "delete(Seen(['a']))", "delete(Seen(['a']).items)", "delete(None)")


def test_only_a_whole_list_may_be_acted_on(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(SOURCE + "\n".join((*RIGHT, *WRONG)))
    # In a process of its own: mypy raises the limit of recursion for all that follows.
    words = ["--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache"), str(file)]
    ended = subprocess.run([sys.executable, "-m", "mypy", *words], capture_output=True, text=True)
    assert ended.stderr == ""
    said = ended.stdout
    refused = [line for line in said.splitlines() if 'expected "Whole[str]"' in line]
    first = SOURCE.count("\n") + len(RIGHT) + 1
    assert [line.split(":")[1] for line in refused] == [str(first + number) for number in range(len(WRONG))], said


def test_what_is_seen_says_what_is_missing() -> None:
    seen = Seen("ab", ["c can't be read"]).with_missing("d is odd")
    assert (seen.items, seen.missing) == (("a", "b"), ("c can't be read", "d is odd"))
    assert Seen[str]().missing == () and Whole("ab") == ("a", "b")
