"""Root device hints: select the disk for the system by hints of the operator, from the disks that were found.

A hint is a value, or text that begins with an operator of oslo.utils' specs_matcher: `= == != >= > <= <` compare
numbers, `s== s!= s< s<= s> s>=` compare text, `<in>` finds a part, `<all-in>` several parts, `<range-in> [ a b ]` a
size between two, and `<or> a <or> b` lists alternatives. Without an operator, text has to be equal except for case and
the width of blanks. Sizes are in GiB. A multipath disk is reported with lists, of which any value may match. Nothing
here does I/O.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from oslo_utils.specs_matcher import make_grammar, op_methods
from pyparsing import ParseException

from ironic.core.texts import syntax

GIB: Final = 1 << 30

# The names of hints, by the type of their value.
TEXTS: Final = frozenset(
    {"model", "vendor", "serial", "wwn", "wwn_with_extension", "wwn_vendor_extension", "name", "hctl", "by_path"}
)
NUMBERS: Final = frozenset({"size"})
FLAGS: Final = frozenset({"rotational"})

Disk = Mapping[str, Any]
Hints = Mapping[str, object]
Compared = Mapping[str, Sequence[str | bool | None]]

# The operators for sizes; other operators of the library are for text.
_OF_SIZES: Final = frozenset({"=", "==", "!=", ">=", "<=", ">", "<", "<or>", "<range-in>"})
# The library ends words at white space, but values may have blanks; this replaces them and sorts like them.
_BLANK: Final = "\x01"
# Parsing takes up to 13 microseconds per character and 600 per hint, and tenants may write hints.
_LONGEST: Final = 1024
_LONGEST_OF_SEVERAL: Final = 8 * 1024
_MOST_OF_SEVERAL: Final = 128


def faults(hints: object) -> list[str]:
    """Return what is wrong with hints; an empty list when they can be used."""
    if not isinstance(hints, Mapping):
        return ["root device hints have to be an object"]
    return [fault for name, value in hints.items() if (fault := _fault(name, value))]


def faults_of_several(several: Sequence[object]) -> list[str]:
    """Return what is wrong with several sets of hints together; an empty list when they can be used."""
    texts = [value for hints in several if isinstance(hints, Mapping) for value in hints.values()]
    length = sum(len(text) for text in texts if isinstance(text, str))
    if max(len(several), len(texts)) > _MOST_OF_SEVERAL or length > _LONGEST_OF_SEVERAL:
        return [
            f"there are more than {_MOST_OF_SEVERAL} root device hints, or {_LONGEST_OF_SEVERAL} characters in them"
        ]
    return [fault for hints in several for fault in faults(hints)]


def find(disks: Iterable[Disk], hints: Hints) -> list[Disk]:
    """Return the disks that match every hint; the hints must have no faults."""
    wanted = _parsed(hints)
    return [disk for disk in disks if _matches(_compared(disk, hints), wanted)]


def find_by_any(disks: Iterable[Disk], several: Sequence[Hints]) -> list[Disk]:
    """Return the disks that match all hints of at least one set; no disk matches an empty set."""
    wanted = [_parsed(hints) for hints in several if hints]
    names = {name for hints in several for name in hints}
    compared = ((disk, _compared(disk, names)) for disk in disks)
    return [disk for disk, found in compared if any(_matches(found, one) for one in wanted)]


def _fault(name: object, value: object) -> str | None:
    if name not in TEXTS | NUMBERS | FLAGS:
        return f"there is no root device hint {str(name)[:64]!r}"
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"root device hint {name} is too long"
    if name in FLAGS:
        return None if _flag(value) is not None else f"root device hint {name} is neither true nor false"
    if name in NUMBERS:
        return None if _is_size(value) else f"root device hint {name} is no number above zero"
    if not isinstance(value, str) or not value.strip():
        return f"root device hint {name} is no text"
    try:
        sign, _ = _parse(value)
    except ParseException:
        return f"root device hint {name} can't be parsed: its operators and values don't fit together"
    return f"root device hint {name} is no size, so it can't be in a range" if sign == "<range-in>" else None


def _is_size(value: object) -> bool:
    if not isinstance(value, str | int | float):
        return False
    try:
        sign, words = _parse(value)
        numbers = _numbers(sign, words)
        # The library reports an invalid range only when it compares.
        _size_matches("1.0", sign, words)
    except (ParseException, TypeError, ValueError):
        return False
    return sign in _OF_SIZES and all(0 < number < 1 << 63 for number in numbers)


def _parsed(hints: Hints) -> list[tuple[str, object]]:
    """Parse all hints once, to compare them with many disks."""
    return [(name, _flag(value) if name in FLAGS else _parse(value)) for name, value in hints.items()]


def _parse(hint: object) -> tuple[str, Sequence[str]]:
    """Return the operator of a hint and the words after it, or raise ParseException.

    Without an operator, the value is the only one of its alternatives.
    """
    words = str(hint).lower().replace("<or>", " <or> ").split()
    if words and words[0].startswith(("<all-in>", "<range-in>")):
        text = " ".join(words)
    else:
        parts = groupby(words, op_methods.__contains__)
        text = " ".join((" " if are_operators else _BLANK).join(part) for are_operators, part in parts)
    tree = list(make_grammar().parse_string(text, parse_all=True))
    return (tree[0], tree[1:]) if len(tree) > 1 else ("<or>", tree)


def _compared(disk: Disk, names: Iterable[str]) -> Compared:
    """Return the values of a disk as hints are compared with them.

    Once for all hints: a machine may report values of many MiB.
    """
    values = {name: found if isinstance(found := disk.get(name), list) else [found] for name in names}
    return {
        name: list(dict.fromkeys(_compared_value(name, one) for one in found if one is not None))
        for name, found in values.items()
    }


def _compared_value(name: str, found: object) -> str | bool | None:
    if name in FLAGS:
        return _flag(found)
    if name in NUMBERS:
        size = _size(found)
        # Disks are reported in bytes, hints are in GiB.
        return None if size is None else str(float(size // GIB))
    return _BLANK.join(str(found).lower().split())


def _matches(disk: Compared, hints: Iterable[tuple[str, Any]]) -> bool:
    return all(any(_matches_value(name, one, wanted) for one in disk[name]) for name, wanted in hints)


def _matches_value(name: str, found: str | bool | None, wanted: Any) -> bool:
    if not isinstance(found, str):
        return name in FLAGS and found is wanted
    return _size_matches(found, *wanted) if name in NUMBERS else _text_matches(found, *wanted)


def _size_matches(found: str, sign: str, words: Sequence[str]) -> bool:
    if sign == "<or>":
        # The library compares these as text, so 10 has to be written as 10.0.
        words = [str(number) for number in _numbers(sign, words)]
    return op_methods[sign](found, *words)


def _text_matches(found: str, sign: str, words: Sequence[str]) -> bool:
    if sign == "<all-in>":
        # The library compares whole members of a list, and would evaluate the machine's text as Python.
        return all(word in found for word in words)
    try:
        return op_methods[sign](found, *words)
    except ValueError:
        # One of the operands is no number, so they are compared as text.
        return op_methods["s>=" if sign == "=" else f"s{sign}"](found, *words)


def _numbers(sign: str, words: Sequence[str]) -> list[float]:
    """Return the words as numbers, without the brackets of a range; raises ValueError for other words."""
    return [float(word) for word in (words[1:3] if sign == "<range-in>" else words)]


def _size(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        size = int(float(value))
    except (TypeError, ValueError, OverflowError):
        return None
    return size if abs(size) < 1 << 63 else None


def _flag(value: object) -> bool | None:
    return syntax.truth_of(str(value))
