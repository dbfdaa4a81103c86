"""Verifying: the first contact with a machine.

Its power interface must be able to reach it; then every verify step runs, whatever becomes of the others. A failure
leads back to enroll with a reason. Nothing of it is kept: verifying starts over. Source:
doc/contract/steps.md#verifying.
"""

from typing import Final

from ironic.conductor.flows import engine, power
from ironic.conductor.flows.catalogue import offered_steps
from ironic.conductor.flows.operation import Operation, bind
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import flow
from ironic.core.steps import Step, automated_plan


def start(task: Task) -> None:
    """Accept an enrolled node for management."""
    task.process_event("manage", callback=engine.begin, call_args=(task, VERIFY))


def _plan(task: Task, complete: bool) -> list[Step]:
    overrides = {name: value for given in CONF.conductor.verify_step_priority_override for name, value in given.items()}
    return automated_plan("verify", offered_steps(task, "verify"), overrides)


VERIFY: Final = bind(Operation(flow=flow.VERIFY, prepare=power.read, plan=_plan))
