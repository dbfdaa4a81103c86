"""Steps: methods of an interface that cleaning, deployment, servicing and verification consist of, and how they end.

A decorator stores a step's declaration as an attribute of the method. `BaseInterface` collects the declarations when a
class is defined, so that a mistake (an argument without a description, a priority that is no number) raises when the
conductor starts. The conductor's flows select and run the steps. Sources: doc/contract/steps.md#what-a-step-declares,
demands S43 to S46.

A deploy interface that uses an agent returns a `StepEnd` from a heartbeat, or None while the step still runs. The
conductor acts on it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import getattr_static
from typing import Any, Final, NotRequired, TypedDict, TypeVar

from ironic.core.errors import InvalidParameterValue
from ironic.core.flows.steps import INTERFACES

# The name of a flow that has steps, such as clean.
StepKind = str
Priority = int | float
Method = TypeVar("Method", bound=Callable[..., Any])

STEP_KINDS: Final[tuple[StepKind, ...]] = tuple(INTERFACES)

_MARKS: Final = "_step_marks"


class ArgInfo(TypedDict):
    """The description of one argument of a step, as the API shows it."""

    description: str
    required: NotRequired[bool]


# Wider than ArgInfo, for dictionaries that a plug-in composes; the decorators check their content.
ArgsInfo = Mapping[str, Mapping[str, object]]


class BaseStep(TypedDict):
    """The fields of every step; ``args`` exists only in a requested step."""

    step: str
    priority: Priority
    interface: str
    args: NotRequired[dict[str, Any]]


class CleanStep(BaseStep):
    """A step of cleaning."""

    abortable: bool
    argsinfo: ArgsInfo | None
    requires_ramdisk: bool


class DeployStep(BaseStep):
    """A step of a deployment."""

    abortable: bool
    argsinfo: ArgsInfo | None


class ServiceStep(BaseStep):
    """A step of servicing."""

    abortable: bool
    argsinfo: ArgsInfo | None
    requires_ramdisk: bool


class VerifyStep(BaseStep):
    """A step of verification; always synchronous."""


def clean_step(
    priority: Priority, abortable: bool = False, argsinfo: ArgsInfo | None = None, requires_ramdisk: bool = True
) -> Callable[[Method], Method]:
    """Make a method a clean step; priority 0 excludes it from automated cleaning.

    All decorators of steps raise InvalidParameterValue for a wrong declaration.
    """
    traits = _checked_traits(argsinfo, abortable=abortable, requires_ramdisk=requires_ramdisk)
    return _mark("clean", _number(priority), traits)


def deploy_step(
    priority: Priority, abortable: bool = True, argsinfo: ArgsInfo | None = None
) -> Callable[[Method], Method]:
    """Make a method a deploy step; unlike other steps it may be aborted by default."""
    return _mark("deploy", _not_negative(priority), _checked_traits(argsinfo, abortable=abortable))


def verify_step(priority: Priority) -> Callable[[Method], Method]:
    """Make a method a verify step."""
    return _mark("verify", _not_negative(priority), {})


def service_step(
    priority: Priority | None = None,
    abortable: bool = False,
    argsinfo: ArgsInfo | None = None,
    requires_ramdisk: bool = True,
) -> Callable[[Method], Method]:
    """Make a method a service step, which runs only on request; the priority is informative."""
    traits = _checked_traits(argsinfo, abortable=abortable, requires_ramdisk=requires_ramdisk)
    return _mark("service", _number(0 if priority is None else priority), traits)


def flow_step(
    kind: StepKind,
    priority: Priority,
    abortable: bool = False,
    argsinfo: ArgsInfo | None = None,
    requires_ramdisk: bool = True,
) -> Callable[[Method], Method]:
    """Make a method a step of a flow that has no decorator of its own."""
    traits = _checked_traits(argsinfo, abortable=abortable, requires_ramdisk=requires_ramdisk)
    return _mark(kind, _number(priority), traits)


def collect(cls: type, interface: str) -> dict[StepKind, tuple[dict[str, object], ...]]:
    """Return the steps of an interface class by kind, highest priority first, then in alphabetical order.

    An override without decorator is no step. ``interface`` is the kind of the interface. A step is plain data: step,
    priority and interface come first (S44).
    """
    found: dict[StepKind, list[dict[str, Any]]] = {kind: [] for kind in STEP_KINDS}
    for name in dir(cls):
        for kind, traits in getattr(getattr_static(cls, name), _MARKS, {}).items():
            found[kind].append({"step": name, "priority": traits["priority"], "interface": interface, **traits})
    for steps in found.values():
        steps.sort(key=lambda step: -step["priority"])
    return {kind: tuple(steps) for kind, steps in found.items()}


def _mark(kind: StepKind, priority: Priority, traits: Mapping[str, object]) -> Callable[[Method], Method]:
    def mark(method: Method) -> Method:
        # A new dictionary each time: functools.wraps makes a wrapper share the dictionary of the wrapped method.
        setattr(method, _MARKS, {**getattr(method, _MARKS, {}), kind: {"priority": priority, **traits}})
        return method

    return mark


def _number(priority: object) -> Priority:
    if isinstance(priority, bool) or not isinstance(priority, int | float) or not math.isfinite(priority):
        raise InvalidParameterValue(err=f"The priority of a step must be a number, not {priority!r}.")
    return priority


def _not_negative(priority: object) -> Priority:
    if _number(priority) < 0:
        raise InvalidParameterValue(err=f"The priority of this step must not be negative: {priority!r}.")
    return _number(priority)


def _checked_traits(argsinfo: object, **flags: object) -> dict[str, object]:
    """Return the declaration of a step besides its priority, or raise InvalidParameterValue."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise InvalidParameterValue(err=f"{name} of a step must be True or False, not {value!r}.")
    if argsinfo is not None and not isinstance(argsinfo, Mapping):
        raise InvalidParameterValue(err=f"argsinfo of a step must be a dictionary, not {argsinfo!r}.")
    for name, about in (argsinfo or {}).items():
        if fault := _argument_fault(about):
            raise InvalidParameterValue(err=f"argsinfo of a step, argument {name!r}: {fault}.")
    return {"argsinfo": argsinfo, **flags}


def _argument_fault(about: object) -> str | None:
    """Return what is wrong with the description of an argument, None when it is correct."""
    if not isinstance(about, Mapping):
        return "a dictionary with a description is needed"
    if unknown := sorted(set(about) - {"description", "required"}):
        return f"unknown key {', '.join(map(str, unknown))}"
    if not isinstance(about.get("description"), str) or not about["description"]:
        return "a description is needed"
    if not isinstance(about.get("required", False), bool):
        return "required must be True or False"
    return None


@dataclass(frozen=True, slots=True)
class StepDone:
    """The step has succeeded; with ``reboot`` the machine must be restarted before the next step.

    With ``has_result``, ``result`` is the step's result as the agent reports it: any JSON value, null included, and
    ``command`` is the agent's command of which it is the result.
    """

    reboot: bool = False
    has_result: bool = False
    result: Any = None
    command: Any = None


@dataclass(frozen=True, slots=True)
class StepFailed:
    """The step has failed for a reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class AgentBooted:
    """The agent that the step boots has sent its first heartbeat; the agent's own steps may be added to the plan."""


class Suspended(Exception):
    """The work ends here, as its node waits now. It is an error because plug-ins may stand between work and engine."""


@dataclass(frozen=True, slots=True)
class StepsChanged:
    """The agent's hardware managers have changed, so its planned steps are outdated."""


StepEnd = StepDone | StepFailed | AgentBooted | StepsChanged
