"""Functions of plug-ins that run after a step of the agent has succeeded, one list for the process."""

from collections import defaultdict
from collections.abc import Callable
from typing import Final, TypeVar

from ironic.drivers.contract.task import Task
from ironic.drivers.modules.agent.agent_client import Command

Hook = Callable[[Task, dict[str, object]], object]
H = TypeVar("H", bound=Hook)

_HOOKS: Final[defaultdict[tuple[str, str, str], list[Hook]]] = defaultdict(list)


def after(flow: str, interface: str, step: str) -> Callable[[H], H]:
    """Return a decorator of functions that get the task and the agent's command (`Command.document`) after a step.

    A function that is registered again runs once.
    """

    def register(hook: H) -> H:
        if hook not in (hooks := _HOOKS[flow, interface, step]):
            hooks.append(hook)
        return hook

    return register


def run(task: Task, flow: str, interface: str, step: str, command: Command) -> None:
    """Call the functions of a step in the order of their registration; what one raises fails the step."""
    for hook in _HOOKS.get((flow, interface, step), ()):
        hook(task, command.document())
