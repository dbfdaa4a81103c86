"""Power of a fake machine: what the node's record says is what it is."""

from ironic.core import states
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.interfaces import PowerInterface
from ironic.drivers.modules.fake.delay import delay
from ironic.drivers.modules.undemanding import Undemanding
from ironic.drivers.task import Task


class FakePower(Undemanding, PowerInterface):
    """Reaches every power state."""

    def get_power_state(self, task: Task) -> str | None:
        delay("power")
        state: str | None = task.node.power_state
        return state

    def set_power_state(self, task: Task, power_state: str, timeout: int | None = None) -> None:
        if power_state not in states.POWER_TARGET:
            raise InvalidParameterValue(err=f"Node {task.node.uuid} knows no power state {power_state!r}.")
        delay("power")
        task.node.power_state = states.POWER_TARGET[power_state]

    def reboot(self, task: Task, timeout: int | None = None) -> None:
        self.set_power_state(task, states.REBOOT, timeout)

    def get_supported_power_states(self, task: Task) -> list[str]:
        return list(states.POWER_TARGET)
