"""Adopting: taking over a machine that already runs what it should run.

Nothing is written to it. Its interfaces must accept the node as it is, and the deploy interface sets up on this host
what a deployment would have set up.
"""

from typing import Final

from ironic.conductor.flows import engine, power
from ironic.conductor.flows.operation import Operation, bind
from ironic.conductor.task import Task
from ironic.core import flow


def start(task: Task) -> None:
    """Accept a request to adopt the machine."""
    task.process_event("adopt", callback=engine.begin, call_args=(task, ADOPT))


def _adopt(task: Task) -> None:
    power.read(task)
    task.boot.validate(task)
    task.deploy.validate(task)
    task.deploy.take_over(task)


ADOPT: Final = bind(Operation(flow=flow.ADOPT, act=_adopt))
