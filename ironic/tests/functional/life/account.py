"""What must be true of every node whatever was done to its conductors: checked by their logs and the rows.

A log says which moves a process has committed. Put in order they must be a path through the table of states: two who
held a node at once, or one who wrote to a node that was not its own any more, would leave a move that does not begin
where the one before has ended. A process that is killed between a commit and its log line leaves out one move, never
more.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ironic.core.flows import states
from ironic.db import Store

_MOVE = re.compile(
    r"^(?P<at>\S+ \S+) .*Node (?P<node>\S+) moved from state '(?P<old>[^']*)' to '(?P<new>[^']*)' on event "
    r"'(?P<event>[^']*)'",
    re.MULTILINE,
)

# A thread may be kept waiting between a commit and its log line: so many lines may have come before.
_LATE = 8


class Move(NamedTuple):
    """One move as it was logged."""

    at: str
    node: str
    old: str
    new: str
    event: str


def moves(logs: Iterable[str]) -> dict[str, list[Move]]:
    """Return the moves of each node, in order of time."""
    found: dict[str, list[Move]] = {}
    for log in logs:
        for match in _MOVE.finditer(log):
            found.setdefault(match["node"], []).append(Move(**match.groupdict()))
    return {node: sorted(each) for node, each in found.items()}


def check_moves(logs: Iterable[str], began: Mapping[str, str], store: Store) -> int:
    """Check that every node went from where it began to where it is by moves of the table; return how many."""
    logged = moves(logs)
    for uuid, state in began.items():
        (now,) = store.nodes.row(("provision_state",), uuid)
        _check_path(logged.get(uuid, []), state, now)
    return sum(len(logged.get(uuid, ())) for uuid in began)


def _check_path(path: list[Move], state: str, now: str) -> None:
    left = list(path)
    while left:
        step = next((move for move in left[:_LATE] if move.old == state), None) or left[0]
        assert states.after(step.old, step.event) == step.new, step
        assert step.old == state or step.old in _next_to(state), f"from {state!r} came {step}; all of it: {path}"
        left.remove(step)
        state = step.new
    assert now == state or now in _next_to(state), f"it is {now!r} after {path}"


def _next_to(state: str) -> set[str]:
    return {new for old, _, new in states.MOVES if old == state}


def check_ended(store: Store, uuids: Iterable[str]) -> None:
    """Check that nothing is left over: no lock, no state of work without work, and every wait has an end."""
    for uuid in uuids:
        node = store.nodes.get(uuid)
        assert node.reservation is None and node.target_power_state is None, (uuid, node.provision_state)
        assert node.provision_state not in states.WORKING, (uuid, node.provision_state)
        if node.provision_state in states.WAITING:
            assert node.inspection_started_at or node.provision_updated_at, uuid
        if node.provision_state in states.FAILED | {states.ERROR}:
            assert node.last_error, (uuid, node.provision_state)
