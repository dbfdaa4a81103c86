"""How long a walk through the code is, counted by a profile hook: calls, files and returns.

What a developer has to read who follows one operation from its entry, the function with which it begins:

- **calls**: how often a named function or method of the service is called. A comprehension or a lambda is part of the
  function in which it is written, and a generator that goes on is no call.
- **files**: how many files these functions are in.
- **returns**: how often the walk comes back to a file that it had left for another one.

Not counted is the plumbing, which a reader knows once and for all and does not follow again in each walk. The hook sees
one thread: whoever measures has all work done in it.
"""

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple

from ironic.tests.repository import ROOT

PRODUCT: Final = ROOT / "ironic"
# Rows and statements, types of values and syntax of texts, the fields of the model, which values are secret, keys of
# documents, the request and its body, the documents of answers; and what plays the machine. Directories end with a
# slash.
PLUMBING: Final = (
    "db/",
    "core/values/value_types.py",
    "core/texts/syntax.py",
    "core/model/",
    "core/secrets/masking.py",
    "core/keys/info_keys.py",
    "core/keys/internal_keys.py",
    "api/request.py",
    "api/request_body.py",
    "api/projection.py",
    "tests/",
)
# File and qualified name of each function that is called, in their order.
Calls = Sequence[tuple[str, str]]


class Length(NamedTuple):
    """The length of a walk."""

    calls: int
    files: int
    returns: int


class Walk:
    """The calls of an operation without the plumbing."""

    def __init__(self, calls: Calls) -> None:
        self._calls = [(file, name) for file, name in calls if not file.startswith(PLUMBING)]

    @property
    def length(self) -> Length:
        """How long it is."""
        files, present, returns = set[str](), "", 0
        for file, _ in self._calls:
            returns += file != present and file in files
            files.add(file)
            present = file
        return Length(len(self._calls), len(files), returns)

    def listed(self) -> str:
        """Return a line for each function, the most frequent first: what to look at when a walk has grown."""
        return "\n".join(f"{times:>4} {file} {name}" for (file, name), times in Counter(self._calls).most_common())


def follow(operation: Callable[[], object], entry: str) -> Walk:
    """Run an operation; return its walk: the calls of the function with this qualified name, and all within them."""
    return Walk(calls_of(operation, entry))


def calls_of(operation: Callable[[], object], entry: str | None = None) -> Calls:
    """Run an operation and return its calls, plumbing included: all of them, or those within the entry."""
    calls: list[tuple[str, str]] = []
    generators: set[FrameType] = set()
    entered: list[FrameType] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "return" and entered and frame is entered[-1]:
            entered.pop()
        if event != "call" or code.co_name.startswith("<"):
            return
        if code.co_qualname == entry:
            entered.append(frame)
        path = Path(code.co_filename)
        if frame in generators or not path.is_relative_to(PRODUCT) or not (entered or entry is None):
            return
        if code.co_flags & inspect.CO_GENERATOR:
            generators.add(frame)
        calls.append((path.relative_to(PRODUCT).as_posix(), code.co_qualname))

    sys.setprofile(note)
    try:
        operation()
    finally:
        sys.setprofile(None)
    return calls
