"""Tearing down: taking an instance off its machine, then cleaning the machine.

The user's part is over when cleaning begins (S65): a failure before that is state error, a failure of cleaning is the
operator's. What belonged to the instance is gone from the node by then.
"""

from typing import Final

from ironic.conductor.flows import cleaning, deploying, engine
from ironic.conductor.flows.operation import Failure, Operation, bind
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.task import Task
from ironic.core import flow
from ironic.core.agent_memory import AgentMemory
from ironic.core.flow import RESCUE, UNRESCUE
from ironic.core.step_cursor import StepCursor


def start(task: Task) -> None:
    """Accept a request to remove the instance."""
    # What was to be deployed is not looked at: an instance must go also when its image has gone.
    task.power.validate(task)
    was_rescued = task.node.provision_state in _RESCUED
    task.process_event("delete", callback=_run, call_args=(task, was_rescued))


# The ramdisk of a rescue may have left something behind in these.
_RESCUED: Final = frozenset({RESCUE.done, RESCUE.waiting, RESCUE.failed, UNRESCUE.failed})

TEAR_DOWN: Final = bind(Operation(flow=flow.TEAR_DOWN))


def _run(task: Task, was_rescued: bool) -> None:
    answer = attempt(task, _remove, was_rescued)
    if isinstance(answer, Failed):
        engine.fail(task, TEAR_DOWN, Failure(answer.reason))
        return
    had_allocation = task.node.allocation_id is not None
    task.store.run(lambda _: _begin_cleaning(task, had_allocation), repeatable=True)
    cleaning.run_automated(task)


def _begin_cleaning(task: Task, had_allocation: bool) -> None:
    _forget_instance(task)
    if had_allocation:
        task.store.allocations.delete_of(task.node.id)
    task.process_event("clean", target_state=cleaning.target(task))


def _remove(task: Task, was_rescued: bool) -> None:
    if was_rescued:
        task.rescue.clean_up(task)
    deploy = task.deploy
    deploy.tear_down(task)
    deploy.clean_up(task)
    deploying.restore_interface(task)


def _forget_instance(task: Task) -> None:
    node = task.node
    node.instance_uuid = node.instance_name = None
    node.instance_info = {}
    node.allocation_id = None
    AgentMemory(node).forget()
    for kept in flow.FLOWS:
        StepCursor(flow=kept).put(node)
