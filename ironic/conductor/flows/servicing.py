"""Servicing: a user's list of steps on a machine that is in use; whatever happens, the instance stays.

A list that is refused takes the node into maintenance too, as clients know it. Source: doc/contract/steps.md#servicing.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ironic.conductor.flows import engine, requested
from ironic.conductor.flows.operation import Operation, bind
from ironic.conductor.flows.ramdisk_work import RamdiskWork
from ironic.conductor.task import Task
from ironic.core import flow
from ironic.core.agent_memory import AgentMemory
from ironic.core.steps import Step

if TYPE_CHECKING:
    from ironic.db import NodeRecord


def start(task: Task, service_steps: Sequence[Mapping[str, object]], disable_ramdisk: bool = False) -> None:
    """Accept a user's list of service steps."""
    for kind in ("power", "network"):
        task.driver.require(kind).validate(task)
    AgentMemory(task.node).forget()
    requested.accept(task, flow.SERVICE, service_steps, disable_ramdisk=disable_ramdisk)
    task.process_event("service", callback=engine.begin, call_args=(task, SERVICE))


def _plan(task: Task, complete: bool) -> list[Step]:
    return requested.plan(task, flow.SERVICE, complete)


def _forget_agent(node: "NodeRecord") -> None:
    AgentMemory(node).forget()


_MACHINE: Final = RamdiskWork(flow.SERVICE, "poweroff_in_servicefail", _forget_agent)

SERVICE: Final = bind(
    Operation(
        flow=flow.SERVICE,
        prepare=_MACHINE.prepare,
        plan=_plan,
        tear_down=_MACHINE.tear_down,
        give_up=_MACHINE.give_up,
    )
)
