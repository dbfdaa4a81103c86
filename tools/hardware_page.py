"""The page that shows which hardware types there are and which interfaces go with each: doc/hardware.md."""

from collections.abc import Iterator, Mapping

from ironic.core.interface_kinds import KINDS
from ironic.drivers.extensions import TYPES_GROUP, Extension, Extensions, installed, interfaces_group
from ironic.drivers.hardware_type import AbstractHardwareType
from ironic.drivers.supported import supported_names

HEAD = """\
# Hardware types and interfaces

Read off the code and its entry points by `make docs`. A node's `driver` is a hardware type; of each kind of interface
the node has one implementation. An implementation has to be enabled (`enabled_<kind>_interfaces`) and supported by the
hardware type. The lists are in order of preference: the first one that is enabled is the default, unless
`default_<kind>_interface` says otherwise. How to choose and to switch: [drivers.md](drivers.md).
"""

MARK = " \\*"

ANYTHING = """\
\\* takes any enabled implementation besides, which is good for tests: `fake-hardware` with real power, for instance.
"""


def page() -> str:
    """Return the page."""
    ours = _ours(installed())
    types = {name: point.load()() for name, point in sorted(ours[TYPES_GROUP].items())}
    return "\n".join([HEAD, *_matrix(types, ours), "", ANYTHING, *_classes(ours), ""])


def _ours(found: Extensions) -> dict[str, Mapping[str, Extension]]:
    """Leave out what other packages have brought to this machine."""
    return {
        group: {name: point for name, point in points.items() if point.value.startswith("ironic.")}
        for group, points in found.items()
    }


def _matrix(types: Mapping[str, AbstractHardwareType], ours: Extensions) -> Iterator[str]:
    titles = [name + MARK * kind.accepts_any_enabled for name, kind in types.items()]
    yield f"| kind | {' | '.join(titles)} |"
    yield f"| --- | {' | '.join('---' for _ in types)} |"
    for kind in KINDS:
        cells = (", ".join(supported_names(hardware_type, kind, ours)) or "-" for hardware_type in types.values())
        yield f"| {kind} | {' | '.join(cells)} |"


def _classes(ours: Extensions) -> Iterator[str]:
    yield "## Where they live\n"
    yield "| what | name | class |"
    yield "| --- | --- | --- |"
    for name, point in sorted(ours[TYPES_GROUP].items()):
        yield f"| hardware type | {name} | `{point.value}` |"
    for kind in KINDS:
        for name, point in sorted(ours[interfaces_group(kind)].items()):
            yield f"| {kind} | {name} | `{point.value}` |"
