"""LLDP frames as ramdisks report them: lists of [type, hexadecimal value], per network interface.

A machine may send anything, so there are limits: on interfaces, on values per frame (S94), on the length of each. What
is malformed is left out by `lenient` and an error in `decode`; what it means is not looked at here.
"""

import itertools
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from ironic.inspection.reading import at, list_at, text_at

LOG = logging.getLogger(__name__)

MOST_INTERFACES: Final = 64
# A frame fits into one Ethernet packet: 1500 bytes, two of which begin each value.
MOST_VALUES: Final = 750
LONGEST_VALUE: Final = 511
_LARGEST_TYPE: Final = 127


class Value(NamedTuple):
    """One value of a frame: its type, and the bytes after the header."""

    kind: int
    data: bytes


Frame = list[Value]


class MalformedFrame(ValueError):
    """A value of a frame is not of the form [type, hexadecimal text], or too long."""


def frames_of(inventory: Mapping[str, object], plugin_data: Mapping[str, object]) -> dict[str, list[object]]:
    """Return the raw frames by interface: those of the LLDP collector, else those in the inventory."""
    collected = at(plugin_data, "lldp_raw")
    raw = collected if isinstance(collected, Mapping) else {}
    frames = {
        name: raw.get(name) or at(one, "lldp") for one in list_at(inventory, "interfaces") if (name := _name(one))
    }
    found = {name: frame for name, frame in {**raw, **frames}.items() if frame and isinstance(frame, list)}
    if len(found) > MOST_INTERFACES:
        LOG.warning("LLDP data of %d interfaces are cut to those of the first %d", len(found), MOST_INTERFACES)
    return dict(itertools.islice(found.items(), MOST_INTERFACES))


def decode(frame: Sequence[object]) -> Frame:
    """Return the values of a frame, or raise MalformedFrame."""
    return [_value(item) for item in itertools.islice(frame, MOST_VALUES)]


def lenient(frame: Sequence[object]) -> Iterator[Value]:
    """Yield the values of a frame that are well formed."""
    for item in itertools.islice(frame, MOST_VALUES):
        try:
            yield _value(item)
        except MalformedFrame as error:
            LOG.info("A value of an LLDP frame is left out: %s", error)


def _value(item: object) -> Value:
    if not isinstance(item, list | tuple) or len(item) != 2:
        raise MalformedFrame("it is no pair of a type and a value")
    kind, text = item
    if not isinstance(kind, int) or isinstance(kind, bool) or not 0 <= kind <= _LARGEST_TYPE:
        raise MalformedFrame("its type is no number from 0 to 127")
    if not isinstance(text, str) or len(text) > 2 * LONGEST_VALUE:
        raise MalformedFrame(f"value of type {kind} is no text or longer than {LONGEST_VALUE} bytes")
    try:
        return Value(kind, bytes.fromhex(text))
    except ValueError:
        raise MalformedFrame(f"value of type {kind} is not hexadecimal") from None


def _name(interface: object) -> str | None:
    return text_at(interface, "name")
