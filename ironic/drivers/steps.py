"""Steps: methods of an interface that cleaning, deploying, servicing and verifying are made of.

A decorator only writes on the method what kind of step it is. `BaseInterface` collects the marks once, when a class
is defined, so a mistake (an argument without a description, a priority that is no number) stops the start and not a
clean at night. Which steps run, and when, is the engine's business. Sources:
doc/contract/steps.md#what-a-step-declares, demands S43 to S46.
"""

import math
from collections.abc import Callable, Mapping
from inspect import getattr_static
from typing import Any, Final, NotRequired, Protocol, TypedDict, TypeVar

from ironic.core.errors import InvalidParameterValue
from ironic.core.steps import INTERFACES

# The name of a flow that has steps, such as clean.
StepKind = str
Priority = int | float
Method = TypeVar("Method", bound=Callable[..., Any])

STEP_KINDS: Final[tuple[StepKind, ...]] = tuple(INTERFACES)

_MARKS: Final = "_step_marks"


class ArgInfo(TypedDict):
    """What people are told about one argument of a step."""

    description: str
    required: NotRequired[bool]


# Looser than ArgInfo, for dictionaries that are put together elsewhere; what is in them is checked at load.
ArgsInfo = Mapping[str, Mapping[str, object]]


class BaseStep(TypedDict):
    """What every step says about itself; ``args`` are there once somebody asked for the step."""

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
    """A step of the first contact; always synchronous."""


class CarriesSteps(Protocol):
    """A class whose methods may be steps."""

    interface_type: str


def clean_step(
    priority: Priority, abortable: bool = False, argsinfo: ArgsInfo | None = None, requires_ramdisk: bool = True
) -> Callable[[Method], Method]:
    """Make a method a clean step; priority 0 means only when somebody asks for it."""
    return _mark("clean", _number(priority), _traits(argsinfo, abortable=abortable, requires_ramdisk=requires_ramdisk))


def deploy_step(
    priority: Priority, abortable: bool = True, argsinfo: ArgsInfo | None = None
) -> Callable[[Method], Method]:
    """Make a method a deploy step; unlike the others it may be aborted unless it says no."""
    return _mark("deploy", _not_negative(priority), _traits(argsinfo, abortable=abortable))


def verify_step(priority: Priority) -> Callable[[Method], Method]:
    """Make a method a verify step."""
    return _mark("verify", _not_negative(priority), {})


def service_step(
    priority: Priority | None = None,
    abortable: bool = False,
    argsinfo: ArgsInfo | None = None,
    requires_ramdisk: bool = True,
) -> Callable[[Method], Method]:
    """Make a method a service step; these run only when asked for, so the priority is a mere hint."""
    traits = _traits(argsinfo, abortable=abortable, requires_ramdisk=requires_ramdisk)
    return _mark("service", _number(0 if priority is None else priority), traits)


def flow_step(
    kind: StepKind,
    priority: Priority,
    abortable: bool = False,
    argsinfo: ArgsInfo | None = None,
    requires_ramdisk: bool = True,
) -> Callable[[Method], Method]:
    """Make a method a step of a flow that has no decorator of its own."""
    return _mark(kind, _number(priority), _traits(argsinfo, abortable=abortable, requires_ramdisk=requires_ramdisk))


def collect(cls: type) -> dict[StepKind, tuple[dict[str, object], ...]]:
    """Return the steps of a class by kind, in alphabetical order; an override without decorator is no step."""
    marked = [(name, getattr(getattr_static(cls, name), _MARKS, {})) for name in dir(cls)]
    return {kind: tuple(_document(cls, name, marks[kind]) for name, marks in marked if kind in marks)
            for kind in STEP_KINDS}  # fmt: skip


def _document(cls: Any, name: str, traits: Mapping[str, Any]) -> dict[str, Any]:
    """Write the step as plain data: step, priority and interface first (S44)."""
    return {"step": name, "priority": traits["priority"], "interface": cls.interface_type, **traits}


def _mark(kind: StepKind, priority: Priority, traits: Mapping[str, object]) -> Callable[[Method], Method]:
    def mark(method: Method) -> Method:
        # A new dictionary each time: a wrapper made by functools.wraps shares the one of what it wraps.
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


def _traits(argsinfo: object, **flags: Any) -> dict[str, object]:
    """Return what a step says about itself, checked."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise InvalidParameterValue(err=f"{name} of a step must be True or False, not {value!r}.")
    return {"argsinfo": _checked(argsinfo), **flags}


def _checked(argsinfo: object) -> ArgsInfo | None:
    """Return the description of arguments, or say what is wrong with it."""
    if argsinfo is None:
        return None
    if not isinstance(argsinfo, Mapping):
        raise InvalidParameterValue(err=f"argsinfo of a step must be a dictionary, not {argsinfo!r}.")
    for name, about in argsinfo.items():
        if fault := _argument_fault(about):
            raise InvalidParameterValue(err=f"argsinfo of a step, argument {name!r}: {fault}.")
    return argsinfo


def _argument_fault(about: object) -> str | None:
    if not isinstance(about, Mapping):
        return "a dictionary with a description is needed"
    if unknown := sorted(set(about) - {"description", "required"}):
        return f"unknown key {', '.join(map(str, unknown))}"
    if not isinstance(about.get("description"), str) or not about["description"]:
        return "a description is needed"
    if not isinstance(about.get("required", False), bool):
        return "required must be True or False"
    return None
