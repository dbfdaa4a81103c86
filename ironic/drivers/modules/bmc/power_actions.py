"""Changes of power by a BMC: one action for each target, which ends when the machine is in the state."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Final

from ironic.conf import CONF
from ironic.core.clock import FIRST_PAUSE
from ironic.core.errors import InvalidParameterValue, PowerStateFailure
from ironic.core.errors.hardware_errors import DriverOperationError
from ironic.core.flows import states
from ironic.drivers.contract.interfaces import PowerInterface
from ironic.drivers.contract.task import ODD_POWER, SHUTS_DOWN, Task, Waiter

_POLL_SECONDS: Final = 1.0
# Some systems shut down so fast.
_SHUTDOWN_SECONDS: Final = 5.0


# Changes the power within a time in seconds, None for the usual one.
Action = Callable[[Task, int | None], None]


class ActionPower(PowerInterface):
    """Base of power interfaces that have an action for each target."""

    @property
    @abstractmethod
    def actions(self) -> Mapping[str, Action]:
        """The actions by target; they may raise DriverOperationError."""

    def set_power_state(self, task: Task, power_state: str, timeout: int | None = None) -> None:
        action = self.actions.get(power_state)
        if action is None:
            raise InvalidParameterValue(err=f"Node {task.node.uuid} has no power state {power_state!r}.")
        try:
            action(task, timeout)
        except DriverOperationError as error:
            raise PowerStateFailure(node=task.node.uuid, target=power_state, reason=error) from error

    def reboot(self, task: Task, timeout: int | None = None) -> None:
        self.set_power_state(task, states.REBOOT, timeout)

    def get_supported_power_states(self, task: Task) -> list[str]:
        return list(self.actions)


def await_power(task: Task, address: str, target: str, is_there: Callable[[], bool], timeout: int | None) -> None:
    """Return when ``is_there`` is true; raise PowerStateFailure after so many seconds (None: as configured)."""
    seconds = timeout or CONF.conductor.power_state_change_timeout
    _wait(task, address, target, is_there, seconds, seconds)


def await_shutdown(task: Task, address: str, is_off: Callable[[], bool], timeout: int | None) -> None:
    """Return when the operating system has switched the machine off, or note that it goes on, as `shuts_down` says.

    The conductor ends the change then.
    """
    seconds = timeout or CONF.conductor.soft_power_off_timeout
    moment = min(_SHUTDOWN_SECONDS, seconds)
    if not task.clock.until(is_off, timeout=moment, interval=_POLL_SECONDS, first=FIRST_PAUSE):
        if task.waiter is Waiter.REQUEST:
            task.notes.put(SHUTS_DOWN, seconds - moment)
            return
        _wait(task, address, states.POWER_OFF, is_off, seconds - moment, seconds)


def shuts_down(task: Task) -> bool:
    """Return whether the machine still shuts down after `await_shutdown`."""
    return task.notes.get(SHUTS_DOWN) is not None


def _wait(task: Task, address: str, target: str, is_there: Callable[[], bool], left: float, seconds: int) -> None:
    if not task.clock.until(is_there, timeout=left, interval=_POLL_SECONDS, first=FIRST_PAUSE):
        odd = task.notes.get(ODD_POWER)
        said = "" if odd is None else f"; in place of on or off it says {odd!r}"
        raise PowerStateFailure(
            node=task.node.uuid,
            target=target,
            reason=f"BMC {address} of node {task.node.uuid} accepted the request, but did not report {target!r} within "
            f"{seconds} seconds{said}. Check the machine, or allow it more time.",
        )
