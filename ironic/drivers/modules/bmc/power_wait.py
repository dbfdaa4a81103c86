"""Wait until a machine has reached the power state that its BMC was asked for."""

from collections.abc import Callable
from typing import Final

from ironic.conf import CONF
from ironic.core.errors import PowerStateFailure
from ironic.drivers.interruptible_wait import FIRST_PAUSE, until
from ironic.drivers.task import Task

_POLL_SECONDS: Final = 1.0


def await_power(task: Task, address: str, target: str, is_there: Callable[[], bool], timeout: int | None) -> None:
    """Return when ``is_there`` is true; raise PowerStateFailure after so many seconds (None: as configured)."""
    seconds = timeout or CONF.conductor.power_state_change_timeout
    if not until(is_there, timeout=seconds, interval=_POLL_SECONDS, first=FIRST_PAUSE):
        raise PowerStateFailure(
            node=task.node.uuid,
            target=target,
            reason=f"BMC {address} of node {task.node.uuid} accepted the request, but did not report {target!r} within "
            f"{seconds} seconds. Check the machine, or allow it more time.",
        )
