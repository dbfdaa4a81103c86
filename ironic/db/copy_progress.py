"""Lines about the progress of a copy, for an operator who waits for it."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from ironic.db.row_comparison import Compared
from ironic.db.row_copy import Copied

# Seconds between two lines about the same table.
_LINE_SECONDS: Final = 2.0

Say = Callable[[str], None]
Step = TypeVar("Step", bound=Copied | Compared)


def said(steps: Iterable[Step], say: Say) -> Iterator[Step]:
    """Yield the steps after a line about those that an operator wants to know: the end of each table, and long work."""
    last = time.monotonic()
    for step in steps:
        if isinstance(step, Compared):
            if step.rows:
                say(f"{step.table}: {step.rows} rows compared")
        elif step.copied and (step.is_complete or time.monotonic() - last >= _LINE_SECONDS):
            say(f"{step.table}: {step.copied} rows copied")
            last = time.monotonic()
        yield step
