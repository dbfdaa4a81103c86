"""Wait until a machine has reached the power state that its BMC was asked for."""

from collections.abc import Callable
from typing import Final

from ironic.conf import CONF
from ironic.core import states
from ironic.core.errors import PowerStateFailure
from ironic.drivers import awaited_shutdown
from ironic.drivers.interruptible_wait import FIRST_PAUSE, until
from ironic.drivers.task import Task

_POLL_SECONDS: Final = 1.0
# Some systems shut down so fast.
_SHUTDOWN_SECONDS: Final = 5.0


def await_power(task: Task, address: str, target: str, is_there: Callable[[], bool], timeout: int | None) -> None:
    """Return when ``is_there`` is true; raise PowerStateFailure after so many seconds (None: as configured)."""
    seconds = timeout or CONF.conductor.power_state_change_timeout
    _wait(task, address, target, is_there, seconds, seconds)


def await_shutdown(task: Task, address: str, is_off: Callable[[], bool], timeout: int | None) -> None:
    """Return when the operating system has switched the machine off, or leave that to the conductor."""
    seconds = timeout or CONF.conductor.soft_power_off_timeout
    moment = min(_SHUTDOWN_SECONDS, seconds)
    if not until(is_off, timeout=moment, interval=_POLL_SECONDS, first=FIRST_PAUSE):
        awaited_shutdown.suspend(seconds - moment)
        _wait(task, address, states.POWER_OFF, is_off, seconds - moment, seconds)


def _wait(task: Task, address: str, target: str, is_there: Callable[[], bool], left: float, seconds: int) -> None:
    if not until(is_there, timeout=left, interval=_POLL_SECONDS, first=FIRST_PAUSE):
        raise PowerStateFailure(
            node=task.node.uuid,
            target=target,
            reason=f"BMC {address} of node {task.node.uuid} accepted the request, but did not report {target!r} within "
            f"{seconds} seconds. Check the machine, or allow it more time.",
        )
