"""How drivers wait: an interface begins a wait, and says by a method how its end is found.

    @base.looks("my_change", interval=lambda: 60)
    def look_at_my_change(self, task, wait):
        return StepDone() if ... else None

The conductor calls the method, without a lock, whenever it is time to look at such a wait of a node; the time between
two looks grows with the age of what is awaited, up to the interval. The method returns StepDone or StepFailed, with the
node locked, once the wait has ended, and None while it goes on. See doc/add-a-wait.md.

Who waits is known by the task: work that can be repeated leaves its worker meanwhile, other work waits by itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from ironic.core.flows import node_waits
from ironic.core.flows.node_waits import Follows, NodeWait
from ironic.drivers.contract.step_declarations import StepDone, StepFailed
from ironic.drivers.contract.task import Task, Waiter

Ended = StepDone | StepFailed

# Seconds until the second look; most BMCs are done in seconds, some after many minutes.
SOON: Final = 5.0
# Of a kind whose interval is 0, which switches looks off, until it is read again.
_OFF: Final = 60.0


@contextmanager
def waiting(task: Task, waiter: Waiter) -> Iterator[None]:
    """Say who waits in this block."""
    before, task.waiter = task.waiter, waiter
    try:
        yield
    finally:
        task.waiter = before


def begin(
    task: Task,
    kind: str,
    words: str,
    memory: object,
    *,
    interface: str | None,
    seconds: float | None,
    follows: Follows,
    first: float = 0.0,
) -> None:
    """Begin a wait of a kind for at most so many seconds, None without an end; the caller saves the node.

    ``memory`` is a frozen dataclass. The first look comes after ``first`` seconds.
    """
    now = task.node.now()
    wait = NodeWait(
        kind=kind,
        interface=interface,
        words=words,
        since=now,
        until=None if seconds is None else now + timedelta(seconds=seconds),
        next_look=now + timedelta(seconds=first),
        follows=follows,
        run=None if follows is Follows.REQUEST else node_waits.run_of(task.node),
        changed=now,
        memory=node_waits.encoded(memory),
    )
    node_waits.put(task.node, wait)


def of(task: Task, kind: str) -> NodeWait | None:
    """Return what the node of a task waits for, as it will be stored; None without such a wait."""
    node = task.node
    if not node_waits.is_open(node, kind):
        return None
    return node.pending_waits.get(kind) or task.store.node_waits.get(node.id, kind)


def after_look(wait: NodeWait, now: datetime, interval: float) -> datetime:
    """Return when to look next: at 0, 5, 10, 20, 40 seconds and so on after what is awaited has changed."""
    seconds = min(interval, max(SOON, (now - wait.changed).total_seconds())) if interval else _OFF
    return now + timedelta(seconds=seconds)
