"""Which steps a node offers.

Every interface that a flow asks is asked three times: for the steps of an agent that it passes on, for what its class
decorates, both of which a user may name even when switched off, and for what it says about this very node, where an
operator's options speak.
"""

from typing import Any

from ironic.conductor.task import Task
from ironic.core.steps import INTERFACES, Key, Step


def offered_steps(task: Task, flow: str) -> list[Step]:
    """Return the steps of a node's interfaces for one flow, disabled ones included."""
    found: dict[Key, Step] = {}
    for kind in INTERFACES[flow]:
        implementation = getattr(task.driver, kind, None)
        if implementation is not None:
            found |= {step.key: step for step in _steps_of(task, implementation, flow)}
    return list(found.values())


def _steps_of(task: Task, implementation: Any, flow: str) -> list[Step]:
    of_agent = [Step.parse(step) for step in implementation.agent_steps(task, flow)]
    declared = [Step.parse(step) for step in implementation.all_steps(flow)]
    of_this_node = [Step.parse(step) for step in getattr(implementation, f"get_{flow}_steps")(task) or ()]
    return [*of_agent, *declared, *of_this_node]
