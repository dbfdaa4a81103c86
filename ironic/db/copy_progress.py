"""Lines about the progress of a copy, for an operator who waits for it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from ironic.core.clock import CLOCK
from ironic.db.row_comparison import Compared
from ironic.db.row_copy import Copied

# Seconds between two lines about the same table.
_LINE_SECONDS: Final = 2.0

Say = Callable[[str], None]
Step = TypeVar("Step", bound=Copied | Compared)


def said(steps: Iterable[Step], say: Say) -> Iterator[Step]:
    """Yield the steps after a line about those that an operator wants to know: the end of each table, and long work."""
    last = CLOCK.monotonic()
    for step in steps:
        if isinstance(step, Compared):
            if step.rows:
                say(f"{step.table}: {step.rows} rows compared")
        elif step.copied and (step.is_complete or CLOCK.monotonic() - last >= _LINE_SECONDS):
            say(f"{step.table}: {step.copied} rows copied")
            last = CLOCK.monotonic()
        yield step
