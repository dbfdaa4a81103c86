"""Cleaning: automated before a machine is offered, manual when a user hands in a list.

Both are one flow; what differs is where the plan comes from and where the node goes at the end. Sources: demands S42
to S63, doc/contract/steps.md#order. A rebuild is not cleaned (S58).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from ironic.conductor.flows import cleaning_runbooks, engine, requested
from ironic.conductor.flows.catalogue import offered_steps
from ironic.conductor.flows.operation import Failure, Operation, bind
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.flows.ramdisk_work import RamdiskWork
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import flow, states
from ironic.core.step_cursor import StepCursor
from ironic.core.steps import Step, automated_plan, parse_all, requested_plan
from ironic.drivers import agent_link


def start_automated(task: Task) -> None:
    """Accept a request to clean a node and offer it."""
    _validate(task)
    if is_wanted(task):
        cleaning_runbooks.chosen(task)
    task.process_event("provide", callback=run_automated, call_args=(task,))


def start_manual(task: Task, clean_steps: Sequence[Mapping[str, object]], disable_ramdisk: bool = False) -> None:
    """Accept a user's list of clean steps; the node is manageable again afterwards."""
    _validate(task)
    agent_link.begin_anew(task.node)
    requested.accept(task, flow.CLEAN, clean_steps, disable_ramdisk=disable_ramdisk)
    task.process_event("clean", callback=engine.begin, call_args=(task, CLEAN), target_state=states.MANAGEABLE)


def run_automated(task: Task) -> None:
    """Clean the node, which is in state cleaning, or let it pass when that is switched off (S42)."""
    agent_link.begin_anew(task.node)
    StepCursor.begun(flow.CLEAN).put(task.node)
    if not is_wanted(task):
        task.finish(_done_event(task))
        return
    answer = attempt(task, _follow_runbook)
    if isinstance(answer, Failed):
        engine.fail(task, CLEAN, Failure(answer.reason, is_fault=False, is_prepared=False))
    else:
        engine.begin(task, CLEAN)


def _follow_runbook(task: Task) -> None:
    """Take the steps from a runbook, as if a user had asked for them, if the operator wants that."""
    book = cleaning_runbooks.chosen(task)
    if book is not None:
        requested.accept(task, flow.CLEAN, book.steps, disable_ramdisk=book.disable_ramdisk)


def is_wanted(task: Task) -> bool:
    """Tell whether the node is cleaned before it is offered; its own word wins over the option."""
    own: bool | None = task.node.automated_clean
    return CONF.conductor.automated_clean if own is None else own


def target(task: Task) -> str:
    """Return where automated cleaning leads: a retired node is not offered again."""
    return states.MANAGEABLE if task.node.retired else states.AVAILABLE


def _validate(task: Task) -> None:
    for kind in ("power", "network"):
        task.driver.require(kind).validate(task)


def _plan(task: Task, complete: bool) -> list[Step]:
    if StepCursor.of(task.node, flow.CLEAN).asked is not None:
        return requested.plan(task, flow.CLEAN, complete)
    return _generated(task)


def automated_steps(task: Task) -> list[Step]:
    """Return what automated cleaning of this node would run, in order."""
    book = cleaning_runbooks.chosen(task)
    if book is None:
        return _generated(task)
    return requested_plan(
        offered_steps(task, "clean"), parse_all(book.steps), disable_ramdisk=book.disable_ramdisk, complete=False
    )


def _generated(task: Task) -> list[Step]:
    """Return the steps of the drivers and of the agent, as far as that is known."""
    overrides = {name: value for given in CONF.conductor.clean_step_priority_override for name, value in given.items()}
    return automated_plan("clean", offered_steps(task, "clean"), overrides, CONF.api.disallow_clean_steps)


def _done_event(task: Task) -> str:
    return "manage" if task.node.target_provision_state == states.MANAGEABLE else "done"


_MACHINE: Final = RamdiskWork(flow.CLEAN, "poweroff_in_cleanfail", agent_link.leave)

CLEAN: Final = bind(
    Operation(
        flow=flow.CLEAN,
        prepare=_MACHINE.prepare,
        plan=_plan,
        tear_down=_MACHINE.tear_down,
        give_up=_MACHINE.give_up,
        done_event=_done_event,
    )
)
