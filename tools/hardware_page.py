"""The page of hardware types and the interfaces that each supports: doc/hardware.md."""

from collections.abc import Iterator, Mapping

from ironic.core.hardware_interfaces import KINDS
from ironic.drivers.composition.extensions import TYPES_GROUP, Extensions, installed, interfaces_group, supported_names
from ironic.drivers.hardware_type import AbstractHardwareType

HEAD = """\
# Hardware types and interfaces

Each list is in order of preference. How to enable, choose and switch interfaces: [drivers.md](drivers.md).
"""

MARK = " \\*"

ANYTHING = """\
\\* also takes any other enabled implementation, which is useful for tests: `fake-hardware` with real power, for
instance.
"""


def page() -> str:
    """Return the page."""
    # Only the entry points of the project; other packages may be installed as well.
    ours = {
        group: {name: point for name, point in points.items() if point.value.startswith("ironic.")}
        for group, points in installed().items()
    }
    types = {name: point.load()() for name, point in sorted(ours[TYPES_GROUP].items())}
    return "\n".join([HEAD, *_matrix(types, ours), "", ANYTHING, *_classes(ours), ""])


def _matrix(types: Mapping[str, AbstractHardwareType], ours: Extensions) -> Iterator[str]:
    titles = [name + MARK * kind.accepts_any_enabled for name, kind in types.items()]
    yield f"| kind | {' | '.join(titles)} |"
    yield f"| --- | {' | '.join('---' for _ in types)} |"
    for kind in KINDS:
        cells = (", ".join(supported_names(hardware_type, kind, ours)) or "-" for hardware_type in types.values())
        yield f"| {kind} | {' | '.join(cells)} |"


def _classes(ours: Extensions) -> Iterator[str]:
    yield "## Classes\n"
    yield "| what | name | class |"
    yield "| --- | --- | --- |"
    for name, point in sorted(ours[TYPES_GROUP].items()):
        yield f"| hardware type | {name} | `{point.value}` |"
    for kind in KINDS:
        for name, point in sorted(ours[interfaces_group(kind)].items()):
            yield f"| {kind} | {name} | `{point.value}` |"
