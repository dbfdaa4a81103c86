"""The power state of a machine, for those who order something because of it.

A power interface answers "error" for a state that is neither on nor off, and None where it can't know the state. Both
may be shown; neither of them means off.
"""

from typing import Final

from ironic.core.errors import PowerStateFailure
from ironic.core.flows import states
from ironic.core.texts.syntax import plain_text
from ironic.drivers.contract.task import ODD_POWER, Task

_KNOWN: Final = (states.POWER_ON, states.POWER_OFF)
_LONGEST_SAID: Final = 200


def certain_power(task: Task, target: str) -> str:
    """Return "power on" or "power off" as the machine reports it; raise PowerStateFailure when it reports neither.

    ``target`` is the state that the machine may have to be brought to.
    """
    state = task.power.get_power_state(task)
    if state in _KNOWN:
        return str(state)
    said = odd_state_text(task) if state == states.ERROR else "its power interface does not know the power state"
    uuid = task.node.uuid
    raise PowerStateFailure(
        node=uuid,
        target=target,
        reason=f"nothing was ordered of node {uuid}, as {said}; look at its BMC, or switch its power on or off",
    )


def odd_state_text(task: Task) -> str:
    """Return in words that the power interface has just read neither on nor off, with what the BMC said if known."""
    said = task.notes.get(ODD_POWER)
    text = "the BMC reports a power state that is neither on nor off"
    return f"{text}: it says {plain_text(said, _LONGEST_SAID)!r}" if said else text
