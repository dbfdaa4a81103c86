"""Documents that drivers return about a machine's BMC, and the verdict on a reading of its power state.

`judge_power_reading` decides from the recorded state, the new reading and the readings before; the conductor reads and
acts. One reading proves nothing, because BMCs return wrong answers for a moment when they restart. An answer that is
neither on nor off counts as no answer, never as off.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, TypedDict

from ironic.core.flows import states


class BootDevice(TypedDict, total=False):
    """The boot device of a machine; None where the BMC does not report it."""

    boot_device: str | None
    persistent: bool | None


class Console(TypedDict, total=False):
    """How to reach an open console; empty when there is no way to reach it."""

    type: str
    url: str


class Light(TypedDict):
    """An indicator light: whether it is read-only, and which states it can show."""

    readonly: bool
    states: list[str]


# By component, then by name of the light.
Lights = dict[str, dict[str, Light]]


KNOWN: Final = frozenset({states.POWER_ON, states.POWER_OFF})


class Verdict(Enum):
    """What to do after a reading."""

    FINE = auto()
    """The reading equals the record."""
    UNREADABLE = auto()
    """There was no answer; read again in the next round."""
    DOUBTFUL = auto()
    """The reading differs from the record, but not often enough yet; read again soon."""
    RECORD = auto()
    """Set the record to what was read."""
    FORCE = auto()
    """Bring the machine back into the recorded state."""
    GIVE_UP = auto()
    """The machine can't be read, or does not stay in the recorded state: an operator has to act."""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """The options of the operator: agreeing readings needed, retries, and whether to force the recorded state."""

    agreeing: int
    retries: int
    force: bool


@dataclass(frozen=True, slots=True)
class PowerReadings:
    """What is remembered of earlier readings of one machine."""

    differing: str | None = None
    agreeing: int = 0
    unreadable: int = 0
    forced: int = 0


NO_READINGS: Final = PowerReadings()


def judge_power_reading(
    recorded: str | None, seen: str | None, memory: PowerReadings, limits: ReadingLimits
) -> tuple[Verdict, PowerReadings]:
    """Return what to do and what to remember for the next reading."""
    if seen not in KNOWN:
        failures = memory.unreadable + 1
        verdict = Verdict.GIVE_UP if failures > limits.retries else Verdict.UNREADABLE
        return verdict, PowerReadings(unreadable=failures, forced=memory.forced)
    if recorded not in KNOWN:
        return Verdict.RECORD, NO_READINGS
    if seen == recorded:
        return Verdict.FINE, NO_READINGS
    agreeing = memory.agreeing + 1 if memory.differing == seen else 1
    if agreeing < limits.agreeing:
        return Verdict.DOUBTFUL, PowerReadings(seen, agreeing, forced=memory.forced)
    if not limits.force:
        return Verdict.RECORD, NO_READINGS
    if memory.forced >= limits.retries:
        return Verdict.GIVE_UP, NO_READINGS
    return Verdict.FORCE, PowerReadings(forced=memory.forced + 1)
