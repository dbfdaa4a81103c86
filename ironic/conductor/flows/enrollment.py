"""Enrolling a machine: verify checks the first contact with its BMC, adopt takes over one that is already in use.

To verify a node, its power interface must reach the machine; then every verify step runs, even if others fail. A
failure leads back to enroll with a reason. No progress is stored: verifying starts from the beginning. Source:
doc/contract/steps.md#verifying.

Adopting writes nothing to the machine's disks. The deploy interface is found as for a deployment, has to accept what
the instance needs from then on, and sets up on this host what a deployment would have set up. Volumes are attached
last, as nothing would detach those of a machine that is on.
"""

from typing import Final

from ironic.conductor.flows import deploying, engine, power_requests
from ironic.conductor.flows.driver_steps import offered_steps
from ironic.conductor.flows.engine import Operation, bind
from ironic.conductor.tasks import TaskManager
from ironic.conf import CONF
from ironic.core.flows import flow, states
from ironic.core.flows.steps import Step, automated_plan
from ironic.core.memory import own_values
from ironic.core.patience import no_longer_than
from ironic.drivers.nodes import volumes


def start_verifying(task: TaskManager) -> None:
    """Accept a request to manage an enrolled node."""
    task.process_event("manage", callback=engine.begin, call_args=(task, VERIFY))


def _plan_verification(task: TaskManager, complete: bool) -> list[Step]:
    overrides = {name: value for given in CONF.conductor.verify_step_priority_override for name, value in given.items()}
    return automated_plan("verify", offered_steps(task, "verify"), overrides)


def _first_contact(task: TaskManager) -> None:
    with no_longer_than(CONF.bmc.verify_timeout):
        power_requests.read(task)


VERIFY: Final = bind(
    Operation(flow=flow.VERIFY, prepare=_first_contact, plan=_plan_verification, refreshes_at_end=True)
)


def start_adopting(task: TaskManager) -> None:
    """Accept a request to adopt the machine."""
    task.process_event("adopt", callback=engine.begin, call_args=(task, ADOPT))


def _adopt(task: TaskManager) -> None:
    power_requests.read(task)
    # As a deployment begins, also after an adoption that failed.
    deploying.restore_interface(task)
    task.deploy.switch_for_adoption(task)
    task.load_driver()
    task.deploy.validate_adoption(task)
    task.deploy.take_over(task)
    # Those of a machine that is off are attached when it is switched on, as for any active node.
    if task.node.power_state != states.POWER_OFF:
        volumes.attach(task)


def _give_up(task: TaskManager) -> None:
    own_values.take_back(task.node, "instance_info")
    deploying.restore_interface(task)


ADOPT: Final = bind(Operation(flow=flow.ADOPT, act=_adopt, clean_up=_give_up))
