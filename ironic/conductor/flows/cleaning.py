"""Cleaning: automated before a machine is offered, manual when a user hands in a list.

Both are one flow; what differs is where the plan comes from and where the node goes at the end. Sources: demands S42
to S63, facts/steps.yaml. A rebuild is not cleaned (S58).
"""

from typing import Any, Final

from ironic.conductor.flows import agent_link, engine, power, requested
from ironic.conductor.flows.catalogue import offered_steps
from ironic.conductor.flows.flow import Flow
from ironic.conductor.flows.progress import Progress
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import states
from ironic.core.errors import CleanStepFailed, NodeCleaningFailure
from ironic.core.steps import Step, automated_plan


def start_automated(task: Task) -> None:
    """Accept a request to clean a node and offer it."""
    _validate(task)
    task.process_event("provide", callback=run_automated, call_args=(task,))


def start_manual(task: Task, clean_steps: list[dict[str, Any]], disable_ramdisk: bool = False) -> None:
    """Accept a user's list of clean steps; the node is manageable again afterwards."""
    _validate(task)
    agent_link.forget(task.node)
    requested.accept(task, CLEAN, clean_steps, disable_ramdisk=disable_ramdisk)
    task.process_event("clean", callback=engine.begin, call_args=(task, CLEAN), target_state=states.MANAGEABLE)


def run_automated(task: Task) -> None:
    """Clean the node, which is in state cleaning, or let it pass when that is switched off (S42)."""
    agent_link.forget(task.node)
    Progress(task.node, CLEAN).begin()
    if is_wanted(task):
        engine.begin(task, CLEAN)
    else:
        task.finish(_done_event(task))


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


def _prepare(task: Task) -> Any:
    if not Progress(task.node, CLEAN).uses_ramdisk:
        return None
    return task.driver.require("deploy").prepare_cleaning(task)


def _plan(task: Task, complete: bool) -> list[Step]:
    if Progress(task.node, CLEAN).asked is not None:
        return requested.plan(task, CLEAN, complete)
    return automated_steps(task)


def automated_steps(task: Task) -> list[Step]:
    """Return what automated cleaning of this node would run, in order."""
    overrides = {name: value for given in CONF.conductor.clean_step_priority_override for name, value in given.items()}
    return automated_plan("clean", offered_steps(task, "clean"), overrides, CONF.api.disallow_clean_steps)


def _tear_down(task: Task) -> None:
    try:
        if Progress(task.node, CLEAN).uses_ramdisk:
            task.driver.require("deploy").tear_down_cleaning(task)
    finally:
        agent_link.forget(task.node)


def _give_up(task: Task) -> None:
    """Clear up after a failure; the machine stays on unless the operator wants it otherwise (S55)."""
    _tear_down(task)
    if CONF.conductor.poweroff_in_cleanfail and not task.node.disable_power_off:
        power.change(task, states.POWER_OFF)


def _done_event(task: Task) -> str:
    return "manage" if task.node.target_provision_state == states.MANAGEABLE else "done"


CLEAN: Final = Flow(
    name="clean",
    waiting=states.CLEANWAIT,
    topic="cleaning",
    gerund="cleaning",
    column="clean_step",
    asked_key="clean_steps",
    no_ramdisk_key="cleaning_disable_ramdisk",
    starts_over=True,
    failure=NodeCleaningFailure,
    step_failure=CleanStepFailed,
    prepare=_prepare,
    plan=_plan,
    tear_down=_tear_down,
    give_up=_give_up,
    done_event=_done_event,
)
