"""Sensors of an IPMI machine, as ipmitool writes them: blocks of lines `key : value`."""

from collections.abc import Iterator, Mapping
from typing import Final

Readings = dict[str, dict[str, dict[str, object]]]

_ID: Final = "Sensor ID"
_READING: Final = "Sensor Reading"
_TYPES: Final = ("Sensor Type (Analog)", "Sensor Type (Discrete)", "Sensor Type (Threshold)")


def readings(text: str) -> Readings:
    """Return all fields by type and ID of sensor; sensors without a reading, a type or an ID are left out."""
    found: Readings = {}
    for block in _blocks(text):
        kind = next((block[name] for name in _TYPES if block.get(name)), "").split(" ", 1)[0]
        if kind and block.get(_ID) and _READING in block:
            found.setdefault(kind, {})[block[_ID]] = dict(block)
    return found


def _blocks(text: str) -> Iterator[Mapping[str, str]]:
    """Iterate over the blocks, which an empty line separates; what was sent and received is skipped."""
    block: dict[str, str] = {}
    last = ""
    for line in (*text.splitlines(), ""):
        if not line.strip():
            if block:
                yield block
            block = {}
            last = ""
        elif line.strip().startswith("["):
            # A state on a line of its own belongs to the field above, whatever colons it has.
            if last:
                block[last] = f"{block[last]} {line.strip()}".strip()
        elif not line.startswith("<<") and line.count(":") == 1:
            name, _, value = line.partition(":")
            last = name.strip()
            block[last] = value.strip()
