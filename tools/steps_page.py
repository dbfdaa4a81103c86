"""The page that lists the steps of all interfaces: doc/interface-steps.md."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from ironic.core.interface_kinds import KINDS
from ironic.drivers.extensions import Extension, installed, interfaces_group
from ironic.drivers.steps import STEP_KINDS, StepKind

HEAD = """\
# Steps of the interfaces

Read off the code by `make docs`: what the interfaces bring themselves. The agent brings more, which it names when it
runs; [cleaning.md](cleaning.md) lists those of the usual one. Priority 0 runs only when somebody asks for it. How lists
of steps are made: [steps.md](steps.md).
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
    rows = [_row(name, cls, step) for name, cls in _classes() for step in cls._steps[flow]]
    if not rows:
        yield "None so far.\n"
        return
    yield "| step | of interface | priority | arguments | may be aborted | needs the ramdisk | what it does |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    yield from rows
    yield ""


def _classes() -> Iterator[tuple[str, Any]]:
    """Return our implementations of every kind by name; what other packages have brought is left out."""
    found = installed()
    for kind in KINDS:
        points: Mapping[str, Extension] = found[interfaces_group(kind)]
        for name, point in sorted(points.items()):
            if point.value.startswith("ironic."):
                yield name, point.load()


def _row(name: str, cls: Any, step: Mapping[str, Any]) -> str:
    # The first clause is for everybody, the rest for whoever implements the interface.
    about = (inspect.getdoc(getattr(cls, step["step"])) or "").partition("\n")[0].partition(";")[0]
    cells = [
        f"{step['interface']}.{step['step']}",
        name,
        step["priority"],
        ", ".join(_argument(*each) for each in (step.get("argsinfo") or {}).items()),
        _word(step.get("abortable")),
        _word(step.get("requires_ramdisk")),
        about.replace("``", "`").rstrip("."),
    ]
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _argument(name: str, about: Mapping[str, Any]) -> str:
    return f"{name}{' (required)' if about.get('required') else ''}"


def _word(flag: bool | None) -> str:
    return {True: "yes", False: "no", None: ""}[flag]
