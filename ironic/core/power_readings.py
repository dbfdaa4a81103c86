"""What a reading of a machine's power state means, given what is recorded and what was read before.

Pure: the conductor reads and acts. One reading proves nothing, BMCs lie for a moment when they restart; an answer that
is neither on nor off is no answer, and never means off.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from ironic.core import states

KNOWN: Final = frozenset({states.POWER_ON, states.POWER_OFF})


class Verdict(Enum):
    """What to do about a reading."""

    FINE = auto()
    """All is as recorded."""
    UNREADABLE = auto()
    """There was no answer; ask again when the node's turn comes."""
    DOUBTFUL = auto()
    """It differs, but that was not seen often enough; ask again soon."""
    RECORD = auto()
    """The record follows the machine."""
    FORCE = auto()
    """The machine is brought back into the recorded state."""
    GIVE_UP = auto()
    """It can't be read, or does not stay as it was told to: a case for people."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the operator allows."""

    agreeing: int
    retries: int
    force: bool


@dataclass(frozen=True, slots=True)
class Memory:
    """What earlier readings of one machine showed."""

    differing: str | None = None
    agreeing: int = 0
    unreadable: int = 0
    forced: int = 0


NOTHING: Final = Memory()


def judge(recorded: str | None, seen: str | None, memory: Memory, limits: Limits) -> tuple[Verdict, Memory]:
    """Return what to do, and what to remember for the next reading."""
    if seen not in KNOWN:
        return _unreadable(memory, limits)
    if recorded not in KNOWN:
        return Verdict.RECORD, NOTHING
    if seen == recorded:
        return Verdict.FINE, NOTHING
    return _differing(seen, memory, limits)


def _unreadable(memory: Memory, limits: Limits) -> tuple[Verdict, Memory]:
    failures = memory.unreadable + 1
    verdict = Verdict.GIVE_UP if failures > limits.retries else Verdict.UNREADABLE
    return verdict, Memory(unreadable=failures, forced=memory.forced)


def _differing(seen: str | None, memory: Memory, limits: Limits) -> tuple[Verdict, Memory]:
    agreeing = memory.agreeing + 1 if memory.differing == seen else 1
    if agreeing < limits.agreeing:
        return Verdict.DOUBTFUL, Memory(seen, agreeing, forced=memory.forced)
    if not limits.force:
        return Verdict.RECORD, NOTHING
    if memory.forced >= limits.retries:
        return Verdict.GIVE_UP, NOTHING
    return Verdict.FORCE, Memory(forced=memory.forced + 1)
