"""The edits that changes are made of, and a change with its tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Line:
    """A line that is written after or before another one, which is in the file once."""

    file: str
    anchor: str
    text: str
    before: bool = False

    def make(self, tree: Path) -> None:
        """Write it."""
        path = tree / self.file
        content = path.read_text()
        if content.count(self.anchor) != 1:
            raise SystemExit(f"{self.file}: {self.anchor!r} is there {content.count(self.anchor)} times, not once.")
        both = f"{self.text}{self.anchor}" if self.before else f"{self.anchor}{self.text}"
        path.write_text(content.replace(self.anchor, both))


@dataclass(frozen=True)
class NewFile:
    """A new file."""

    file: str
    text: str

    def make(self, tree: Path) -> None:
        """Write it."""
        (tree / self.file).write_text(self.text)


@dataclass(frozen=True)
class Replaced:
    """A text in a file and its replacement, wherever it is."""

    file: str
    old: str
    new: str

    def make(self, tree: Path) -> None:
        """Write it."""
        content = (tree / self.file).read_text()
        if self.old not in content:
            raise SystemExit(f"{self.file}: {self.old!r} is not there.")
        (tree / self.file).write_text(content.replace(self.old, self.new))


@dataclass(frozen=True)
class Change:
    """A change: its steps, how many files of the product it may touch, and its own tests."""

    name: str
    wanted: int
    steps: Sequence[Line | NewFile | Replaced]
    tests: Sequence[str]

    def make(self, tree: Path) -> None:
        """Make it in a tree."""
        for step in self.steps:
            step.make(tree)
