"""Servicing: a user's list of steps on a machine that is in use; whatever happens, the instance stays.

A list that is refused takes the node into maintenance too, as clients know it. Source: facts/steps.yaml.
"""

from typing import Any, Final

from ironic.conductor.flows import agent_link, engine, power, requested
from ironic.conductor.flows.flow import Flow
from ironic.conductor.flows.progress import Progress
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import states
from ironic.core.errors import NodeServicingFailure
from ironic.core.steps import Step


def start(task: Task, service_steps: list[dict[str, Any]], disable_ramdisk: bool = False) -> None:
    """Accept a user's list of service steps."""
    for kind in ("power", "network"):
        task.driver.require(kind).validate(task)
    agent_link.forget(task.node)
    requested.accept(task, SERVICE, service_steps, disable_ramdisk=disable_ramdisk)
    task.process_event("service", callback=engine.begin, call_args=(task, SERVICE))


def _prepare(task: Task) -> Any:
    if not Progress(task.node, SERVICE).uses_ramdisk:
        return None
    return task.driver.require("deploy").prepare_service(task)


def _plan(task: Task, complete: bool) -> list[Step]:
    return requested.plan(task, SERVICE, complete)


def _tear_down(task: Task) -> None:
    try:
        if Progress(task.node, SERVICE).uses_ramdisk:
            task.driver.require("deploy").tear_down_service(task)
    finally:
        agent_link.forget(task.node)


def _give_up(task: Task) -> None:
    _tear_down(task)
    if CONF.conductor.poweroff_in_servicefail and not task.node.disable_power_off:
        power.change(task, states.POWER_OFF)


SERVICE: Final = Flow(
    name="service",
    waiting=states.SERVICEWAIT,
    topic="servicing",
    gerund="servicing",
    column="service_step",
    asked_key="service_steps",
    no_ramdisk_key="service_disable_ramdisk",
    failure=NodeServicingFailure,
    blames_refusals=True,
    prepare=_prepare,
    plan=_plan,
    tear_down=_tear_down,
    give_up=_give_up,
)
