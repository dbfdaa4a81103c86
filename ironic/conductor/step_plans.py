"""The plan of a cleaning that nobody has started yet, for people who want to know what would happen (S59).

It is what the flow would make of the node as it stands. The steps of an agent are known only while an agent runs, so
those shown here are the ones it named last, and ``source`` says when that was.
"""

from ironic.conductor.answering import answers
from ironic.conductor.flows import cleaning
from ironic.conductor.task import Task
from ironic.core.agent_memory import KnownAgent
from ironic.core.steps import Step


@answers
def cleaning_steps(task: Task) -> dict[str, object]:
    """Return the steps of automated cleaning in order, and per interface since when its agent's steps are known."""
    steps = cleaning.automated_steps(task)
    return {"steps": [step.as_dict() for step in steps], "source": _sources(task, steps)}


def _sources(task: Task, steps: list[Step]) -> dict[str, object]:
    """An interface whose steps are part of the code has no age."""
    agent = KnownAgent(task.node.driver_internal_info)
    return {
        kind: {"cached_at": agent.steps_refreshed_at("clean") if kind in agent.steps("clean") else None}
        for kind in dict.fromkeys(step.interface for step in steps)
    }
