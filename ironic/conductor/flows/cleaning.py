"""Cleaning: automated before a machine is offered, manual with a user's steps, and which runbook or steps apply.

Automated and manual cleaning are one flow; they differ in where the plan comes from and where the node goes at the end.
A rebuild is not cleaned (S58). Sources: demands S42 to S63, doc/contract/steps.md#order.

An operator may have automated cleaning follow a runbook instead of the steps that the drivers offer. Options name it
for all nodes, per resource class, or allow the node's driver_info to name it; the most specific one applies. A named
runbook that can't be used is an error: other steps would surprise the operator. Source:
doc/contract/steps.md#automated-cleaning-by-a-runbook.

``cleaning_steps`` shows users what a cleaning would do now (S59). The steps of an agent are known only while it runs,
so those shown are the ones it named last, and ``source`` has the time of that.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ironic.conductor.flows import engine, step_list
from ironic.conductor.flows.driver_steps import offered_steps
from ironic.conductor.flows.engine import Failure, Operation, bind
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.flows.step_list import RamdiskWork
from ironic.conductor.rpc_method import rpc_method
from ironic.conductor.tasks import TaskManager
from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.resource_errors import InvalidRunbook, RunbookNotFound
from ironic.core.flows import flow, states
from ironic.core.flows.step_cursor import StepCursor
from ironic.core.flows.steps import Step, automated_plan, parse_all, requested_plan
from ironic.core.memory.agent_memory import KnownAgent
from ironic.core.values.user_steps import CLEANING_RUNBOOK_KEY, have_trait_in_common, in_run_order
from ironic.drivers.nodes import fast_track

LOG = logging.getLogger(__name__)


def start_automated(task: TaskManager) -> None:
    """Accept a request to clean a node and offer it; what can't succeed is refused at once.

    That is a runbook that can't be used, or a ramdisk that can't be booted.
    """
    _validate(task)
    if is_wanted(task):
        book = chosen_runbook(task)
        if book is None or not book.disable_ramdisk:
            task.deploy.validate_ramdisk(task)
    task.process_event("provide", callback=run_automated, call_args=(task,))


def start_manual(task: TaskManager, clean_steps: Sequence[Mapping[str, object]], disable_ramdisk: bool = False) -> None:
    """Accept a user's list of clean steps; the node is manageable again afterwards."""
    _validate(task)
    if not disable_ramdisk:
        task.deploy.validate_ramdisk(task)
    fast_track.forget_former_agent(task.node)
    step_list.accept_steps(task, flow.CLEAN, clean_steps, disable_ramdisk=disable_ramdisk)
    task.process_event("clean", callback=_begin, call_args=(task,), target_state=states.MANAGEABLE)


def _begin(task: TaskManager) -> None:
    """Clean the node, which is in state cleaning, by its own interfaces and not by those of an instance."""
    task.load_driver()
    engine.begin(task, CLEAN)


def run_automated(task: TaskManager) -> None:
    """Clean the node, which is in state cleaning, or offer it at once when cleaning is switched off (S42)."""
    task.load_driver()
    fast_track.forget_former_agent(task.node)
    StepCursor.begun(flow.CLEAN).put(task.node)
    if not is_wanted(task):
        task.finish(_done_event(task))
        return

    def accept_runbook(task: TaskManager) -> None:
        """Accept the steps of the runbook, if there is one, as those of a user."""
        book = chosen_runbook(task)
        if book is not None:
            step_list.accept_steps(task, flow.CLEAN, book.steps, disable_ramdisk=book.disable_ramdisk)

    answer = attempt(task, accept_runbook)
    if isinstance(answer, Failed):
        engine.fail(task, CLEAN, Failure(answer.reason, is_fault=False, is_prepared=False))
    else:
        engine.begin(task, CLEAN)


def is_wanted(task: TaskManager) -> bool:
    """Return whether the node is cleaned before it is offered; its own field overrides the option."""
    own: bool | None = task.node.automated_clean
    return CONF.conductor.automated_clean if own is None else own


def target(task: TaskManager) -> str:
    """Return the state after automated cleaning: a retired node is not offered again."""
    return states.MANAGEABLE if task.node.retired else states.AVAILABLE


def _validate(task: TaskManager) -> None:
    for kind in ("power", "network"):
        task.driver.require(kind).validate(task)


def _plan(task: TaskManager, complete: bool) -> list[Step]:
    if StepCursor.of(task.node, flow.CLEAN).asked is not None:
        return step_list.plan_accepted(task, flow.CLEAN, complete)
    return _generated(task)


