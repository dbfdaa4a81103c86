"""Which steps a node offers.

Every interface that a flow asks is asked three times: for the steps of an agent that it passes on, for what its class
decorates, both of which a user may name even when switched off, and for what it says about this very node, where an
operator's options speak.
"""

from typing import Any

from ironic.conductor.task import Task
from ironic.core.steps import INTERFACES, Key, Step


def offered_steps(task: Task, flow: str, *, with_agent: bool = True) -> list[Step]:
    """Return the steps of a node's interfaces for one flow, disabled ones included.

    Without the agent's while one is still to come: what is remembered of another says nothing about it.
    """
    found: dict[Key, Step] = {}
    for kind in INTERFACES[flow]:
        implementation = getattr(task.driver, kind, None)
        if implementation is not None:
            found |= {step.key: step for step in _steps_of(task, implementation, flow, with_agent)}
    return list(found.values())


def _steps_of(task: Task, implementation: Any, flow: str, with_agent: bool) -> list[Step]:
    of_agent = [Step.parse(step) for step in implementation.agent_steps(task, flow)]
    declared = [Step.parse(step) for step in implementation.all_steps(flow)]
    of_this_node = [Step.parse(step) for step in implementation.get_steps(flow, task) or ()]
    if with_agent:
        return [*of_agent, *declared, *of_this_node]
    foreign = {step.key for step in of_agent} - {step.key for step in declared}
    return [step for step in (*declared, *of_this_node) if step.key not in foreign]
