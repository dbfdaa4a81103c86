"""Base class of all interfaces: properties, validation and steps.

An implementation is one object per conductor, created without arguments and shared by all nodes and threads, so it must
not store anything about a node. Its methods receive a task, read ``task.node``, ``task.ports`` and options, and store
data under a key of their own in ``driver_internal_info``.

Optional methods raise UnsupportedDriverExtension by default, which the API reports as status 400. An override of a step
is a step only if it is decorated as well.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, Generic, NamedTuple, Protocol

from ironic.core.errors import InvalidParameterValue, UnsupportedDriverExtension
from ironic.drivers.contract import step_declarations, wait_declarations
from ironic.drivers.contract.contract_types import Task
from ironic.drivers.contract.step_declarations import StepKind
from ironic.integrations.own_directories import OwnDirectory

LOG = logging.getLogger(__name__)


class Finding(NamedTuple):
    """What a survey has found about an interface; without a fault the node can do all but what the text names."""

    text: str
    is_fault: bool = True


class Survey(Protocol[Task]):
    """How the interfaces of one protocol try a node's BMC, together and read-only, when a user validates the node."""

    def findings(self, task: Task, interfaces: "Mapping[str, BaseInterface[Task]]") -> Mapping[str, Finding]:
        """Return what is wrong by kind, for some of these interfaces; raise nothing and end in a bounded time."""


class BaseInterface(ABC, Generic[Task]):
    """Base of the thirteen kinds of interfaces."""

    # The kind: one of the names in ironic.core.hardware_interfaces.
    interface_type: ClassVar[str] = "base"

    # False makes the conductor warn at start that this implementation is deprecated and unsupported.
    supported: ClassVar[bool] = True

    # Whether third parties have implementations that enter themselves in a hardware type's list when they are made.
    enters_lists: ClassVar[bool] = False

    # How the BMC is tried for this interface; interfaces with the same one are tried in one go.
    survey: ClassVar[Survey[Any] | None] = None

    # Name and terms of the methods that look at waits, by the kind of those.
    looks: ClassVar[Mapping[str, tuple[str, wait_declarations.Terms]]] = {}

    _steps: ClassVar[Mapping[StepKind, tuple[dict[str, Any], ...]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._steps = step_declarations.collect(cls, cls.interface_type)
        cls.looks = wait_declarations.collect(cls)

    @abstractmethod
    def get_properties(self) -> dict[str, str]:
        """Return the driver_info properties of this interface by name, each with a description."""

    @abstractmethod
    def validate(self, task: Task) -> None:
        """Raise InvalidParameterValue or MissingParameterValue when the node's settings are wrong or incomplete.

        It must be quick: a user waits for the result, and operations begin with it. What only the machine knows is
        found out by ``survey``.
        """

    def written_directories(self) -> Collection[OwnDirectory]:
        """Return the directories that nodes need writable for this interface, as the options are now; none by default.

        The start of a conductor and the validation of a node look at them.
        """
        return ()

    # Steps

    def all_steps(self, kind: StepKind) -> list[dict[str, object]]:
        """Return all decorated steps of a kind, disabled ones included, highest priority first.

        A user may request these by name. An interface whose steps depend on the node (because an agent offers them)
        returns those from the ``get_..._steps`` methods; the conductor reads both.
        """
        return [_copied(step) for step in self._steps[kind]]

    def get_clean_steps(self, task: Task) -> list[dict[str, object]]:
        """Return the steps of automated cleaning, highest priority first; disabled ones are left out (S44)."""
        return [step for step in self.all_steps("clean") if step["priority"]]

    def get_deploy_steps(self, task: Task) -> list[dict[str, object]]:
        """Return the deploy steps, disabled ones (priority 0) included, because a request may enable them."""
        return self.all_steps("deploy")

    def get_service_steps(self, task: Task) -> list[dict[str, object]]:
        """Return the service steps, which run only on request."""
        return self.all_steps("service")

    def get_verify_steps(self, task: Task) -> list[dict[str, object]]:
        """Return the verify steps, disabled ones included."""
        return self.all_steps("verify")

    def agent_steps(self, task: Task, kind: StepKind) -> list[dict[str, object]]:
        """Return the agent's steps that this interface runs, disabled ones included; none by default.

        A decorated step of the class takes precedence over an agent's step of the same name.
        """
        return []

    def process_step_result(self, task: Task, step: Mapping[str, object], result: object) -> None:
        """Process the result that an agent reports for a step of this interface; by default it is only logged.

        The caller saves the node. After a crash of the conductor it may be called twice for one step.
        """
        LOG.debug("Node %s: the agent has ended step %s.%s", task.node.uuid, self.interface_type, step["step"])

    # Any flow

    def get_steps(self, kind: StepKind, task: Task) -> list[dict[str, object]]:
        """Return the node's steps of a kind: the result of ``get_<kind>_steps`` where that exists, or else all."""
        get: Callable[..., Any] | None = getattr(self, f"get_{kind}_steps", None)
        steps: list[dict[str, object]] = get(task) if get else self.all_steps(kind)
        return steps

    def execute_step(self, kind: StepKind, task: Task, step: Mapping[str, object]) -> str | None:
        """Run a step of a kind through ``execute_<kind>_step`` where that exists.

        Return the wait state of the flow if the step continues asynchronously, otherwise None.
        """
        execute: Callable[..., Any] | None = getattr(self, f"execute_{kind}_step", None)
        result: str | None = execute(task, step) if execute else self._execute(kind, task, step)
        return result

    # By name

    def execute_clean_step(self, task: Task, step: Mapping[str, object]) -> str | None:
        """Run a clean step; return CLEANWAIT if it continues asynchronously. It may run again after a crash."""
        return self._execute("clean", task, step)

    def execute_deploy_step(self, task: Task, step: Mapping[str, object]) -> str | None:
        """Run a deploy step; return DEPLOYWAIT if it continues asynchronously. It may run again after a crash."""
        return self._execute("deploy", task, step)

    def execute_service_step(self, task: Task, step: Mapping[str, object]) -> str | None:
        """Run a service step; return SERVICEWAIT if it continues asynchronously. It may run again after a crash."""
        return self._execute("service", task, step)

    def execute_verify_step(self, task: Task, step: Mapping[str, object]) -> None:
        """Run a verify step and return when it has ended."""
        self._execute("verify", task, step)

    def _execute(self, kind: StepKind, task: Task, step: Mapping[str, Any]) -> str | None:
        """Call a decorated step with its arguments; raise InvalidParameterValue for any other name."""
        name = step["step"]
        if not any(known["step"] == name for known in self._steps[kind]):
            raise InvalidParameterValue(
                err=f"The {self.interface_type} interface of node {task.node.uuid} has no {kind} step {name!r}."
            )
        result: str | None = getattr(self, name)(task, **(step.get("args") or {}))
        return result


def _copied(step: Mapping[str, object]) -> dict[str, object]:
    """Return a step that shares nothing with its declaration, which the classes of all nodes have."""
    about: Any = step.get("argsinfo")
    copy = dict(step)
    if about is not None:
        copy["argsinfo"] = {name: dict(description) for name, description in about.items()}
    return copy


def unsupported(task: Task, extension: str) -> UnsupportedDriverExtension:
    """Return the error for a feature that the node's driver does not support."""
    return UnsupportedDriverExtension(driver=task.node.driver, extension=extension, node=task.node.uuid)
