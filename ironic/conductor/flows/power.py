"""A user's power change, which goes on in the background; and what the machine's power is."""

from ironic.conductor import power
from ironic.conductor.answering import answers
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.moves import shortened
from ironic.conductor.task import Task
from ironic.core import node_rules, states
from ironic.core.errors import InvalidParameterValue, PowerStateFailure


@answers
def change_node_power_state(task: Task, target: str, timeout: int | None) -> None:
    """Accept a user's power change, or refuse it; it goes on in the background."""
    _check(task, target)
    node = task.node
    task.spawn_after(_finish, task, target, timeout)
    task.set_spawn_error_hook(_not_started, task, target)
    node.target_power_state, node.last_error = states.POWER_TARGET[target], None
    node.save()


def read(task: Task) -> None:
    """Take over the machine's power state as it is; the caller saves the node."""
    task.node.power_state = task.validated(task.power).get_power_state(task)
    if task.node.power_state == "error":
        raise PowerStateFailure(target="any state", reason="the BMC reports an error as power state")


def _check(task: Task, target: str) -> None:
    node = task.node
    node_rules.check_power(node, target)
    supported = task.validated(task.power).get_supported_power_states(task)
    if target not in supported:
        raise InvalidParameterValue(
            err=f"The power interface of node {node.uuid} can't do '{target}'. It can do: {', '.join(supported)}."
        )


def _finish(task: Task, target: str, timeout: int | None) -> None:
    """Do a user's power change on a worker."""
    answer = attempt(task, Task.change_power, target, timeout)
    if isinstance(answer, Failed):
        task.node.last_error = shortened(power.failure_text(target, answer.reason))
    task.save_and_release()


def _not_started(error: BaseException, task: Task, target: str) -> None:
    task.node.target_power_state = None
    task.node.last_error = shortened(power.failure_text(target, str(error)))
    power.note_failure(task, target, str(error))
