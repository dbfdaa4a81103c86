"""Enrolling a machine: verify checks the first contact with its BMC, adopt takes over one that is already in use.

To verify a node, its power interface must reach the machine; then every verify step runs, even if others fail. A
failure leads back to enroll with a reason. No progress is stored: verifying starts from the beginning. Source:
doc/contract/steps.md#verifying.

Adopting writes nothing to the machine. Its interfaces must accept the node as it is, and the deploy interface sets up
on this host what a deployment would have set up.
"""

from typing import Final

from ironic.conductor.flows import engine, power_action
from ironic.conductor.flows.driver_steps import offered_steps
from ironic.conductor.flows.engine import Operation, bind
from ironic.conductor.tasks import TaskManager
from ironic.conf import CONF
from ironic.core import flow
from ironic.core.patience import no_longer_than
from ironic.core.steps import Step, automated_plan


def start_verifying(task: TaskManager) -> None:
    """Accept a request to manage an enrolled node."""
    task.process_event("manage", callback=engine.begin, call_args=(task, VERIFY))


def _plan_verification(task: TaskManager, complete: bool) -> list[Step]:
    overrides = {name: value for given in CONF.conductor.verify_step_priority_override for name, value in given.items()}
    return automated_plan("verify", offered_steps(task, "verify"), overrides)


def _first_contact(task: TaskManager) -> None:
    with no_longer_than(CONF.bmc.verify_timeout):
        power_action.read(task)


VERIFY: Final = bind(
    Operation(flow=flow.VERIFY, prepare=_first_contact, plan=_plan_verification, refreshes_at_end=True)
)


def start_adopting(task: TaskManager) -> None:
    """Accept a request to adopt the machine."""
    task.process_event("adopt", callback=engine.begin, call_args=(task, ADOPT))


def _adopt(task: TaskManager) -> None:
    power_action.read(task)
    task.boot.validate(task)
    task.deploy.validate(task)
    task.deploy.take_over(task)


ADOPT: Final = bind(Operation(flow=flow.ADOPT, act=_adopt))
