"""The texts and numbers in a text of JSON, by their places, so that some can be replaced and all else stays as it is.

A document that is read and written again is another one: odd numbers, properties that come twice and commas too many
are gone then. Here each replacement changes the characters that it replaces.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

# A text, perhaps one that names a property, or breaks off; a sign; a word without quotes.
_TOKEN: Final = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)(?:"(\s*:)?)?|([{}\[\],:])|([^\s"{}\[\],:]+)', re.DOTALL)
_UNIT: Final = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_ESCAPES: Final = {"\\b": "\b", "\\f": "\f", "\\n": "\n", "\\r": "\r", "\\t": "\t"}


class Edit(NamedTuple):
    """What replaces the characters from ``start`` to ``end`` of a text: of ASCII, without quote and backslash."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """A text (without its quotes), a word without quotes, or the name of a property, from ``start`` to ``end``."""

    start: int
    end: int
    # The property that has it; of one in a list, the property that has the list.
    name: str
    # The texts of the same object by property, complete when all leaves were read.
    beside: dict[str, str]
    # The property that leads to its object.
    above: str
    # Whether one of the marks leads to it, from however far.
    is_marked: bool = False
    is_name: bool = False
    is_quoted: bool = True


@dataclass(slots=True)
class _Frame:
    is_object: bool
    above: str
    is_marked: bool
    name: str
    beside: dict[str, str] = field(default_factory=dict)


def leaves(text: str, marks: frozenset[str] = frozenset()) -> Iterator[Leaf]:
    """Yield all leaves of a document in their order; what follows its end is one more, without a property.

    Below a property that is one of ``marks`` they are marked. Neither the time nor a leaf grows with its depth.
    """
    frames = [_Frame(False, "", False, "")]
    for found in _TOKEN.finditer(text):
        frame = frames[-1]
        raw, colon, sign, word = found.group(1, 2, 3, 4)
        if raw is not None:
            start, end = found.span(1)
            if colon and frame.is_object:
                frame.name = unescaped(raw)
                yield Leaf(start, end, frame.name, frame.beside, frame.above, frame.is_marked, is_name=True)
            else:
                if frame.is_object:
                    frame.beside[frame.name] = unescaped(raw)
                yield Leaf(start, end, frame.name, frame.beside, frame.above, frame.is_marked)
        elif sign in ("{", "["):
            if sign == "{":
                is_marked = frame.is_marked or frame.name in marks
                frames.append(_Frame(True, frame.name or frame.above, is_marked, ""))
            else:
                frames.append(_Frame(False, frame.above, frame.is_marked, frame.name))
        elif sign in ("}", "]"):
            if len(frames) > 1:
                frames.pop()
            if len(frames) == 1:
                if text[found.end() :].strip():
                    yield Leaf(found.end(), len(text), "", {}, "", is_quoted=False)
                return
        elif word is not None:
            yield Leaf(*found.span(4), frame.name, frame.beside, frame.above, frame.is_marked, is_quoted=False)


def unescaped(raw: str) -> str:
    """Return what a text of JSON says; a backslash that begins no escape stays."""
    return raw if "\\" not in raw else "".join(map(_character, _UNIT.findall(raw)))


def _character(unit: str) -> str:
    if len(unit) == 6:
        return chr(int(unit[2:], 16))
    if len(unit) == 2:
        return _ESCAPES.get(unit, unit[1] if unit[1] in '"\\/' else "\ufffd")
    return unit


def edited(raw: str, edits: Sequence[Edit]) -> str:
    """Return a text of JSON with edits of what it says, which are in order and do not overlap."""
    return with_edits(raw if "\\" not in raw else _UNIT.findall(raw), edits)


def with_edits(units: Sequence[str], edits: Sequence[Edit]) -> str:
    """Return a text with edits; it is given by its characters, in any spelling."""
    parts, last = list[str](), 0
    for edit in edits:
        parts += ["".join(units[last : edit.start]), edit.text]
        last = edit.end
    return "".join([*parts, *units[last:]])
