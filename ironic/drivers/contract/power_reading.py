"""The power state of a machine, for those who order something because of it.

A power interface answers "error" for a state that is neither on nor off, and None where it can't know the state. Both
may be shown; neither of them means off.
"""

from typing import Final

from ironic.core.bmc_readings import KNOWN
from ironic.core.errors import PowerStateFailure
from ironic.core.texts.syntax import plain_text
from ironic.drivers.contract.task import ODD_POWER, Task

_LONGEST_SAID: Final = 200


def certain_power(task: Task, target: str) -> str:
    """Return "power on" or "power off" as the machine reports it; raise PowerStateFailure when it reports neither.

    ``target`` is the state that the machine may have to be brought to.
    """
    if (state := known_power(task, target)) is None:
        raise _not_ordered(task, target, "its power interface does not know the power state")
    return state


def known_power(task: Task, target: str) -> str | None:
    """Return the power state as `certain_power` does, but None where the power interface can't know it.

    For an order that is harmless in the state that it leads to, and that nothing takes back afterwards.
    """
    state = task.power.get_power_state(task)
    if state is not None and state not in KNOWN:
        raise _not_ordered(task, target, odd_state_text(task))
    return state


def _not_ordered(task: Task, target: str, why: str) -> PowerStateFailure:
    uuid = task.node.uuid
    reason = f"nothing was ordered of node {uuid}, as {why}; look at its BMC, or switch its power on or off"
    return PowerStateFailure(node=uuid, target=target, reason=reason)


def odd_state_text(task: Task) -> str:
    """Return in words that the power interface has just read neither on nor off, with what the BMC said if known."""
    said = task.notes.get(ODD_POWER)
    text = "the BMC reports a power state that is neither on nor off"
    return f"{text}: it says {plain_text(said, _LONGEST_SAID)!r}" if said else text
