"""Servicing: a user's list of steps on a machine that is in use; the instance stays, even after a failure.

A refused list takes the node into maintenance too, because clients expect that. Source:
doc/contract/steps.md#servicing.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from ironic.conductor.flows import engine, step_list
from ironic.conductor.flows.engine import Operation, bind
from ironic.conductor.flows.step_list import RamdiskWork
from ironic.conductor.tasks import TaskManager
from ironic.core.flows import flow
from ironic.core.memory.agent_memory import AgentMemory


def start(task: TaskManager, service_steps: Sequence[Mapping[str, object]], disable_ramdisk: bool = False) -> None:
    """Accept a user's list of service steps."""
    for kind in ("power", "network"):
        task.driver.require(kind).validate(task)
    if not disable_ramdisk:
        task.deploy.validate_ramdisk(task)
    AgentMemory(task.node).forget()
    step_list.accept_steps(task, flow.SERVICE, service_steps, disable_ramdisk=disable_ramdisk)
    task.process_event("service", callback=engine.begin, call_args=(task, SERVICE))


_RAMDISK: Final = RamdiskWork(flow.SERVICE, "poweroff_in_servicefail", lambda node: AgentMemory(node).forget())

SERVICE: Final = bind(
    Operation(
        flow=flow.SERVICE,
        prepare=_RAMDISK.prepare,
        plan=lambda task, complete: step_list.plan_accepted(task, flow.SERVICE, complete),
        tear_down=_RAMDISK.tear_down,
        clean_up=_RAMDISK.clean_up,
        refreshes_at_start=True,
        refreshes_at_end=True,
    )
)
