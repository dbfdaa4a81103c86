"""Tearing down: remove an instance from its machine, then clean the machine.

The user's part ends when cleaning starts (S65): a failure before that is state error, a failure of cleaning is the
operator's. By then all that belonged to the instance is removed from the node.
"""

from typing import Final

from ironic.conductor import consoles
from ironic.conductor.flows import cleaning, deploying, engine
from ironic.conductor.flows.engine import Failure, Operation, bind
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.tasks import TaskManager
from ironic.core.flows import flow
from ironic.core.flows.flow import RESCUE, UNRESCUE
from ironic.core.flows.step_cursor import StepCursor
from ironic.core.memory import own_values
from ironic.core.memory.agent_memory import AgentMemory
from ironic.drivers.contract import waits
from ironic.drivers.contract.task import Waiter
from ironic.drivers.nodes import secure_boot

# The ramdisk of a rescue may have left files or networks behind in these states.
_RESCUED: Final = frozenset({RESCUE.done, RESCUE.waiting, RESCUE.failed, UNRESCUE.failed})

TEAR_DOWN: Final = bind(Operation(flow=flow.TEAR_DOWN))


def start(task: TaskManager) -> None:
    """Accept a request to remove the instance."""
    # The deploy interface is not validated: an instance must be removable also when its image is gone.
    task.power.validate(task)
    was_rescued = task.node.provision_state in _RESCUED
    task.process_event("delete", callback=_run, call_args=(task, was_rescued))


def _run(task: TaskManager, was_rescued: bool) -> None:
    """Remove the instance from the machine and from the node, then clean the machine."""

    def remove(task: TaskManager) -> None:
        consoles.close_for_tear_down(task)
        if was_rescued:
            task.rescue.clean_up(task)
        deploying.tear_down(task)
        task.deploy.clean_up(task)
        if task.node.secure_boot:
            # The boot interface has not turned it off.
            secure_boot.turn_off(task)
        deploying.restore_interface(task)

    with waits.waiting(task, Waiter.NO_ONE):
        answer = attempt(task, remove)
    if isinstance(answer, Failed):
        engine.fail(task, TEAR_DOWN, Failure(answer.reason))
        return
    had_allocation = task.node.allocation_id is not None

    def write(_connection: object) -> None:
        _forget_instance(task)
        task.store.volume_targets.delete_of(task.node.id)
        if had_allocation:
            task.store.allocations.delete_of(task.node.id)
        task.process_event("clean", target_state=cleaning.target(task))

    task.store.run(write, repeatable=True)
    cleaning.run_automated(task)


def _forget_instance(task: TaskManager) -> None:
    node = task.node
    node.instance_uuid = node.instance_name = None
    own_values.take_back(node, "instance_info")
    node.instance_info = {}
    node.allocation_id = None
    deploying.end_lease(task)
    AgentMemory(node).forget()
    for kept in flow.FLOWS:
        StepCursor(flow=kept).put(node)