def automated_steps(task: TaskManager) -> list[Step]:
    """Return the steps that automated cleaning of this node would run, in order."""
    book = chosen_runbook(task)
    if book is None:
        return _generated(task)
    return requested_plan(
        offered_steps(task, "clean"), parse_all(book.steps), disable_ramdisk=book.disable_ramdisk, complete=False
    )


def _generated(task: TaskManager) -> list[Step]:
    """Return the steps of the drivers and of the agent, as far as that is known."""
    overrides = {name: value for given in CONF.conductor.clean_step_priority_override for name, value in given.items()}
    return automated_plan("clean", offered_steps(task, "clean"), overrides, CONF.api.disallow_clean_steps)


def _done_event(task: TaskManager) -> str:
    return "manage" if task.node.target_provision_state == states.MANAGEABLE else "done"


# Which runbook automated cleaning follows

# Values of [conductor]automated_cleaning_step_source.
_DRIVERS: Final = "autogenerated"
_RUNBOOK: Final = "runbook"


@dataclass(frozen=True, slots=True)
class CleaningRunbook:
    """The part of a runbook that cleaning uses."""

    steps: Sequence[dict[str, Any]]
    disable_ramdisk: bool


def chosen_runbook(task: TaskManager) -> CleaningRunbook | None:
    """Return the runbook of this node, None where the drivers' steps are wanted; raises what is wrong with it."""
    options, node = CONF.conductor, task.node
    if options.automated_cleaning_step_source == _DRIVERS:
        return None
    of_class: str | None = options.automated_cleaning_runbook_by_resource_class.get(node.resource_class)
    of_node: str | None = None
    if options.automated_cleaning_runbook_from_node:
        of_node = node.driver_info.get(CLEANING_RUNBOOK_KEY)
    ident = of_node or of_class or options.automated_cleaning_runbook
    if ident is not None:
        return _read_runbook(task, ident)
    if options.automated_cleaning_step_source == _RUNBOOK:
        raise InvalidParameterValue(
            err=f"Node {node.uuid} is to be cleaned by a runbook and no option names one for it. Set "
            "[conductor]automated_cleaning_runbook."
        )
    return None


def _read_runbook(task: TaskManager, ident: str) -> CleaningRunbook:
    """Return a runbook without the steps that no cleaning may run; InvalidRunbook if it doesn't fit the node."""
    runbooks, node = task.store.runbooks, task.node
    try:
        book = runbooks.get(ident)
    except RunbookNotFound:
        raise InvalidRunbook(runbook=ident, node=node.uuid, reason="there is no such runbook") from None
    # Every project can make a runbook of a name that is free, and its managers change it.
    if book.owner not in (None, node.owner):
        reason = "it belongs to another project than the node; use one that is public or has no owner"
        raise InvalidRunbook(runbook=ident, node=node.uuid, reason=reason)
    if CONF.conductor.automated_cleaning_runbook_validate_traits:
        present = task.store.traits.of([node.id])[node.id]
        if not have_trait_in_common(runbooks.traits.of([book.id])[book.id], present):
            raise InvalidRunbook(runbook=book.uuid, node=node.uuid, reason="they have no trait in common")
    steps, left_out = [], []
    for step in in_run_order(runbooks.steps.of([book.id])[book.id]):
        name = f"{step['interface']}.{step['step']}"
        if name in CONF.api.disallow_clean_steps:
            left_out.append(name)
        else:
            steps.append(step)
    if left_out:
        LOG.warning("Node %s: the runbook's steps %s are not allowed and left out", node.uuid, ", ".join(left_out))
    return CleaningRunbook(steps, book.disable_ramdisk)


# What the flow does


_RAMDISK: Final = RamdiskWork(flow.CLEAN, "poweroff_in_cleanfail", fast_track.release_agent)

CLEAN: Final = bind(
    Operation(
        flow=flow.CLEAN,
        prepare=_RAMDISK.prepare,
        plan=_plan,
        tear_down=_RAMDISK.tear_down,
        clean_up=_RAMDISK.clean_up,
        refreshes_at_start=True,
        refreshes_at_end=True,
        done_event=_done_event,
    )
)


@rpc_method
def cleaning_steps(task: TaskManager) -> dict[str, object]:
    """Return the steps of automated cleaning in order, and per interface since when its agent's steps are known."""
    steps = automated_steps(task)
    agent = KnownAgent(task.node.driver_internal_info)
    # An interface whose steps are part of the code has no time.
    source = {
        kind: {"cached_at": agent.steps_refreshed_at("clean") if kind in agent.steps("clean") else None}
        for kind in dict.fromkeys(step.interface for step in steps)
    }
    return {"steps": [step.as_dict() for step in steps], "source": source}
