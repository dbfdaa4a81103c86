"""Adopting: taking over a machine that already runs what it should run.

Nothing is written to it. Its interfaces must accept the node as it is, and the deploy interface sets up on this host
what a deployment would have set up.
"""

from ironic.conductor.flows import power
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.task import Task


def start(task: Task) -> None:
    """Accept a request to adopt the machine."""
    task.process_event("adopt", callback=_run, call_args=(task,))


def _run(task: Task) -> None:
    answer = attempt(task, _adopt)
    if isinstance(answer, Failed):
        task.finish("fail", last_error=f"Adopting node {task.node.uuid} failed: {answer.reason}")
    else:
        task.finish("done")


def _adopt(task: Task) -> None:
    power.read(task)
    for kind in ("boot", "deploy"):
        task.driver.require(kind).validate(task)
    task.deploy.take_over(task)
