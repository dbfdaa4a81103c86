"""The page of the steps of all interfaces: doc/interface-steps.md."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from ironic.core.hardware_interfaces import KINDS
from ironic.drivers.composition.extensions import Extension, installed, interfaces_group
from ironic.drivers.contract.step_declarations import STEP_KINDS, StepKind

HEAD = """\
# Steps of the interfaces

A step with priority 0 runs only on request; "abort" says whether it may be aborted, "ramdisk" whether it needs the
ramdisk. The agent offers further steps when it runs; [Cleaning](cleaning.md#the-steps-there-are) lists those of the
standard agent. [Lists of steps](steps.md) says how the service orders steps.
"""

_TITLES: Mapping[StepKind, str] = {
    "clean": "Cleaning",
    "deploy": "Deploying",
    "service": "Servicing",
    "verify": "Verifying",
}


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *(line for kind in STEP_KINDS for line in _table(kind))])


def _table(flow: StepKind) -> Iterator[str]:
    yield f"## {_TITLES[flow]}\n"
    rows = [_row(name, cls, step) for name, cls in _classes() for step in sorted(cls._steps[flow], key=_order)]
    if not rows:
        yield "None so far.\n"
        return
    yield "| step | of interface | priority | abort | ramdisk | what it does, and its arguments |"
    yield "| --- | --- | --- | --- | --- | --- |"
    yield from rows
    yield ""


def _order(step: Mapping[str, Any]) -> tuple[int, str]:
    return (-step["priority"], step["step"])


def _classes() -> Iterator[tuple[str, Any]]:
    """Yield the implementations of the project by name; those of other packages are left out."""
    found = installed()
    for kind in KINDS:
        points: Mapping[str, Extension] = found[interfaces_group(kind)]
        for name, point in sorted(points.items()):
            if point.value.startswith("ironic."):
                yield name, point.load()


def _row(name: str, cls: Any, step: Mapping[str, Any]) -> str:
    # The first clause is for users, the rest for authors of interfaces.
    meaning = (inspect.getdoc(getattr(cls, step["step"])) or "").partition("\n")[0].partition(";")[0]
    arguments: Mapping[str, Mapping[str, Any]] = step.get("argsinfo") or {}
    listed = ", ".join(f"`{name}`" + " (required)" * bool(about.get("required")) for name, about in arguments.items())
    cells = [
        f"`{step['interface']}.{step['step']}`",
        name,
        step["priority"],
        _word(step.get("abortable")),
        _word(step.get("requires_ramdisk")),
        meaning.replace("``", "`").rstrip(".") + "." + f" Arguments: {listed}." * bool(listed),
    ]
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _word(flag: bool | None) -> str:
    return {True: "yes", False: "no", None: ""}[flag]
