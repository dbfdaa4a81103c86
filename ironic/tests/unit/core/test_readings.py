"""How much is known of a list and of a value, as mypy sees it and as it runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from ironic.core.readings import ABSENT, Known, Seen, Unreadable, Value, Whole

SOURCE = """from ironic.core.readings import ABSENT, Known, Seen, Unreadable, Value, Whole

def delete(volumes: Whole[str]) -> None: ...
def set_mode(mode: str) -> None: ...
def restart(power: Known[str]) -> None: ...
def shown() -> Value[str]: return ABSENT
mode, power = shown().certain(), shown()

"""
RIGHT = (
    "delete(Whole(['a']))",
    "delete(Whole())",
    "set_mode(Known('a').certain())",
    "set_mode(mode) if mode is not None else None",
    "restart(power) if isinstance(power, Known) else None",
    "set_mode(power.shown('none'))",
)
WRONG = (
    ("delete(['a'])", 'expected "Whole[str]"'),
    ("delete(('a',))", 'expected "Whole[str]"'),
    ("delete(Seen(['a']))", 'expected "Whole[str]"'),
    ("delete(Seen(['a']).items)", 'expected "Whole[str]"'),
    ("delete(None)", 'expected "Whole[str]"'),
    # What is absent or can't be read is no value.
    ("set_mode(mode)", 'expected "str"'),
    ("set_mode(shown())", 'expected "str"'),
    ("set_mode(shown().shown(None))", 'expected "str"'),
    ("restart(shown())", 'expected "Known[str]"'),
    ("restart(ABSENT)", 'expected "Known[str]"'),
    ("restart(Unreadable(ValueError()))", 'expected "Known[str]"'),
)


def test_only_what_is_whole_or_certain_may_be_acted_on(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text("\n".join((SOURCE.rstrip(), *RIGHT, *(text for text, _fault in WRONG))))
    # In a process of its own: mypy raises the limit of recursion for all that follows.
    words = ["--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache"), str(file)]
    ended = subprocess.run([sys.executable, "-m", "mypy", *words], capture_output=True, text=True)
    assert ended.stderr == ""
    said = ended.stdout
    refused = {line.split(":")[1]: line for line in said.splitlines() if ": error: " in line}
    first = SOURCE.rstrip().count("\n") + len(RIGHT) + 2
    assert list(refused) == [str(first + number) for number in range(len(WRONG))], said
    for line, (text, fault) in zip(refused.values(), WRONG, strict=True):
        assert fault in line, text


def test_what_is_seen_says_what_is_missing() -> None:
    seen = Seen("ab", ["c can't be read"]).with_missing("d is odd")
    assert (seen.items, seen.missing) == (("a", "b"), ("c can't be read", "d is odd"))
    assert Seen[str]().missing == () and Whole("ab") == ("a", "b")


def test_a_value_is_known_absent_or_unreadable() -> None:
    odd: Value[str] = Unreadable(ValueError("it is odd"))
    assert (Known("on").certain(), Known("on").shown("?")) == ("on", "on")
    assert (ABSENT.shown("?"), odd.shown("?")) == ("?", "?")
    nothing: Value[str] = ABSENT
    assert nothing.certain() is None
    with pytest.raises(ValueError, match="it is odd"):
        odd.certain()
