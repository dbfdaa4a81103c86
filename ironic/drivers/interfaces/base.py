"""What every interface of a driver has in common: properties, validation and steps.

An implementation is one object per conductor, made without arguments, shared by all nodes and all threads: it keeps
nothing about a node in itself. It takes a task, looks at ``task.node``, ``task.ports`` and its own options, and
remembers things under its own key of ``driver_internal_info``.

A method that a kind of interface does not oblige anybody to have raises UnsupportedDriverExtension here, which users
see as 400. An override without a step decorator is no step any more.
"""

import copy
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ironic.core.errors import InvalidParameterValue, UnsupportedDriverExtension
from ironic.drivers import steps
from ironic.drivers.steps import StepKind
from ironic.drivers.task import Task

LOG = logging.getLogger(__name__)


class BaseInterface(ABC):
    """Root of the thirteen kinds."""

    # Which kind this is: one of the names in ironic.core.interface_kinds.
    interface_type: ClassVar[str] = "base"

    # False makes the conductor warn at start that nobody looks after this implementation any more.
    supported: ClassVar[bool] = True

    _steps: ClassVar[Mapping[StepKind, tuple[dict[str, Any], ...]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._steps = steps.collect(cls)

    @abstractmethod
    def get_properties(self) -> dict[str, str]:
        """Return the names this interface understands in driver_info, each with a sentence for people."""

    @abstractmethod
    def validate(self, task: Task) -> None:
        """Raise InvalidParameterValue or MissingParameterValue when the node lacks what this interface needs.

        It runs while a user waits, so it has to be quick; talking to the machine is allowed, long waits are not.
        """

    # Steps

    def all_steps(self, kind: StepKind) -> list[dict[str, object]]:
        """Return all decorated steps of a kind, disabled ones included, highest priority first.

        This is what a user may ask for by name. An interface whose steps depend on the node (because an agent offers
        them) returns those from the ``get_..._steps`` methods; an engine looks at both.
        """
        found = copy.deepcopy(list(self._steps[kind]))
        return sorted(found, key=lambda step: -step["priority"])

    def get_clean_steps(self, task: Task) -> list[dict[str, object]]:
        """Return the steps of automated cleaning, highest priority first; disabled ones are left out (S44)."""
        return [step for step in self.all_steps("clean") if step["priority"]]

    def get_deploy_steps(self, task: Task) -> list[dict[str, object]]:
        """Return the deploy steps, disabled ones (priority 0) included, for a request may enable them."""
        return self.all_steps("deploy")

    def get_service_steps(self, task: Task) -> list[dict[str, object]]:
        """Return the service steps; none of them runs unless asked for."""
        return self.all_steps("service")

    def get_verify_steps(self, task: Task) -> list[dict[str, object]]:
        """Return the verify steps, disabled ones included."""
        return self.all_steps("verify")

    def agent_steps(self, task: Task, kind: StepKind) -> list[dict[str, object]]:
        """Return the steps of an agent that this interface has it run, disabled ones included; none here.

        A step of the same name that the class decorates goes before.
        """
        return []

    def take_result(self, task: Task, step: Mapping[str, object], result: object) -> None:
        """Make something of what an agent says came of a step that this interface had it run; here it is logged.

        The caller saves the node. May come twice for one step after a crash.
        """
        LOG.debug("Node %s: the agent has ended step %s.%s", task.node.uuid, self.interface_type, step["step"])

    # Any flow

    def get_steps(self, kind: StepKind, task: Task) -> list[dict[str, object]]:
        """Return the steps of a kind that the node has: what the method for that kind says, where there is one."""
        get: Callable[..., Any] | None = getattr(self, f"get_{kind}_steps", None)
        steps: list[dict[str, object]] = get(task) if get else self.all_steps(kind)
        return steps

    def execute_step(self, kind: StepKind, task: Task, step: Mapping[str, object]) -> str | None:
        """Run a step of a kind: by the method for that kind, where there is one."""
        execute: Callable[..., Any] | None = getattr(self, f"execute_{kind}_step", None)
        result: str | None = execute(task, step) if execute else self._execute(kind, task, step)
        return result

    # By name

    def execute_clean_step(self, task: Task, step: Mapping[str, object]) -> str | None:
        """Run a clean step; CLEANWAIT means it goes on elsewhere. May be run again after a crash."""
        return self._execute("clean", task, step)

    def execute_deploy_step(self, task: Task, step: Mapping[str, object]) -> str | None:
        """Run a deploy step; DEPLOYWAIT means it goes on elsewhere. May be run again after a crash."""
        return self._execute("deploy", task, step)

    def execute_service_step(self, task: Task, step: Mapping[str, object]) -> str | None:
        """Run a service step; SERVICEWAIT means it goes on elsewhere. May be run again after a crash."""
        return self._execute("service", task, step)

    def execute_verify_step(self, task: Task, step: Mapping[str, object]) -> None:
        """Run a verify step to its end."""
        self._execute("verify", task, step)

    def _execute(self, kind: StepKind, task: Task, step: Mapping[str, Any]) -> str | None:
        """Call a step with its arguments; only what is decorated can be called, whatever a request names."""
        name = step["step"]
        if not any(known["step"] == name for known in self._steps[kind]):
            raise InvalidParameterValue(
                err=f"The {self.interface_type} interface of node {task.node.uuid} has no {kind} step {name!r}."
            )
        result: str | None = getattr(self, name)(task, **(step.get("args") or {}))
        return result


def unsupported(task: Task, extension: str) -> UnsupportedDriverExtension:
    """Return the error for what the driver of this node can't do."""
    return UnsupportedDriverExtension(driver=task.node.driver, extension=extension, node=task.node.uuid)
