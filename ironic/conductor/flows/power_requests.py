"""A power action that a user requests: checked at once, carried out on a worker."""

from ironic.conductor import power
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.rpc_method import rpc_method
from ironic.conductor.tasks import TaskManager
from ironic.core import node_rules
from ironic.core.errors import InvalidParameterValue, PowerStateFailure
from ironic.core.flows import node_waits, states
from ironic.drivers.contract import waits
from ironic.drivers.contract.power_reading import odd_state_text
from ironic.drivers.contract.task import Waiter


@rpc_method
def change_node_power_state(task: TaskManager, target: str, timeout: int | None) -> None:
    """Start a power change on a worker, or raise what stands against it; its target is stored at once."""
    node = task.node
    node_rules.check_power(node, target)
    supported = task.validated(task.power).get_supported_power_states(task)
    if target not in supported:
        raise InvalidParameterValue(
            err=f"The power interface of node {node.uuid} can't do '{target}'. Supported: {', '.join(supported)}."
        )

    def change() -> None:
        with waits.waiting(task, Waiter.REQUEST):
            answer = attempt(task, TaskManager.change_power, target, timeout)
        if isinstance(answer, Failed):
            power.set_error(node, power.failure_text(node.uuid, target, answer.reason))
        task.save_and_release()

    def not_started(error: BaseException) -> None:
        node.target_power_state = None
        power.set_error(node, power.failure_text(node.uuid, target, error))
        power.note_failure(task, target, error)

    task.spawn_after(change)
    task.set_spawn_error_hook(not_started)
    node_waits.end(node, power.SHUTDOWN)  # this change replaces it
    node.target_power_state, node.last_error = states.POWER_TARGET[target], None
    node.save()


def read(task: TaskManager) -> None:
    """Set the node's power state as the machine reports it, or raise PowerStateFailure; the caller saves the node."""
    task.node.power_state = task.validated(task.power).get_power_state(task)
    if task.node.power_state == "error":
        raise PowerStateFailure(odd_state_text(task))
